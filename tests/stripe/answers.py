"""Answers of Stripe, and what they are taken for."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic import SecretStr

from booking.settings import Provider, ProviderKind
from providers.line import Reply
from providers.ports import Payments
from providers.stripe_payments import StripePayments, stripe_payments
from providers.stripe_replies import Asked, classify_payment, classify_refund, classify_refunds
from tests.stripe.running import SECRET

NOW = datetime(2026, 12, 4, 18, 40, tzinfo=UTC)
OURS = "rkaaaaaaaaaaaaaaaaaa"
INTENT, CHARGE = "pi_1001", "ch_1001"
REFUND: dict[str, Any] = {
    "id": "re_1001",
    "object": "refund",
    "amount": 1050,
    "charge": CHARGE,
    "currency": "eur",
    "metadata": {"reference": OURS},
    "payment_intent": INTENT,
    "reason": None,
    "status": "succeeded",
}
OF_CHARGE: dict[str, Any] = {
    "id": CHARGE,
    "object": "charge",
    "amount_captured": 1800,
    "amount_refunded": 300,
    "currency": "eur",
}
OF_INTENT: dict[str, Any] = {"id": INTENT, "object": "payment_intent", "currency": "eur", "latest_charge": OF_CHARGE}
ASKED = Asked(INTENT, 1050, "EUR", OURS)
DONE = {"refund_id": "re_1001", "payment_id": INTENT, "amount": "10.50", "currency": "EUR"}


def reply(status: int, body: Any = b"", **headers: str) -> Reply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


def error(type: str = "invalid_request_error", **more: Any) -> dict[str, Any]:
    return {"error": {"type": type, "message": "it is refused", **more}}


def page(*entries: Any, has_more: Any = False) -> dict[str, Any]:
    return {"object": "list", "data": list(entries), "has_more": has_more}


def refund(status: int, body: Any = b"", asked: Asked = ASKED, **headers: str) -> Any:
    return classify_refund(reply(status, body, **headers), asked, NOW)


def payment(status: int, body: Any = b"", payment_id: str = INTENT, **headers: str) -> Any:
    return classify_payment(reply(status, body, **headers), payment_id, NOW)


def refunds(status: int, body: Any = b"", payment_id: str = INTENT, **headers: str) -> Any:
    return classify_refunds(reply(status, body, **headers), payment_id, OURS, NOW)


def adapter(url: str | None, **settings: Any) -> StripePayments:
    """The adapter for the server of these tests, impatient."""
    usual = {"kind": ProviderKind.STRIPE, "url": url, "token": SecretStr(SECRET), "write_deadline": 0.5}
    return stripe_payments(Provider(**usual | settings))


def give_back(
    stripe: Payments,
    amount: str = "10.50",
    payment: str = INTENT,
    *,
    currency: str = "EUR",
    reference: str = OURS,
    key: str = "demo:refund:1:0",
) -> Any:
    return stripe.refund(stripe.connect(), stripe.refund_body(payment, Decimal(amount), currency, reference), key)


def look(stripe: Payments, payment: str = INTENT, reference: str = OURS) -> Any:
    return stripe.find_refunds(stripe.connect(), payment, reference)
