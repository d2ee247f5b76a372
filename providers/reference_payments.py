"""The reference contract's refunds as requests. Pure.

The bytes that stand for a refund also name the payment, which the contract has in the path.
"""

import json
from decimal import Decimal
from urllib.parse import quote, urlencode

#: What a refund asks for, beside whose payment it is.
_SENT = ("amount", "currency", "reference")


def refund_body(payment_id: str, amount: Decimal, currency: str, reference: str) -> bytes:
    """Compact ASCII JSON in a fixed order; the amount as plain text, never as a float."""
    values = {"payment_id": payment_id, "amount": f"{amount:f}", "currency": currency, "reference": reference}
    return json.dumps(values, separators=(",", ":")).encode()


def refund_request(asked: dict[str, str]) -> tuple[str, bytes]:
    """The path and the body of the call. `asked` is a parsed `refund_body`."""
    body = {name: asked[name] for name in _SENT}
    path = f"/v1/payments/{quote(asked['payment_id'], safe='')}/refunds"
    return path, json.dumps(body, separators=(",", ":")).encode()


def refunds_path(reference: str) -> str:
    """All refunds with this reference, whatever they were given back of."""
    return f"/v1/refunds?{urlencode({'reference': reference})}"
