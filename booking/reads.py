"""The read tools: what a model may ask, and what it is answered. No read changes anything."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from booking.arguments import HotelId, LocalDate, Model, OfReservation, check_dates, no_boolean
from booking.outcomes import Reservation
from booking.results import Answer
from booking.text import Line, Name

#: Said to the guest where an answer took long, or more than one try.
NOTICE = "The hotel system is slow today."


class SearchAvailability(Model):
    """Find free rooms with their prices."""

    property: HotelId
    check_in: Annotated[LocalDate, Field(description="Arrival, the hotel's local date, YYYY-MM-DD.")]
    check_out: Annotated[LocalDate, Field(description="Departure, after check_in.")]
    adults: Annotated[int, BeforeValidator(no_boolean), Field(ge=1, le=20)] = 2
    children: Annotated[int, BeforeValidator(no_boolean), Field(ge=0, le=20)] = 0
    room_type: Annotated[Name | None, Field(description="Only this type, e.g. double.")] = None

    @model_validator(mode="after")
    def _possible(self, info: ValidationInfo) -> Self:
        check_dates(self.property, self.check_in, self.check_out, info.context)
        return self


class GetReservation(OfReservation):
    """Look at one reservation. Unless the guest is verified, give guest_name or email, as the guest said them."""


class ListArrivals(Model):
    """Who arrives at a hotel on a day; a page at a time."""

    property: HotelId
    date: Annotated[LocalDate, Field(description="The hotel's local date, YYYY-MM-DD.")]
    cursor: Annotated[Line | None, Field(description="next_cursor of the page before.")] = None


class Read(Model):
    """The body of POST /v1/reads/{tool}."""

    arguments: dict[str, Any]
    conversation_id: Name


ReadArguments = SearchAvailability | GetReservation | ListArrivals
READ_TOOLS: dict[str, type[SearchAvailability] | type[GetReservation] | type[ListArrivals]] = {
    "search_availability": SearchAvailability,
    "get_reservation": GetReservation,
    "list_arrivals": ListArrivals,
}


class Price(Answer):
    """An amount with its currency, as the hotel system says it."""

    amount: str
    currency: str


class Offer(Answer):
    """A room that can be booked, for the whole stay."""

    quote_id: str
    property: str
    room_type: str
    rate_plan: str
    price: Price
    cancellation_terms: str
    valid_until: datetime


class Offers(Answer):
    """What is free. An empty list means that the hotel system said so."""

    offers: list[Offer]


class ReservationAnswer(Answer):
    """A reservation as the agent sees it. Dates are the hotel's local dates."""

    booking_id: str
    status: str
    property: str
    room_type: str
    check_in: str
    check_out: str
    guest_name: str


class OneReservation(Answer):
    """The reservation asked for."""

    reservation: ReservationAnswer


class Arrivals(Answer):
    """One page of arrivals. An empty list means that the hotel system said so."""

    arrivals: list[ReservationAnswer]
    next_cursor: str | None = Field(default=None, description="Where the next page begins; null on the last one.")


ReadResult = Offers | OneReservation | Arrivals


class ReadAnswer(Answer):
    """What a read found."""

    tool: str
    conversation_id: str
    result: ReadResult
    notice: str | None = Field(default=None, description="Something to tell the guest.")


def shown(reservation: Reservation) -> ReservationAnswer:
    """Without what is ours (the reference) and what is only for comparing (the mail address)."""
    return ReservationAnswer.model_validate(
        {name: getattr(reservation, name) for name in ReservationAnswer.model_fields}
    )
