"""Properties, their room types, prices, and how many rooms are free on which night."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

from providers.simulator.errors import PmsError, invalid

# A stay is written night by night; without a limit one request could fill the memory.
LONGEST_STAY = 365  # nights
CENT = Decimal("0.01")

# Share of the nightly price, and what a guest is told about cancelling.
RATE_PLANS = {
    "flexible": (Decimal(1), "free until 18:00 the day before arrival, local time"),
    "saver": (Decimal("0.9"), "not refundable"),
}


@dataclass
class Stock:
    """Rooms of one type in one property. `nights` are totals that differ from `total`."""

    name: str
    sleeps: int
    price: Decimal
    total: int
    nights: dict[date, int] = field(default_factory=dict)
    taken: dict[date, int] = field(default_factory=dict)

    def free(self, night: date) -> int:
        """Rooms that can still be booked; never negative, though a hotel may be overbooked."""
        return max(0, self.nights.get(night, self.total) - self.taken.get(night, 0))

    def free_all(self, nights: Iterable[date]) -> int:
        """Rooms free on every one of the nights."""
        return min(self.free(night) for night in nights)

    def take(self, nights: Iterable[date], rooms: int) -> None:
        """Book (1) or give back (-1) a room on each night."""
        for night in nights:
            left = self.taken.get(night, 0) + rooms
            if left:
                self.taken[night] = left
            else:
                self.taken.pop(night, None)

    def set_free(self, rooms: int, nights: Iterable[date] | None = None) -> None:
        """Make exactly `rooms` bookable on these nights, or on all."""
        if nights is None:
            self.total = rooms
            self.nights = {night: taken + rooms for night, taken in self.taken.items()}
            return
        for night in nights:
            self.nights[night] = self.taken.get(night, 0) + rooms


@dataclass
class Property:
    """A hotel; dates of its bookings are local to `time_zone`."""

    id: str
    name: str
    time_zone: str
    currency: str
    stock: dict[str, Stock]

    def room(self, room_type: str) -> Stock:
        """The stock of a type; 422 naming the known types."""
        try:
            return self.stock[room_type]
        except KeyError:
            raise invalid("room_type", f"unknown room type; {self.id} has {', '.join(self.stock)}") from None


def _types(single: int, double: int, suite: int, family: int) -> dict[str, Stock]:
    # A single has a wide bed: two adults is what callers assume who say nothing.
    return {
        "single": Stock("single", 2, Decimal(single), 10),
        "double": Stock("double", 2, Decimal(double), 20),
        "suite": Stock("suite", 4, Decimal(suite), 2),
        "family": Stock("family", 5, Decimal(family), 5),
    }


def properties() -> dict[str, Property]:
    """The three hotels, untouched."""
    hotels = (
        Property("BER", "Roomkey Berlin", "Europe/Berlin", "EUR", _types(95, 140, 290, 210)),
        Property("AKL", "Roomkey Auckland", "Pacific/Auckland", "NZD", _types(150, 220, 480, 330)),
        Property("HNL", "Roomkey Honolulu", "Pacific/Honolulu", "USD", _types(180, 260, 620, 390)),
    )
    return {hotel.id: hotel for hotel in hotels}


def nights_of(check_in: date, check_out: date) -> list[date]:
    """The nights slept: check_in to the day before check_out."""
    count = (check_out - check_in).days
    if count < 1:
        raise invalid("check_out", "check_out must be after check_in")
    if count > LONGEST_STAY:
        raise invalid("check_out", f"a stay has at most {LONGEST_STAY} nights")
    return [check_in + timedelta(days=n) for n in range(count)]


def stay_price(stock: Stock, rate_plan: str, nights: int) -> Decimal:
    """Price of the whole stay."""
    share, _ = RATE_PLANS[rate_plan]
    return (stock.price * share * nights).quantize(CENT)


def sold_out(hotel: Property, stock: Stock, nights: list[date]) -> PmsError:
    """409 naming the first night without a room."""
    night = next(night for night in nights if not stock.free(night))
    return PmsError(409, "sold_out", f"no {stock.name} free at {hotel.id} on {night}", night=str(night))
