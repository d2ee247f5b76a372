"""What a provider looks like from the inside: the one shape every adapter has."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from booking.capabilities import Capabilities
from booking.outcomes import Misconfigured, NotSent, Outcome, Payment, Refund, Rejected, Reservation, Unknown
from booking.reads import GetReservation, ListArrivals, Offer, SearchAvailability

#: What a look-up tells: the bookings, or why it told nothing.
Listing = list[Reservation] | NotSent | Unknown | Misconfigured
Refunds = list[Refund] | NotSent | Unknown | Misconfigured
#: Why a read has no answer.
NoAnswer = Rejected | NotSent | Unknown | Misconfigured


@dataclass(frozen=True)
class ArrivalsPage:
    """Some of a day's arrivals; `next_cursor` is None on the last page."""

    arrivals: list[Reservation]
    next_cursor: str | None


class Line(Protocol):
    """An open connection to a provider: name resolved, TCP and TLS done, nothing sent yet."""

    def close(self) -> None:
        """Drop the connection; safe to call twice."""


class Unreachable(Exception):
    """No line could be opened: provably nothing was sent."""


class Port(Protocol):
    """Any outside system. No method retries, none raises for what the provider does: the outcome says it."""

    @property
    def capabilities(self) -> Capabilities:
        """What it declares about itself."""

    def connect(self, within: float = ...) -> Line:
        """Open a fresh line within `connect_deadline` and `within` seconds, or raise Unreachable."""


class Pms(Port, Protocol):
    """A hotel system."""

    def booking_body(self, stay: dict[str, Any], reference: str) -> bytes:
        """The exact bytes of a create request. Stored at the first mark and sent again as they are."""

    def create_booking(self, line: Line, body: bytes, key: str) -> Outcome:
        """Send one create and read the answer, within `write_deadline` in all.

        Done.result is the `Reservation` as a dict; it is Done only with an id, our reference and a 201.
        """

    def find_by_reference(self, line: Line, reference: str) -> Listing:
        """All bookings that carry exactly `reference`, cancelled ones included, within `read_deadline`."""

    def change_body(self, check_in: str, check_out: str) -> bytes:
        """The exact bytes of a change of dates (ISO, the hotel's local calendar)."""

    def change_dates(self, line: Line, reservation_id: str, body: bytes, key: str) -> Outcome:
        """Send one change of dates, within `write_deadline`.

        Done.result is the changed `Reservation` as a dict; it is Done only with its id and the dates sent.
        """

    def cancel_booking(self, line: Line, reservation_id: str, key: str) -> Outcome:
        """Send one cancellation, within `write_deadline`.

        Done.result is the cancelled `Reservation` as a dict; it is Done only with its id and the status "cancelled".
        """

    # Reads: one call each, within `read_deadline` and `within` seconds. An empty list means that the provider said so.

    def availability(self, line: Line, asked: SearchAvailability, within: float) -> list[Offer] | NoAnswer:
        """What can be booked for the stay, at what price."""

    def get_booking(self, line: Line, asked: GetReservation, within: float) -> Reservation | NoAnswer:
        """The reservation with this id, whoever's it is: who may see it is the caller's to decide."""

    def arrivals(self, line: Line, asked: ListArrivals, within: float) -> ArrivalsPage | NoAnswer:
        """A page of those who arrive at the hotel on a local date."""


class Payments(Port, Protocol):
    """A payment system."""

    def get_payment(self, line: Line, payment_id: str) -> Payment | NoAnswer:
        """The payment with this id, within `read_deadline`. Only where `capabilities.shows` has "refund"."""

    def refund_body(self, payment_id: str, amount: Decimal, currency: str, reference: str) -> bytes:
        """The bytes that stand for a refund. Stored at the first mark and used again as they are."""

    def refund(self, line: Line, body: bytes, key: str) -> Outcome:
        """Give money back once, within `write_deadline`. `body` is from `refund_body`.

        Done.result: {refund_id, payment_id, amount, currency}, text; it is Done only with our reference and values.
        """

    def find_refunds(self, line: Line, payment_id: str, reference: str) -> Refunds:
        """All refunds of the payment that carry exactly `reference`, failed ones included, within `read_deadline`."""


@dataclass(frozen=True)
class Letter:
    """A mail to one person. `to` is a checked address; the rest is text as it shall be read, in any script."""

    to: str
    subject: str
    text: str
    html: str
    language: str


class Mail(Port, Protocol):
    """A mail server."""

    def message(self, letter: Letter, sender_name: str, reference: str, now: datetime) -> bytes:
        """The exact bytes of the message, its Message-ID made from `reference`. Stored at the first mark."""

    def send(self, line: Line, message: bytes) -> Outcome:
        """Hand the message in once, within `write_deadline`, to the one address that it names in To.

        Done.result: {message_id}. A 4xx before the end of the message, or in place of its acceptance, is NotSent; 5xx
        is Rejected; what is lost after the end of the message is Unknown.
        """
