"""What an answer of the reference contract means. Pure, and by positive rules: what no rule names is Unknown.

Texts of the provider go no further than checked ids, field names and one bounded line; its codes are repeated in a
cause only if the contract knows them.
"""

import json
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from booking.errors import ErrorCode
from booking.outcomes import Done, Misconfigured, NotSent, Outcome, Rejected, Reservation, Unknown
from booking.text import one_line
from providers.line import Reply
from providers.ports import Listing
from providers.retry_after import retry_after

#: Error codes of the contract. A body with another one is not an answer of this contract.
CODES = frozenset(
    {
        *("invalid", "unauthorized", "forbidden", "not_found", "not_supported", "too_large"),
        *("sold_out", "price_changed", "conflict", "cancelled", "key_in_progress", "key_reused"),
        *("rate_limited", "internal", "unavailable", "timeout", "bad_gateway"),
    }
)
#: What a confirmation may repeat of the request, beside the guest.
_STAY = ("property", "room_type", "check_in", "check_out")
_FIELD = re.compile(r"[A-Za-z0-9_.\[\]]{1,64}")
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,3})?")
_CURRENCY = re.compile(r"[A-Z]{3}")
#: Longest text taken from a provider, characters.
_LONGEST = 200

_Error = dict[str, Any]


def classify_write(reply: Reply, reference: str, now: datetime) -> Outcome:
    """How a create ended. `Done.result` holds those fields of a Reservation that the provider said; see `completed`."""
    body = json_of(reply.body)
    if reply.status in (200, 201):
        return _confirmation(body, reference)
    error = error_of(body)
    # A redirect after a POST often means "done, look there": it is no rule's, so it is looked up.
    if not is_redirect(reply.status) and (mistake := our_mistake(reply, error, may_forbid=True)):
        return mistake
    if reply.status == 429:
        return NotSent(cause_of(reply, error), ErrorCode.RATE_LIMITED, wait_of(reply, now))
    return refusal_of(reply, error) or Unknown(cause_of(reply, error), wait_of(reply, now))


def classify_lookup(reply: Reply, reference: str, now: datetime) -> Listing:
    """What a look-up told: the bookings that carry exactly `reference`, or why it told nothing."""
    body = json_of(reply.body)
    error = error_of(body)
    if reply.status == 200:
        return _bookings(body, reference)
    if mistake := our_mistake(reply, error, may_forbid=False):
        return mistake
    if reply.status == 429:
        return NotSent(cause_of(reply, error), ErrorCode.RATE_LIMITED, wait_of(reply, now))
    return Unknown(cause_of(reply, error), wait_of(reply, now))


def completed(outcome: Outcome, sent: dict[str, Any]) -> Outcome:
    """Fill what a confirmation left out from the create's body: it confirms what was sent unless it says otherwise."""
    if not isinstance(outcome, Done):
        return outcome
    return Done({name: sent[name] for name in _STAY} | {"guest_name": sent["guest"]["name"]} | outcome.result)


def reservation_of(entry: Any, *, ours: bool = True) -> Reservation:
    """A booking as the contract shows it. Raises ValueError for anything else.

    `ours`: it must carry a reference; bookings that came in by another way need none, and a name that nobody can read
    is then an empty one, or one guest's entry would hide a whole day's arrivals. `raw` stays empty: nobody needs the
    rest, and it holds the guest's data and characters that no database takes.
    """
    if not isinstance(entry, dict) or "error" in entry:
        raise ValueError("not a booking")
    guest = entry.get("guest")
    if not isinstance(guest, dict):
        raise ValueError("guest")
    return Reservation(
        booking_id=text_of(entry.get("booking_id")),
        reference=text_of(entry.get("reference")) if ours else "",
        status=_status(entry.get("status")),
        property=text_of(entry.get("property")),
        room_type=text_of(entry.get("room_type")),
        check_in=date_of(entry.get("check_in")),
        check_out=date_of(entry.get("check_out")),
        guest_name=text_of(guest.get("name")) if ours else _name(guest.get("name")),
        guest_email=_email(guest.get("email")),
    )


def _confirmation(body: Any, reference: str) -> Outcome:
    if not isinstance(body, dict):
        return Unknown("success without a readable body")
    if "error" in body:
        return Unknown("success with an error in the body")
    try:
        result = {"booking_id": text_of(body.get("booking_id")), "reference": text_of(body.get("reference"))}
        result["status"] = _status(body.get("status"))
        result |= _repeated(body)
    except ValueError:
        return Unknown("success without a usable id, reference, status or stay")
    if result["reference"] != reference:
        return Unknown("success with another reference")
    if result["status"] != "confirmed":
        return Unknown("success for a booking that is not confirmed")
    return Done(result)


def _repeated(body: dict[str, Any]) -> dict[str, str]:
    """The parts of the stay that a confirmation repeats; it may leave any of them out. Raises ValueError."""
    parse: dict[str, Callable[[Any], str]] = {"check_in": date_of, "check_out": date_of}
    said = {name: parse.get(name, text_of)(body[name]) for name in _STAY if body.get(name) is not None}
    guest = body.get("guest")
    if isinstance(guest, dict) and guest.get("name") is not None:
        said["guest_name"] = text_of(guest["name"])
    return said


def _bookings(body: Any, reference: str) -> Listing:
    listed = body.get("bookings") if isinstance(body, dict) and "error" not in body else None
    if not isinstance(listed, list):
        return Unknown("the look-up's answer is not a list of bookings")
    try:
        found = [reservation_of(entry) for entry in listed]
    except ValueError:  # a dropped entry could be the very one that was looked for
        return Unknown("the look-up's answer has an unreadable entry")
    return [booking for booking in found if booking.reference == reference]


def our_mistake(reply: Reply, error: _Error | None, *, may_forbid: bool) -> Misconfigured | None:
    """Whether our credentials or our address are wrong. `may_forbid`: a 403 may be about the object asked for."""
    code = error["code"] if error else None
    match reply.status:
        case 401:
            ours = True
        case 403:
            ours = not (may_forbid and code == "forbidden")
        case 404 | 405:
            ours = error is None  # something answers there, but not this contract
        case status:
            ours = is_redirect(status)
    return Misconfigured(cause_of(reply, error), reply.status == 401 or code == "unauthorized") if ours else None


def is_redirect(status: int) -> bool:
    """Whether the answer points elsewhere. It is never followed."""
    return 300 <= status < 400


def refusal_of(reply: Reply, error: _Error | None) -> Rejected | None:
    """The positive rules: only these combinations of status, code and content say that nothing was executed."""
    if error is None:
        return None
    cause = cause_of(reply, error)
    field = _field(error)
    match reply.status, error["code"]:
        case 409, "sold_out":
            return Rejected("sold_out", cause)
        case 409, "price_changed" if price := price_of(error.get("price")):
            return Rejected("price_changed", cause, {"price": price})
        case ((400 | 422), "invalid") if field:
            return Rejected("refused_argument", cause, {"field": field, "problem": _problem(error)})
        case 404, "not_found":
            return Rejected("not_found", cause, {"what": f"The {field}" if field else "What was asked for"})
        case 403, "forbidden":
            return Rejected("denied", cause)
        case _:
            return None


def json_of(body: bytes) -> Any:
    """The body as JSON, or None; None is no answer in this contract either."""
    try:
        return json.loads(body.decode())
    except (ValueError, RecursionError):  # RecursionError: a megabyte of brackets
        return None


def error_of(body: Any) -> _Error | None:
    """The error object, if the body has the contract's error shape with a code that the contract knows."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return None
    code = error.get("code")
    return error if isinstance(code, str) and code in CODES else None


def cause_of(reply: Reply, error: _Error | None) -> str:
    """What the log says of the reply."""
    return f"HTTP {reply.status} {error['code']}" if error else f"HTTP {reply.status}"


def wait_of(reply: Reply, now: datetime) -> float | None:
    """How long the reply asks to wait, seconds."""
    return retry_after(reply.headers.get("retry-after"), now)


def text_of(value: Any) -> str:
    """A non-empty line that a database takes, unchanged. Raises ValueError."""
    if not isinstance(value, str) or len(value) > _LONGEST or one_line(value) != value:
        raise ValueError("not a usable text")
    return value


def _name(value: Any) -> str:
    """As it can be read; empty where it can't, which equals nobody's."""
    try:
        return text_of(value)
    except ValueError:
        return ""


def _email(value: Any) -> str:
    """For comparing only. One that is there but not usable is not as good as none: it must equal nobody's."""
    try:
        return "" if value in (None, "") else text_of(value)
    except ValueError:
        return "?"


def _status(value: Any) -> str:
    if value not in ("confirmed", "cancelled"):
        raise ValueError("unknown status")
    return str(value)


def date_of(value: Any) -> str:
    """A plain calendar date. Raises ValueError."""
    if not isinstance(value, str) or date.fromisoformat(value).isoformat() != value:
        raise ValueError("not a plain date")
    return value


def _field(error: _Error) -> str | None:
    value = error.get("field")
    return value if isinstance(value, str) and _FIELD.fullmatch(value) else None


def _problem(error: _Error) -> str:
    """The provider's own words, if they are one short line: a language model will read them."""
    try:
        return text_of(error["message"])
    except ValueError:
        return "it was refused"


def price_of(value: Any) -> str | None:
    """ "190.00 EUR" of {"amount": "190.00" or 190.0, "currency": "EUR"}; None for anything else."""
    if not isinstance(value, dict):
        return None
    amount, currency = value.get("amount"), value.get("currency")
    if isinstance(amount, int | float) and not isinstance(amount, bool):
        amount = _decimal(amount)
    if not (isinstance(amount, str) and _AMOUNT.fullmatch(amount)):
        return None
    return f"{amount} {currency}" if isinstance(currency, str) and _CURRENCY.fullmatch(currency) else None


def _decimal(amount: float) -> str | None:
    try:
        return f"{Decimal(repr(amount)):.2f}"
    except (InvalidOperation, ValueError):  # ValueError: an integer of thousands of digits
        return None
