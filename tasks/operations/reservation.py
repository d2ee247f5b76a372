"""What changes and cancellations of a reservation share: whose it is, and how it is looked at."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from math import inf
from typing import Any

from booking import keys
from booking.arguments import OfReservation
from booking.capabilities import Capabilities
from booking.effects import Effect
from booking.guests import VerifiedGuest, access, folded_address
from booking.outcomes import Absent, Finding, Found, Mismatched, Rejected, Reservation
from booking.reads import GetReservation
from booking.states import Queue
from booking.text import folded
from dedupe.items import Item
from dedupe.submission import Wanted
from providers.ports import Line, Pms
from tasks.operations.booking import shown
from tasks.operations.port import Asking, provider_of


def wanted(asking: Asking, arguments: OfReservation, effect: Effect, target: dict[str, str]) -> Wanted:
    """The effect on the reservation. Who asks is part of it: nobody gets an answer for another guest's right.

    So is the hotel that is said, if any: with a wrong one it is not found, and with the right one it is.
    """
    secret, conversation = asking.caller.secret, asking.conversation_id
    provider = provider_of(asking.properties, arguments.property, lambda hotel: hotel.provider)
    verified = asking.verified
    identity = {
        "provider": provider,
        "reservation": arguments.reservation_id,
        "target": target,
        "property": arguments.property,
        "verified": _who(verified.name, verified.email) if verified else None,
        "claimed": _who(arguments.guest_name, arguments.email) if not verified else None,
    }
    base = keys.base_key(secret, conversation, effect, identity)
    return Wanted(
        base=base,
        fingerprint=keys.fingerprint(secret, identity),
        request={
            "reservation_id": arguments.reservation_id,
            **target,
            "property": arguments.property,
            "verified": verified.model_dump(mode="json") if verified else None,
            "guest_name": arguments.guest_name,
            "email": arguments.email,
        },
        scope=conversation,
        effect=effect,
        queue=Queue.BOOKINGS.of(provider),
        provider=provider,
        subject=arguments.reservation_id,
    )


def _who(name: str | None, email: str | None) -> list[str]:
    return [folded(name or ""), folded_address(email or "")]


def capabilities(declared: Capabilities, effect: Effect) -> Capabilities:
    """The reservation is looked at before the first write, and tells afterwards what a write did."""
    return replace(declared, looks_first=True, reads_back=effect in declared.shows)


def look(
    pms: Pms,
    line: Line,
    item: Item,
    begun_at: datetime,
    judge: Callable[[Item, Reservation], bool | str | Rejected],
) -> Finding:
    """Read the reservation and judge it: True: it is so already; False: not yet; text: neither as before nor so."""
    asked = GetReservation.model_construct(reservation_id=item.request["reservation_id"])
    seen = pms.get_booking(line, asked, inf)
    if isinstance(seen, Rejected):
        return Mismatched("it is not shown any more", begun_at) if item.doubts else told(item, seen)
    if not isinstance(seen, Reservation):
        return seen
    refusal = None if item.doubts else _refusal(item, seen)
    verdict = refusal or judge(item, seen)
    match verdict:
        case Rejected():
            return verdict
        case True:
            return Found(shown(seen), begun_at, seen.booking_id)
        case False:
            return Absent(begun_at, {"check_in": seen.check_in, "check_out": seen.check_out})
        case why:
            return Mismatched(f"{seen.booking_id} {why}", begun_at)


def told(item: Item, refused: Rejected) -> Rejected:
    """The refusal with the item's own values. A number that is wrong and one that is not theirs are told alike."""
    # The hotel system's own "forbidden" would tell somebody unverified that the number exists.
    hidden = refused.row == "not_found" or (refused.row == "denied" and not item.request["verified"])
    what = {"what": f"Reservation {item.request['reservation_id']}"} if hidden else {}
    return Rejected("not_found" if hidden else refused.row, refused.cause, {**item.request, **refused.values, **what})


def _refusal(item: Item, seen: Reservation) -> Rejected | None:
    request: dict[str, Any] = item.request
    verified = VerifiedGuest.model_validate(request["verified"]) if request["verified"] else None
    match access(seen, verified, request["guest_name"], request["email"]):
        case "denied":
            return Rejected("denied", "another guest's")
        case "not_found":
            return told(item, Rejected("not_found", "not the guest's own name or mail address"))
        case _:
            # After whose it is: at which hotel it is, is nobody else's business.
            elsewhere = request["property"] not in (None, seen.property)
            return told(item, Rejected("not_found", "at another hotel")) if elsewhere else None
