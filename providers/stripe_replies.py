"""What an answer of Stripe means. Pure, and by positive rules: what no rule names is Unknown.

The rules are those of its documented error bodies: status, type, code and param. Its texts go no further than checked
ids and one bounded line; its types and codes are repeated in a cause only if a rule knows them.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from booking.errors import ErrorCode
from booking.outcomes import Done, Misconfigured, NotSent, Outcome, Payment, Refund, Rejected, Unknown
from providers.line import Reply
from providers.ports import NoAnswer, Refunds
from providers.replies import is_redirect, json_of, text_of, wait_of
from providers.stripe_amounts import CONTRADICTED, amount_of

#: The `type` of an error. A body with another one is not an answer of Stripe.
_TYPES = frozenset({"api_error", "card_error", "idempotency_error", "invalid_request_error"})
#: This payment can't be refunded any more, by anybody's different request.
_NOT_REFUNDABLE = frozenset({"charge_disputed", "refund_disputed_payment", "charge_not_refundable"})
#: The `code`s of an error that are repeated in a cause.
CODES = _NOT_REFUNDABLE | {
    *("resource_missing", "charge_already_refunded", "amount_too_large", "amount_too_small"),
    *("rate_limit", "lock_timeout", "idempotency_key_in_use", "api_key_expired", "parameter_unknown"),
}
#: A refund's `status`. `requires_action` and what is new are neither: the money may yet go, or not.
_LIVE = frozenset({"succeeded", "pending"})
_DEAD = frozenset({"failed", "canceled"})
_CURRENCY = re.compile(r"[a-z]{3}")
NOT_FOUND = {"what": "The payment"}

_Error = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A refund as it was asked for; `units` are the currency's minor ones."""

    payment: str
    units: int
    currency: str
    reference: str


def classify_refund(reply: Reply, asked: Asked, now: datetime) -> Outcome:
    """How a refund ended."""
    body = json_of(reply.body)
    if reply.status == 200:
        return _confirmation(body, asked)
    error = error_of(body)
    # A redirect after a POST often means "done, look there": it is no rule's, so it is looked up.
    mistake = None if is_redirect(reply.status) else _our_mistake(reply, error)
    return mistake or _limited(reply, error, now) or _refusal(reply, error) or _unknown(reply, error, now)


def classify_payment(reply: Reply, payment_id: str, now: datetime) -> Payment | NoAnswer:
    """What can still be given back of a payment. An intent must have its charge inside (`expand`)."""
    body = json_of(reply.body)
    if reply.status == 200:
        return _payment(body, payment_id)
    error = error_of(body)
    if other := _our_mistake(reply, error) or _limited(reply, error, now):
        return other
    return _missing(reply, error) or _unknown(reply, error, now)


def classify_refunds(reply: Reply, payment_id: str, reference: str, now: datetime) -> Refunds:
    """What a look-up told: the payment's refunds that carry exactly `reference`, or why it told nothing."""
    body = json_of(reply.body)
    if reply.status == 200:
        return _refunds(body, payment_id, reference)
    error = error_of(body)
    return _our_mistake(reply, error) or _limited(reply, error, now) or _unknown(reply, error, now)


def paid_by(payment_id: str) -> str:
    """What Stripe calls the payment in requests and refunds: an intent, or the charge itself."""
    return "payment_intent" if payment_id.startswith("pi_") else "charge"


def error_of(body: Any) -> _Error | None:
    """The error object, if the body has Stripe's error shape with a type that is known."""
    error = body.get("error") if isinstance(body, dict) else None
    kind = error.get("type") if isinstance(error, dict) else None
    return error if isinstance(kind, str) and kind in _TYPES else None


def _our_mistake(reply: Reply, error: _Error | None) -> Misconfigured | None:
    """Whether our key or our address is wrong. Stripe's 403 is about the key, never about the payment."""
    match reply.status:
        case 401 | 403:
            ours = True
        case 404 | 405:  # something answers there, but not this API; or it does, and doesn't know the path
            ours = error is None or (error.get("code") is None and error.get("param") is None)
        case status:
            ours = is_redirect(status)
    return Misconfigured(_cause(reply, error), reply.status == 401) if ours else None


def _limited(reply: Reply, error: _Error | None, now: datetime) -> NotSent | None:
    """The limits, and a lock that was not had in time, come before anything is executed."""
    if reply.status != 429:
        return None
    return NotSent(_cause(reply, error), ErrorCode.RATE_LIMITED, wait_of(reply, now))


def _refusal(reply: Reply, error: _Error | None) -> Rejected | None:
    """The positive rules: only these combinations of status, type, code and param say that nothing was given back."""
    if error is None:
        return None
    match reply.status, error["type"], error.get("code"), error.get("param"):
        case 400, "invalid_request_error", "charge_already_refunded", _:
            return _amount_refused(reply, error)
        case 400, "invalid_request_error", _, "amount":
            return _amount_refused(reply, error)
        case 400, "invalid_request_error", str(code), _ if code in _NOT_REFUNDABLE:
            return Rejected("denied", _cause(reply, error))
        case 402, "card_error", _, _:
            return Rejected("denied", _cause(reply, error))
        case _:
            return _missing(reply, error)


def _missing(reply: Reply, error: _Error | None) -> Rejected | None:
    if error is None or (error["type"], error.get("code")) != ("invalid_request_error", "resource_missing"):
        return None
    return Rejected("not_found", _cause(reply, error), NOT_FOUND) if reply.status in (400, 404) else None


def _amount_refused(reply: Reply, error: _Error) -> Rejected:
    try:
        problem = text_of(error.get("message"))
    except ValueError:
        problem = "it was refused"
    return Rejected("refused_argument", _cause(reply, error), {"field": "amount.amount", "problem": problem})


def _unknown(reply: Reply, error: _Error | None, now: datetime) -> Unknown:
    return Unknown(_cause(reply, error), wait_of(reply, now))


def _cause(reply: Reply, error: _Error | None) -> str:
    code = error.get("code") if error else None
    said = [error["type"]] if error else []
    said += [code] if isinstance(code, str) and code in CODES else []
    return " ".join([f"HTTP {reply.status}", *said])


def _confirmation(body: Any, asked: Asked) -> Outcome:
    try:
        refund_id, units, currency = _made(body, asked.payment)
        reference = _reference(body)
    except ValueError:
        return Unknown("success with an error, or without a usable id, payment, amount or currency")
    if (units, currency, reference) != (asked.units, asked.currency, asked.reference):
        return Unknown("success with another reference, amount or currency")
    status = body.get("status")
    if not isinstance(status, str) or status not in _LIVE | _DEAD:
        return Unknown("success for a refund that is neither on its way nor refused")
    if status in _DEAD:
        return Rejected("denied", f"the refund {status}")
    amount = f"{amount_of(units, currency):f}"
    return Done({"refund_id": refund_id, "payment_id": asked.payment, "amount": amount, "currency": currency})


def _payment(body: Any, payment_id: str) -> Payment | NoAnswer:
    try:
        currency, left = _left(body, payment_id)
        if currency in CONTRADICTED:
            return Rejected("denied", f"amounts in {currency} are documented in two ways")
        return Payment(payment_id, currency, amount_of(left, currency))
    except ValueError:
        return Unknown("the answer is not the payment that was asked for")


def _left(body: Any, payment_id: str) -> tuple[str, int]:
    """The currency, and the minor units that were taken and not given back yet. Raises ValueError."""
    if _is(body, paid_by(payment_id)).get("id") != payment_id:
        raise ValueError("another payment")
    currency = _currency(body)
    charge = body.get("latest_charge", ...) if paid_by(payment_id) == "payment_intent" else body
    if charge is None:  # nobody has paid yet
        return currency, 0
    taken, given = _whole(_is(charge, "charge"), "amount_captured"), _whole(charge, "amount_refunded")
    if _currency(charge) != currency:
        raise ValueError("a charge in another currency")
    return currency, taken - given  # less than nothing is no amount, see `amount_of`


def _refunds(body: Any, payment_id: str, reference: str) -> Refunds:
    try:
        listed, more = _is(body, "list").get("data"), body.get("has_more")
        if not isinstance(listed, list) or not isinstance(more, bool):
            raise ValueError("not a page")
        ours = [
            _refund(entry, payment_id, reference)
            for entry in listed
            if _reference(_of_payment(entry, payment_id)) == reference
        ]
    except ValueError:  # a dropped entry could be the very one that was looked for
        return Unknown("the look-up's answer is not a readable list of the payment's refunds")
    if more and not ours:
        return Unknown("the payment has more refunds than one call tells")
    return ours


def _refund(entry: dict[str, Any], payment_id: str, reference: str) -> Refund:
    refund_id, units, currency = _made(entry, payment_id)
    status = entry.get("status")
    if not isinstance(status, str) or status not in _LIVE | _DEAD:
        raise ValueError("neither on its way nor refused")
    return Refund(refund_id, payment_id, reference, amount_of(units, currency), currency, status in _LIVE)


def _made(entry: dict[str, Any], payment_id: str) -> tuple[str, int, str]:
    """The id, minor units and currency of a refund of this payment. Raises ValueError."""
    _of_payment(entry, payment_id)
    return text_of(entry.get("id")), _whole(entry, "amount"), _currency(entry)


def _of_payment(entry: Any, payment_id: str) -> dict[str, Any]:
    """`entry`, if it is a refund of this payment. Raises ValueError."""
    refund = _is(entry, "refund")
    if refund.get(paid_by(payment_id)) != payment_id:
        raise ValueError("a refund of another payment")
    return refund


def _reference(entry: dict[str, Any]) -> object:
    """Our reference on a refund; None without one. Raises ValueError."""
    metadata = entry.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise ValueError("not metadata")
    return metadata.get("reference") if metadata else None


def _is(value: Any, kind: str) -> dict[str, Any]:
    if not isinstance(value, dict) or "error" in value or value.get("object") != kind:
        raise ValueError(f"not a {kind}")
    return value


def _whole(entry: dict[str, Any], name: str) -> int:
    value = entry.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} is no amount")
    return value


def _currency(entry: dict[str, Any]) -> str:
    value = entry.get("currency")
    if not isinstance(value, str) or not _CURRENCY.fullmatch(value):
        raise ValueError("not a currency")
    return value.upper()
