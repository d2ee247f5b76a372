"""A check-in reminder: one mail for one reservation. It can't be looked up, so what is lost is never sent again."""

from dataclasses import asdict, replace
from datetime import datetime
from math import inf

from booking import keys
from booking.addresses import usable_address
from booking.capabilities import Capabilities
from booking.effects import Effect
from booking.errors import ToolError, tool_error
from booking.outcomes import Absent, Done, Finding, Outcome, Rejected, Reservation
from booking.reads import GetReservation
from booking.settings import Property
from booking.states import Kind, Queue
from booking.text import folded
from dedupe.items import Item
from dedupe.submission import Wanted
from providers.ports import Line, Mail, Pms
from tasks.operations.letters import TEMPLATE, reminder


def wanted(secret: bytes, tenant_id: str, hotel: Property, arrival: Reservation) -> Wanted:
    """The mail for one arrival. Another name or address is another letter, if none was sent yet."""
    identity = {"reservation": arrival.booking_id, "arrival": arrival.check_in, "template": TEMPLATE}
    values = [arrival.guest_email.casefold(), folded(arrival.guest_name)]
    return Wanted(
        base=keys.base_key(secret, tenant_id, Effect.REMINDER, {"provider": hotel.provider, **identity}),
        fingerprint=keys.fingerprint(secret, [identity, values]),
        request={
            "reservation_id": arrival.booking_id,
            "property": arrival.property,
            "date": arrival.check_in,
            "template": TEMPLATE,
            "pms": hotel.provider,
            "hotel": hotel.model_dump(mode="json", include={"name", "time_zone", "language", "currency"}),
        },
        scope=tenant_id,
        effect=Effect.REMINDER,
        queue=Queue.BATCH.of(hotel.mail),
        provider=hotel.mail,
        refusal=_refusal(arrival),
    )


def _refusal(arrival: Reservation) -> ToolError | None:
    """Why no mail can be sent, before anything is tried."""
    try:
        usable_address(arrival.guest_email)
    except ValueError as problem:
        return tool_error("no_address", reservation_id=arrival.booking_id, problem=problem)
    return None


def over(item: Item) -> bool:
    """Whether the day of arrival has passed at the hotel."""
    zone = Property.model_validate(item.request["hotel"]).zone
    return item.now.astimezone(zone).date().isoformat() > str(item.request["date"])


class Reminder:
    """A reminder (see `port.Operation`)."""

    effect = Effect.REMINDER

    def capabilities(self, declared: Capabilities) -> Capabilities:
        """The reservation is read again before the mail is sent."""
        return replace(declared, looks_first=True)

    def provider(self, item: Item, kind: Kind) -> str:
        """The hotel system is asked, the mail server sends."""
        return str(item.request["pms"]) if kind is Kind.CHECK else item.provider

    def body(self, mail: Mail, item: Item) -> bytes:
        """The message, made from the reservation as it is now."""
        hotel = Property.model_validate(item.request["hotel"])
        letter = reminder(hotel, Reservation(**(item.seen or {})))
        return mail.message(letter, hotel.name, item.reference, item.now)

    def write(self, mail: Mail, line: Line, item: Item, body: bytes) -> Outcome:
        """Hand the message in."""
        outcome = mail.send(line, body)
        if isinstance(outcome, Rejected):
            return Rejected(outcome.row, outcome.cause, {**item.request, **outcome.values})
        if isinstance(outcome, Done):
            return Done({"reservation_id": item.request["reservation_id"], **outcome.result})
        return outcome

    def check(self, pms: Pms, line: Line, item: Item, begun_at: datetime) -> Finding:
        """Does the guest still arrive then, and under which address?"""
        asked = GetReservation.model_construct(reservation_id=item.request["reservation_id"])
        seen = pms.get_booking(line, asked, inf)
        if isinstance(seen, Rejected) and seen.row == "not_found":
            return Rejected("no_longer_arriving", seen.cause, item.request)
        if not isinstance(seen, Reservation):
            return seen
        if over(item):
            return Rejected("no_longer_arriving", "the day is over", item.request)
        arrives = (seen.property, seen.check_in) == (item.request["property"], item.request["date"])
        if not (arrives and seen.is_live()):
            return Rejected("no_longer_arriving", "cancelled or moved", item.request)
        try:
            usable_address(seen.guest_email)
        except ValueError as problem:
            return Rejected("no_address", "not usable", {**item.request, "problem": problem})
        return Absent(begun_at, asdict(seen))

    def provider_id(self, result: dict[str, object]) -> str:
        """The message id."""
        return str(result["message_id"])


REMINDER = Reminder()
