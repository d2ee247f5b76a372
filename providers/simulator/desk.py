"""What a front desk does behind a caller's back: it takes bookings over, alters them, and heeds no limit.

`POST /seed` `{property, room_type, check_in, check_out, guests: [{name?, email?, phone?}, …], reference?}` writes down
one booking a guest, in one step, and answers `{"booking_ids": [...]}` in the guests' order. No inventory is asked:
the hotel may be overbooked afterwards. Names, addresses and numbers are any text, or missing, as in lists that were
typed or imported: an address may be malformed, in any script, or carry line breaks. Without a `reference` the bookings
have none (null), like all that did not come through this contract.

`POST /desk/{booking_id}` `{check_in?, check_out?, status?, guest?}` alters a booking, whatever it was, and answers with
it. What is not named stays; a `guest` replaces the whole guest. `status` is confirmed or cancelled: a cancelled booking
can be revived. Nights are given back and taken as by a change, free or not.

Neither is a call of the contract: the ledger has no line of it. Unknown hotels, room types and fields are refused
(422), and so are dates in the wrong order; an unknown booking is a 404.
"""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from providers.simulator.contract import PlainDate, Reference, Strict
from providers.simulator.register import Booking, number_of
from providers.simulator.rooms import nights_of, stay_price
from providers.simulator.world import World

#: What was not checked when it was typed.
Typed = Annotated[str, Field(max_length=1000)]


class TypedGuest(Strict):
    """Who stays, as far as anybody wrote it down."""

    name: Typed | None = None
    email: Typed | None = None
    phone: Typed | None = None

    def written(self) -> dict[str, str]:
        """As a booking shows it: what is missing is not there."""
        return self.model_dump(exclude_none=True)


class Seed(Strict):
    """`POST /seed`."""

    property: str
    room_type: str
    check_in: PlainDate
    check_out: PlainDate
    guests: Annotated[list[TypedGuest], Field(max_length=100_000)]
    reference: Reference | None = None


class Alteration(Strict):
    """`POST /desk/{booking_id}`."""

    check_in: PlainDate | None = None
    check_out: PlainDate | None = None
    status: Literal["confirmed", "cancelled"] | None = None
    guest: TypedGuest | None = None


def seed(world: World, asked: Seed, *, before_all: bool = False) -> list[str]:
    """One booking a guest; gives their ids. `before_all`: a list by number begins with them."""
    hotel = world.property(asked.property)
    stock = hotel.room(asked.room_type)
    nights = len(nights_of(asked.check_in, asked.check_out))
    stay = asked.model_dump(mode="json", exclude={"guests"}) | {
        "rate_plan": "flexible",
        "adults": 1,
        "children": 0,
        "notes": None,
    }
    price = {"amount": str(stay_price(stock, "flexible", nights)), "currency": hotel.currency}
    numbered = [(world.register.new_number(before_all=before_all), guest) for guest in asked.guests]
    return [
        str(world.book(number, stay | {"guest": guest.written()}, price)["booking_id"]) for number, guest in numbered
    ]


def alter(world: World, id: str, asked: Alteration) -> Booking:
    """The booking as it is now. Nothing is altered if anything is refused."""
    booking = world.booking(id)
    check_in = asked.check_in or date.fromisoformat(booking["check_in"])
    check_out = asked.check_out or date.fromisoformat(booking["check_out"])
    nights_of(check_in, check_out)
    world.vacate(booking)
    if asked.check_in or asked.check_out:
        world.move(booking, check_in, check_out)
    booking["status"] = asked.status or booking["status"]
    if asked.guest is not None:
        booking["guest"] = asked.guest.written()
    world.occupy(booking)
    return booking


def shift_arrivals(world: World, page: list[Booking], change: Literal["insert", "cancel"]) -> str:
    """Alter the arrivals behind a page with bookings in it; gives the cursor of a next page counted by position."""
    first, last = page[0], page[-1]
    number = number_of(last["booking_id"])
    if change == "insert":
        guest = TypedGuest(name="Late Guest", email=f"late-{len(world.register.all)}@guests.example")
        stay = {name: first[name] for name in ("property", "room_type", "check_in", "check_out")}
        seed(world, Seed(**stay, guests=[guest]), before_all=True)
        return f"B-{number - 1}"
    alter(world, first["booking_id"], Alteration(status="cancelled"))
    there = [number_of(one["booking_id"]) for one in world.register.arriving(first["property"], first["check_in"])]
    return f"B-{next((other for other in there if other > number), number)}"
