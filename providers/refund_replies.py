"""What an answer to a refund of the reference contract means. Pure, and by positive rules, like `providers.replies`."""

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from booking.errors import ErrorCode
from booking.outcomes import Done, NotSent, Outcome, Refund, Rejected, Unknown
from providers.line import Reply
from providers.ports import Refunds
from providers.replies import (
    cause_of,
    error_of,
    is_redirect,
    json_of,
    our_mistake,
    refusal_of,
    text_of,
    wait_of,
)

#: The contract's one status of a refund. Any other says nothing that we know.
_REFUNDED = "refunded"
#: Refusals that a refund may meet. The others of the contract are about rooms.
_ROWS = {"refused_argument", "not_found", "denied"}
#: The contract's fields as the model knows them: it was asked for {"amount": {"amount", "currency"}}.
_FIELDS = {"amount": "amount.amount", "currency": "amount.currency"}
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,3})?")
_CURRENCY = re.compile(r"[A-Z]{3}")


def classify_refund(reply: Reply, asked: dict[str, str], now: datetime) -> Outcome:
    """How a refund ended. `asked` is the parsed body of `providers.reference_payments.refund_body`."""
    body = json_of(reply.body)
    if reply.status in (200, 201):
        return _confirmation(body, asked)
    error = error_of(body)
    # A redirect after a POST often means "done, look there": it is no rule's, so it is looked up.
    if not is_redirect(reply.status) and (mistake := our_mistake(reply, error, may_forbid=True)):
        return mistake
    if reply.status == 429:
        return NotSent(cause_of(reply, error), ErrorCode.RATE_LIMITED, wait_of(reply, now))
    refused = refusal_of(reply, error)
    if refused is not None and refused.row in _ROWS:
        return _named(refused)
    return Unknown(cause_of(reply, error), wait_of(reply, now))


def classify_refunds(reply: Reply, payment_id: str, reference: str, now: datetime) -> Refunds:
    """What a look-up told: the refunds that carry exactly `reference`, or why it told nothing."""
    body = json_of(reply.body)
    if reply.status == 200:
        return _refunds(body, payment_id, reference)
    error = error_of(body)
    if mistake := our_mistake(reply, error, may_forbid=False):
        return mistake
    if reply.status == 429:
        return NotSent(cause_of(reply, error), ErrorCode.RATE_LIMITED, wait_of(reply, now))
    return Unknown(cause_of(reply, error), wait_of(reply, now))


def _confirmation(body: Any, asked: dict[str, str]) -> Outcome:
    try:
        made = _refund(body)
    except ValueError:
        return Unknown("success with an error, or without a usable id, reference, amount or status")
    ours = Refund(
        made.refund_id, asked["payment_id"], asked["reference"], Decimal(asked["amount"]), asked["currency"], True
    )
    if made != ours:
        return Unknown("success for another payment, reference or amount")
    return Done(
        {
            "refund_id": made.refund_id,
            "payment_id": made.payment_id,
            "amount": asked["amount"],
            "currency": made.currency,
        }
    )


def _refunds(body: Any, payment_id: str, reference: str) -> Refunds:
    listed = body.get("refunds") if isinstance(body, dict) and "error" not in body else None
    if not isinstance(listed, list):
        return Unknown("the look-up's answer is not a list of refunds")
    try:
        found = [_refund(entry) for entry in listed]
    except ValueError:  # a dropped entry could be the very one that was looked for
        return Unknown("the look-up's answer has an unreadable entry")
    ours = [refund for refund in found if refund.reference == reference]
    if any(refund.payment_id != payment_id for refund in ours):
        return Unknown("a refund of another payment carries our reference")
    return ours


def _refund(entry: Any) -> Refund:
    """A refund as the contract shows it. Raises ValueError for anything else."""
    if not isinstance(entry, dict) or "error" in entry or entry.get("status") != _REFUNDED:
        raise ValueError("not a refund")
    currency = entry.get("currency")
    if not (isinstance(currency, str) and _CURRENCY.fullmatch(currency)):
        raise ValueError("not a currency")
    return Refund(
        refund_id=text_of(entry.get("refund_id")),
        payment_id=text_of(entry.get("payment_id")),
        reference=text_of(entry.get("reference")),
        amount=_amount(entry.get("amount")),
        currency=currency,
        live=True,
    )


def _amount(value: Any) -> Decimal:
    """An amount as text or as a number, exactly. Raises ValueError."""
    text = repr(value) if isinstance(value, int | float) else value
    if not (isinstance(text, str) and _AMOUNT.fullmatch(text)):
        raise ValueError("not an amount")
    return Decimal(text)


def _named(refused: Rejected) -> Rejected:
    """The refusal with its object and field named as the model knows them."""
    values = {"what": "The payment"} if refused.row == "not_found" else dict(refused.values)
    if "field" in values:
        values["field"] = _FIELDS.get(values["field"], values["field"])
    return Rejected(refused.row, refused.cause, values)
