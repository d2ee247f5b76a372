"""The hotel system's state and rules. No HTTP, no waiting: one call is one atomic step."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from providers.simulator.contract import (
    ArrivalsQuery,
    AvailabilityQuery,
    ChangeDates,
    CreateBooking,
    PriceLimit,
    RefundPayment,
)
from providers.simulator.errors import PmsError, invalid, not_found
from providers.simulator.payments import Payments
from providers.simulator.register import Booking, Register, number_of
from providers.simulator.rooms import (
    RATE_PLANS,
    Property,
    Stock,
    nights_of,
    properties,
    sold_out,
    stay_price,
)

Mode = Literal["keyed", "lookup-only", "blind"]

QUOTE_LIFE = timedelta(minutes=15)
#: The fields of a create that a booking keeps as they are.
STAY = {"reference", "property", "room_type", "check_in", "check_out", "adults", "children", "notes"}


def utc_now() -> datetime:
    """Now, as an aware time."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Done:
    """What a call led to. `effect` tells whether anything changed."""

    status: int
    body: dict[str, Any]
    effect: bool = False
    booking_id: str | None = None


class World:
    """Everything the hotel system knows."""

    def __init__(self, mode: Mode = "keyed", now: Callable[[], datetime] = utc_now) -> None:
        self.now = now
        self._first_mode = mode
        self.reset()

    def reset(self) -> None:
        """Start over, in the mode it was started with."""
        self.mode: Mode = self._first_mode
        self.properties = properties()
        self.payments = Payments()
        self.register = Register()

    def property(self, id: str) -> Property:
        """A property; 422 naming the known ones."""
        try:
            return self.properties[id]
        except KeyError:
            known = ", ".join(self.properties)
            raise invalid("property", f"unknown property; known are {known}") from None

    def create(self, asked: CreateBooking) -> Done:
        """Book a room. The same reference twice makes two bookings: references are not unique here."""
        hotel = self.property(asked.property)
        stock = hotel.room(asked.room_type)
        nights = nights_of(asked.check_in, asked.check_out)
        if asked.adults + asked.children > stock.sleeps:
            raise invalid("adults", f"a {stock.name} sleeps {stock.sleeps}")
        rate_plan = _rate_plan(asked)
        price = stay_price(stock, rate_plan, len(nights))
        _within(asked.max_price, price, hotel.currency)
        if not stock.free_all(nights):
            raise sold_out(hotel, stock, nights)
        guest = asked.guest.model_dump(exclude_none=True)
        if asked.phone:
            guest.setdefault("phone", asked.phone)
        stay = asked.model_dump(mode="json", include=STAY) | {"rate_plan": rate_plan, "guest": guest}
        booking = self.book(self.register.new_number(), stay, {"amount": str(price), "currency": hotel.currency})
        return Done(201, booking, True, booking["booking_id"])

    def book(self, number: int, stay: dict[str, Any], price: dict[str, str]) -> Booking:
        """Write a paid booking down and take its rooms, whether they are free or not. `stay` has the other fields."""
        id = f"B-{number}"
        booking: Booking = {
            "booking_id": id,
            "status": "confirmed",
            **stay,
            "price": price,
            "payment_id": self.payments.capture(f"P-{number}", id, Decimal(price["amount"]), price["currency"]),
            "created_at": self.now().isoformat(),
        }
        self.register.add(booking)
        self.occupy(booking)
        return booking

    def occupy(self, booking: Booking) -> None:
        """The booking, unless it is cancelled, takes its nights and is expected on its first day."""
        if booking["status"] == "confirmed":
            self.stock_of(booking).take(_nights(booking), 1)
            self.register.expect(booking)

    def vacate(self, booking: Booking) -> None:
        """Undo `occupy`. Call it before anything of the booking is altered."""
        if booking["status"] == "confirmed":
            self.stock_of(booking).take(_nights(booking), -1)
            self.register.expect_no_more(booking)

    def stock_of(self, booking: Booking) -> Stock:
        """The rooms of the booking's type in its hotel."""
        return self.property(booking["property"]).room(booking["room_type"])

    def find(self, reference: str) -> Done:
        """Every booking with this reference, cancelled ones too."""
        self._needs_lookup()
        return Done(200, {"bookings": self.register.with_reference(reference)})

    def get(self, id: str) -> Done:
        """One booking by its id."""
        return Done(200, self.booking(id), booking_id=id)

    def change(self, id: str, asked: ChangeDates) -> Done:
        """Move a stay; its own nights count as free. Already there: 200 without an effect."""
        booking = self.booking(id)
        if booking["status"] == "cancelled":
            raise PmsError(409, "cancelled", f"{id} is cancelled and can't be changed")
        nights = nights_of(asked.check_in, asked.check_out)
        if (booking["check_in"], booking["check_out"]) == (str(asked.check_in), str(asked.check_out)):
            return Done(200, booking, booking_id=id)
        stock = self.stock_of(booking)
        self.vacate(booking)
        try:
            if not stock.free_all(nights):
                raise sold_out(self.property(booking["property"]), stock, nights)
            self.move(booking, asked.check_in, asked.check_out)
        finally:
            self.occupy(booking)
        return Done(200, booking, True, id)

    def move(self, booking: Booking, check_in: date, check_out: date) -> None:
        """Other dates, at today's price. The caller vacates before and occupies after."""
        booking["check_in"], booking["check_out"] = str(check_in), str(check_out)
        price = stay_price(self.stock_of(booking), booking["rate_plan"], len(_nights(booking)))
        booking["price"] = {**booking["price"], "amount": str(price)}

    def cancel(self, id: str) -> Done:
        """Cancel and give the nights back. Already cancelled: 200 without an effect."""
        booking = self.booking(id)
        if booking["status"] == "cancelled":
            return Done(200, booking, booking_id=id)
        self.vacate(booking)
        booking["status"] = "cancelled"
        return Done(200, booking, True, id)

    def refund(self, payment_id: str, asked: RefundPayment) -> Done:
        """Give money back from a captured payment."""
        refund = self.payments.refund(payment_id, asked, self.now())
        return Done(201, refund, True, self.payments.all[payment_id].booking_id)

    def find_refunds(self, reference: str) -> Done:
        """Every refund with this reference."""
        self._needs_lookup()
        return Done(200, {"refunds": self.payments.refunds_of(reference)})

    def availability(self, asked: AvailabilityQuery) -> Done:
        """One offer for each room type and rate plan that is free on all nights."""
        hotel = self.property(asked.property)
        nights = nights_of(asked.check_in, asked.check_out)
        rooms = [hotel.room(asked.room_type)] if asked.room_type else list(hotel.stock.values())
        plans = [_known_plan(asked.rate_plan)] if asked.rate_plan else list(RATE_PLANS)
        guests = asked.adults + asked.children
        offers = [
            self._offer(hotel, stock, plan, asked, len(nights))
            for stock in rooms
            if stock.sleeps >= guests and stock.free_all(nights)
            for plan in plans
        ]
        return Done(200, {"offers": offers})

    def _offer(self, hotel: Property, stock: Stock, plan: str, asked: AvailabilityQuery, nights: int) -> dict[str, Any]:
        return {
            "quote_id": quote_id(hotel.id, stock.name, plan, asked.check_in, asked.check_out),
            "property": hotel.id,
            "room_type": stock.name,
            "rate_plan": plan,
            "check_in": str(asked.check_in),
            "check_out": str(asked.check_out),
            "price": {"amount": str(stay_price(stock, plan, nights)), "currency": hotel.currency},
            "cancellation_terms": RATE_PLANS[plan][1],
            "valid_until": (self.now() + QUOTE_LIFE).isoformat(),
        }

    def arrivals(self, asked: ArrivalsQuery) -> Done:
        """Confirmed bookings that arrive on a local date, a page at a time, by id."""
        self.property(asked.property)
        after = number_of(asked.cursor) if asked.cursor else 0
        there = self.register.arriving(asked.property, str(asked.date))
        following = [booking for booking in there if number_of(booking["booking_id"]) > after]
        page = following[: asked.limit]
        more = len(following) > asked.limit
        return Done(200, {"arrivals": page, "next_cursor": page[-1]["booking_id"] if more else None})

    def booking(self, id: str) -> Booking:
        """The booking with this id; 404 if there is none."""
        try:
            return self.register.all[id]
        except KeyError:
            raise not_found("booking") from None

    def _needs_lookup(self) -> None:
        if self.mode == "blind":
            raise PmsError(501, "not_supported", "this system can't look up by reference")


def quote_id(property: str, room_type: str, plan: str, check_in: date, check_out: date) -> str:
    """A quote carries what it stands for, so that quotes need no memory."""
    return f"Q-{property}.{room_type}.{plan}.{check_in:%Y%m%d}.{check_out:%Y%m%d}"


def _rate_plan(asked: CreateBooking) -> str:
    if asked.quote_id is None:
        return _known_plan(asked.rate_plan or "flexible")
    for plan in RATE_PLANS:
        named = quote_id(asked.property, asked.room_type, plan, asked.check_in, asked.check_out)
        if named == asked.quote_id and asked.rate_plan in (None, plan):
            return plan
    raise invalid("quote_id", "this quote is not for this property, room type, rate plan and dates")


def _known_plan(name: str) -> str:
    if name not in RATE_PLANS:
        raise invalid("rate_plan", f"unknown rate plan; known are {', '.join(RATE_PLANS)}")
    return name


def _within(limit: PriceLimit | None, price: Decimal, currency: str) -> None:
    if limit is None:
        return
    if limit.currency not in (None, currency):
        raise invalid("max_price.currency", f"this property sells in {currency}")
    if price > limit.amount:
        now = {"amount": str(price), "currency": currency}
        raise PmsError(409, "price_changed", f"the stay now costs {price} {currency}", price=now)


def _nights(booking: dict[str, Any]) -> list[date]:
    return nights_of(date.fromisoformat(booking["check_in"]), date.fromisoformat(booking["check_out"]))
