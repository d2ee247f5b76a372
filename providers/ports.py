"""What a provider looks like from the inside: the one shape every adapter has."""

from dataclasses import dataclass
from typing import Any, Protocol

from booking.capabilities import Capabilities
from booking.outcomes import Misconfigured, NotSent, Outcome, Rejected, Reservation, Unknown
from booking.reads import GetReservation, ListArrivals, Offer, SearchAvailability

#: What a look-up tells: the bookings, or why it told nothing.
Listing = list[Reservation] | NotSent | Unknown | Misconfigured
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


class Pms(Protocol):
    """A hotel system. No method retries, none raises for what the provider does: the outcome says it."""

    @property
    def capabilities(self) -> Capabilities:
        """What it declares about itself."""

    def connect(self, within: float = ...) -> Line:
        """Open a fresh line within `connect_deadline` and `within` seconds, or raise Unreachable."""

    def booking_body(self, stay: dict[str, Any], reference: str) -> bytes:
        """The exact bytes of a create request. Stored at the first mark and sent again as they are."""

    def create_booking(self, line: Line, body: bytes, key: str) -> Outcome:
        """Send one create and read the answer, within `write_deadline` in all.

        Done.result is the `Reservation` as a dict; it is Done only with an id, our reference and a 201.
        """

    def find_by_reference(self, line: Line, reference: str) -> Listing:
        """All bookings that carry exactly `reference`, cancelled ones included, within `read_deadline`."""

    # Reads: one call each, within `read_deadline` and `within` seconds. An empty list means that the provider said so.

    def availability(self, line: Line, asked: SearchAvailability, within: float) -> list[Offer] | NoAnswer:
        """What can be booked for the stay, at what price."""

    def get_booking(self, line: Line, asked: GetReservation, within: float) -> Reservation | NoAnswer:
        """The reservation with this id, whoever's it is: who may see it is the caller's to decide."""

    def arrivals(self, line: Line, asked: ListArrivals, within: float) -> ArrivalsPage | NoAnswer:
        """A page of those who arrive at the hotel on a local date."""
