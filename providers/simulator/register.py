"""Every booking there is, by its id, by reference and by the day of arrival. Rooms are another matter: see rooms.py."""

from typing import Any

FIRST_BOOKING = 1001
Booking = dict[str, Any]


class Register:
    """Bookings are numbered from B-1001 up; what is put before them all goes down from B-1000."""

    def __init__(self) -> None:
        self.all: dict[str, Booking] = {}
        self._last = FIRST_BOOKING - 1
        self._first = FIRST_BOOKING
        self._by_reference: dict[str, list[Booking]] = {}
        self._arrivals: dict[tuple[str, str], set[int]] = {}

    def new_number(self, *, before_all: bool = False) -> int:
        """A number that no booking has; with `before_all` a list by number begins with it, while there is room."""
        if before_all and self._first > 1:
            self._first -= 1
            return self._first
        self._last += 1
        return self._last

    def add(self, booking: Booking) -> None:
        """A new booking. It arrives nowhere yet."""
        self.all[booking["booking_id"]] = booking
        if booking["reference"] is not None:
            self._by_reference.setdefault(booking["reference"], []).append(booking)

    def with_reference(self, reference: str) -> list[Booking]:
        """Those with exactly this reference, oldest first."""
        return self._by_reference.get(reference, [])

    def expect(self, booking: Booking) -> None:
        """The booking arrives at its hotel on its first day."""
        self._day(booking["property"], booking["check_in"]).add(number_of(booking["booking_id"]))

    def expect_no_more(self, booking: Booking) -> None:
        """It does not arrive there and then. Call it before its dates are altered."""
        self._day(booking["property"], booking["check_in"]).discard(number_of(booking["booking_id"]))

    def arriving(self, property: str, day: str) -> list[Booking]:
        """Who arrives at a hotel on a day, by number."""
        return [self.all[f"B-{n}"] for n in sorted(self._arrivals.get((property, day), ()))]

    def _day(self, property: str, day: str) -> set[int]:
        return self._arrivals.setdefault((property, day), set())


def number_of(booking_id: str) -> int:
    """The number in an id of ours."""
    return int(booking_id.removeprefix("B-"))
