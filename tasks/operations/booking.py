"""A booking: written by a create under our key and reference, looked up by the reference."""

from dataclasses import asdict
from datetime import datetime

from booking import keys
from booking.arguments import BookRooms, CreateBooking, Stay
from booking.capabilities import Capabilities
from booking.effects import Effect
from booking.outcomes import Absent, Done, Finding, Found, Mismatched, Outcome, Rejected, Reservation, Unknown
from booking.states import Kind, Queue
from booking.text import folded
from dedupe.items import Item
from dedupe.moves import Booked, Moved
from dedupe.submission import Wanted
from providers.ports import Line, Pms
from tasks.operations.port import Asking, Tool


def _one(asking: Asking, stay: Stay) -> list[Wanted]:
    return [_wanted(asking, stay)]


def _several(asking: Asking, arguments: BookRooms) -> list[Wanted]:
    return [_wanted(asking, stay) for stay in arguments.rooms]


def _wanted(asking: Asking, stay: Stay) -> Wanted:
    """One room as an effect. `create_booking` and a one-room `book_rooms` make the same one."""
    secret, conversation = asking.caller.secret, asking.conversation_id
    provider = asking.properties[stay.property].provider
    return Wanted(
        base=keys.base_key(secret, conversation, Effect.BOOKING, keys.booking_identity(stay)),
        fingerprint=keys.fingerprint(secret, keys.booking_values(stay)),
        request=stay.model_dump(mode="json", exclude_none=True, exclude={"additional"}),
        scope=conversation,
        effect=Effect.BOOKING,
        queue=Queue.BOOKINGS.of(provider),
        provider=provider,
        guest=keys.guest_mark(secret, stay),
        stay=keys.stay_mark(secret, stay),
        additional=stay.additional,
    )


def moved(booked: Booked, check_in: str, check_out: str) -> Moved:
    """The booking under its new dates."""
    dates = {"check_in": check_in, "check_out": check_out}
    stay, secret = Stay.model_validate({**booked.request, **dates}), booked.secret
    base = keys.base_key(secret, booked.conversation_id, Effect.BOOKING, keys.booking_identity(stay))
    fingerprint = keys.fingerprint(secret, keys.booking_values(stay))
    return Moved(booked.id, base, fingerprint, keys.stay_mark(secret, stay), dates)


class Booking:
    """One room for one stay (see `port.Operation`)."""

    effect = Effect.BOOKING

    def capabilities(self, declared: Capabilities) -> Capabilities:
        """As the hotel system declares them."""
        return declared

    def provider(self, item: Item, kind: Kind) -> str:
        """The hotel system, for all calls."""
        return item.provider

    def body(self, pms: Pms, item: Item) -> bytes:
        """The create request."""
        return pms.booking_body(item.request, item.reference)

    def write(self, pms: Pms, line: Line, item: Item, body: bytes) -> Outcome:
        """Send the create; a confirmation with other values than asked is no success."""
        outcome = pms.create_booking(line, body, item.provider_key)
        if isinstance(outcome, Rejected):
            # The message names the stay; the provider's own values (a new price) go on top.
            return Rejected(outcome.row, outcome.cause, {**item.request, **outcome.values})
        if isinstance(outcome, Done):
            wrong = differences(item, Reservation(**outcome.result))
            if wrong:
                return Unknown(f"confirmed with another {', '.join(wrong)}")
            return Done(shown(Reservation(**outcome.result)))
        return outcome

    def check(self, pms: Pms, line: Line, item: Item, begun_at: datetime) -> Finding:
        """Look the booking up by reference."""
        listing = pms.find_by_reference(line, item.reference)
        if not isinstance(listing, list):
            return listing
        if not listing:
            return Absent(begun_at)
        good = [booking for booking in listing if booking.is_live() and not differences(item, booking)]
        if not good:
            return Mismatched(_why(item, listing), begun_at)
        first, *others = good
        return Found(shown(first), begun_at, first.booking_id, tuple(booking.booking_id for booking in others))

    def provider_id(self, result: dict[str, object]) -> str:
        """The booking id."""
        return str(result["booking_id"])


def differences(item: Item, booking: Reservation) -> list[str]:
    """The names of the fields in which a booking at the provider is not what the item asked for."""
    asked = item.request
    pairs = {
        "reference": (item.reference, booking.reference),
        "property": (asked["property"], booking.property),
        "room_type": (asked["room_type"], booking.room_type),
        "check_in": (asked["check_in"], booking.check_in),
        "check_out": (asked["check_out"], booking.check_out),
        "guest": (folded(asked["guest"]["name"]), folded(booking.guest_name)),
    }
    return [name for name, (ours, theirs) in pairs.items() if ours != theirs]


def shown(booking: Reservation) -> dict[str, str]:
    """A booking as the agent is given it: no reference, which is ours, nothing raw, and no mail address."""
    fields = asdict(booking)
    return {name: fields[name] for name in fields if name not in ("reference", "raw", "guest_email")}


def _why(item: Item, listing: list[Reservation]) -> str:
    reasons = [
        f"{booking.booking_id} is {booking.status}, differs in {', '.join(differences(item, booking)) or 'nothing'}"
        for booking in listing
    ]
    return "; ".join(reasons)


BOOKING = Booking()

TOOLS = (Tool("create_booking", CreateBooking, _one), Tool("book_rooms", BookRooms, _several))
