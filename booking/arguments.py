"""The tools' arguments as pydantic models: what a model may send, checked before anything is stored.

Validation needs the hotels and today's date there: pass `context=Hotels(...)` to `model_validate`.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    EmailStr,
    Field,
    ValidationInfo,
    model_validator,
)

from booking.settings import Property
from booking.text import Line, Name, Note

#: A batch larger than this is refused whole: two big conference hotels' worth of rooms.
MAX_ROOMS = 1000
MAX_NIGHTS = 365
#: Hotels load rates about two years ahead; later dates are typing mistakes.
MAX_DAYS_AHEAD = 1100

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _plain_date(value: Any) -> Any:
    # Without this, 1767225600 and "2026-01-01T00:00:00Z" would count as dates, and a time zone could shift the day.
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    if not (isinstance(value, str) and _DATE.fullmatch(value)):
        raise ValueError("must be a date in the form YYYY-MM-DD (the hotel's local date)")
    return value


def no_boolean(value: Any) -> Any:
    """Refuse `true`, which would count as one adult."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


LocalDate = Annotated[dt.date, BeforeValidator(_plain_date)]


class Hotels:
    """The known hotels and the moment `now` (aware), as validation context."""

    def __init__(self, properties: Mapping[str, Property], now: dt.datetime) -> None:
        self.properties = properties
        self.now = now

    def today(self, property_id: str) -> dt.date:
        """The calendar date at the hotel."""
        return self.now.astimezone(self.properties[property_id].zone).date()

    def earliest(self) -> str | None:
        """The hotel at which it is earliest now, for a check where the hotel isn't said."""
        return min(self.properties, key=self.today, default=None)

    def check_currency(self, property_id: str | None, currency: str) -> None:
        """Raise ValueError for a currency in which no money was taken: the limit for refunds says nothing of it."""
        hotels = self.properties.values() if property_id is None else [self.properties[property_id]]
        known = sorted({hotel.currency for hotel in hotels})
        if currency not in known:
            raise ValueError(f"amount: must be in {' or '.join(known)}")

    def check_said(self, property_id: str | None, provider: Callable[[Property], str]) -> None:
        """Raise ValueError where the hotel must be said: a reservation's number alone names no hotel system."""
        if property_id is None and len({provider(hotel) for hotel in self.properties.values()}) != 1:
            raise ValueError(f"property: is required here; must be one of {', '.join(sorted(self.properties))}")


def _known(property_id: str, info: ValidationInfo) -> str:
    hotels = info.context
    if isinstance(hotels, Hotels) and property_id not in hotels.properties:
        raise ValueError(f"must be one of {', '.join(sorted(hotels.properties))}")
    return property_id


HotelId = Annotated[Name, AfterValidator(_known), Field(description="The hotel's id, e.g. BER.")]


def check_dates(property_id: str, check_in: dt.date, check_out: dt.date, hotels: Any) -> None:
    """Raise ValueError for a stay that can't be: by the hotel's own calendar, where `hotels` are the Hotels."""
    nights = (check_out - check_in).days
    if nights < 1:
        raise ValueError("check_out: must be after check_in")
    if nights > MAX_NIGHTS:
        raise ValueError(f"check_out: must be at most {MAX_NIGHTS} nights after check_in")
    if isinstance(hotels, Hotels):
        today = hotels.today(property_id)
        if check_in < today:
            raise ValueError(f"check_in: must not be in the past; today is {today} at the hotel")
        if (check_in - today).days > MAX_DAYS_AHEAD:
            raise ValueError(f"check_in: must be within {MAX_DAYS_AHEAD} days from today ({today})")


class Model(BaseModel):
    """Arguments: no unknown fields, no silent changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Money(Model):
    """An amount with its currency, e.g. {"amount": "180.00", "currency": "EUR"}."""

    amount: Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=2)]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


class Refunded(Money):
    """An amount to give back, more than nothing."""

    amount: Annotated[Decimal, Field(gt=0, max_digits=12, decimal_places=3)]


class Guest(Model):
    """Whom the room is for."""

    name: Annotated[Line, Field(description="Full name as in the passport.")]
    email: Annotated[EmailStr, Field(max_length=254)]
    phone: Annotated[str, Field(pattern=r"^\+?[0-9 ()/-]{4,30}$")] | None = None


class Stay(Model):
    """One room for one stay, complete."""

    property: HotelId
    room_type: Annotated[Name, Field(description="As search_availability names it, e.g. double.")]
    check_in: Annotated[LocalDate, Field(description="Arrival, the hotel's local date, YYYY-MM-DD.")]
    check_out: Annotated[LocalDate, Field(description="Departure, after check_in.")]
    guest: Guest
    adults: Annotated[int, BeforeValidator(no_boolean), Field(ge=1, le=20)] = 2
    children: Annotated[int, BeforeValidator(no_boolean), Field(ge=0, le=20)] = 0
    quote_id: Line | None = None
    rate_plan: Line | None = None
    max_price: Annotated[Money | None, Field(description="Book only if the total is not higher.")] = None
    notes: Note | None = None
    additional: Annotated[
        bool,
        Field(
            strict=True,
            description="One more room beside identical ones that are booked already. Only if the guest says so.",
        ),
    ] = False

    @model_validator(mode="after")
    def _dates(self, info: ValidationInfo) -> Self:
        check_dates(self.property, self.check_in, self.check_out, info.context)
        return self


class CreateBooking(Stay):
    """Book one room."""


class BookRooms(Model):
    """Book several rooms. What is given beside `rooms` counts for every room that doesn't say otherwise."""

    rooms: Annotated[list[Stay], Field(min_length=1, max_length=MAX_ROOMS)]

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, value: Any) -> Any:
        """Fill each room from the shared defaults, so that all later code sees complete stays only."""
        if not isinstance(value, dict) or not isinstance(value.get("rooms"), list):
            return value
        shared = {name: value[name] for name in value if name in Stay.model_fields}
        rest = {name: value[name] for name in value if name not in shared}
        rooms = [{**shared, **room} if isinstance(room, dict) else room for room in value["rooms"]]
        return {**rest, "rooms": rooms}


class OfReservation(Model):
    """Whose reservation: unless the guest is verified, give guest_name or email, as the guest said them."""

    reservation_id: Annotated[Name, Field(description="The reservation's number, as the guest gave it. Never guess.")]
    guest_name: Annotated[Line | None, Field(description="Full name, as the guest gave it.")] = None
    email: Annotated[EmailStr | None, Field(max_length=254, description="As the guest gave it.")] = None
    property: Annotated[HotelId | None, Field(description="Needed where hotels use several hotel systems.")] = None

    @model_validator(mode="after")
    def _said(self, info: ValidationInfo) -> Self:
        if isinstance(info.context, Hotels):
            info.context.check_said(self.property, lambda hotel: hotel.provider)
        return self


class ChangeReservationDates(OfReservation):
    """Move a reservation to other dates."""

    check_in: Annotated[LocalDate, Field(description="New arrival, the hotel's local date, YYYY-MM-DD.")]
    check_out: Annotated[LocalDate, Field(description="New departure, after check_in.")]

    @model_validator(mode="after")
    def _dates(self, info: ValidationInfo) -> Self:
        hotels = info.context if isinstance(info.context, Hotels) else None
        at = self.property or (hotels.earliest() if hotels else None)
        check_dates(at or "", self.check_in, self.check_out, hotels if at else None)
        return self


class CancelReservation(OfReservation):
    """Cancel a reservation."""


class RefundPayment(Model):
    """Give money of a payment back to whoever paid."""

    payment_id: Annotated[Name, Field(description="The payment's number. Never guess.")]
    amount: Refunded
    property: Annotated[HotelId | None, Field(description="Needed where hotels use several payment systems.")] = None
    additional: Annotated[
        bool, Field(strict=True, description="Once more the same amount of the same payment. Only if it is meant so.")
    ] = False

    @model_validator(mode="after")
    def _said(self, info: ValidationInfo) -> Self:
        if isinstance(info.context, Hotels):
            info.context.check_said(self.property, lambda hotel: hotel.refunds_at)
            info.context.check_currency(self.property, self.amount.currency)
        return self


class SendCheckinReminders(Model):
    """Mail everyone who arrives at a hotel on a day, once each."""

    property: HotelId
    date: Annotated[LocalDate, Field(description="The day of arrival, the hotel's local date, YYYY-MM-DD.")]

    @model_validator(mode="after")
    def _ahead(self, info: ValidationInfo) -> Self:
        if isinstance(info.context, Hotels):
            today = info.context.today(self.property)
            if not 0 <= (self.date - today).days <= MAX_DAYS_AHEAD:
                last = today + dt.timedelta(days=MAX_DAYS_AHEAD)
                raise ValueError(f"date: must be from {today}, which is today at the hotel, to {last}")
        return self


class Submit(Model):
    """The body of POST /v1/intents."""

    tool: Annotated[str, Field(max_length=64)]
    arguments: dict[str, Any]
    conversation_id: Name
