"""Captured payments and what was refunded of them."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from providers.simulator.contract import RefundPayment
from providers.simulator.errors import PmsError, invalid, not_found


@dataclass
class Payment:
    """Money taken. `refundable` is False where another company took it."""

    id: str
    booking_id: str | None
    amount: Decimal
    currency: str
    refunded: Decimal = Decimal(0)
    refundable: bool = True


def _premade() -> tuple[Payment, ...]:
    return (
        Payment("P-501", None, Decimal("180.00"), "EUR"),
        Payment("P-502", None, Decimal("240.00"), "NZD"),
        Payment("P-503", None, Decimal("310.00"), "USD"),
        Payment("P-504", None, Decimal("500.00"), "EUR", refundable=False),
    )


class Payments:
    """Payments by id, refunds by reference."""

    def __init__(self) -> None:
        self.all = {payment.id: payment for payment in _premade()}
        self._refunds: list[dict[str, Any]] = []
        self._by_reference: dict[str, list[dict[str, Any]]] = {}

    def capture(self, id: str, booking_id: str, amount: Decimal, currency: str) -> str:
        """Take the money of a booking; gives the payment's id."""
        self.all[id] = Payment(id, booking_id, amount, currency)
        return id

    def refund(self, payment_id: str, asked: RefundPayment, now: datetime) -> dict[str, Any]:
        """Give back part or all; never more than was taken."""
        payment = self.all.get(payment_id)
        if payment is None:
            raise not_found("payment")
        if not payment.refundable:
            raise PmsError(403, "forbidden", "this payment was taken by a travel agency and is not ours to refund")
        if asked.currency != payment.currency:
            raise invalid("currency", f"this payment is in {payment.currency}")
        left = payment.amount - payment.refunded
        if asked.amount > left:
            raise invalid("amount", f"at most {left} {payment.currency} can be refunded")
        payment.refunded += asked.amount
        return self._record(payment, asked, now)

    def refunds_of(self, reference: str) -> list[dict[str, Any]]:
        """Refunds with exactly this reference."""
        return self._by_reference.get(reference, [])

    def _record(self, payment: Payment, asked: RefundPayment, now: datetime) -> dict[str, Any]:
        refund = {
            "refund_id": f"R-{1001 + len(self._refunds)}",
            "payment_id": payment.id,
            "booking_id": payment.booking_id,
            "reference": asked.reference,
            "amount": str(asked.amount.quantize(Decimal("0.01"))),
            "currency": payment.currency,
            "status": "refunded",
            "created_at": now.isoformat(),
        }
        self._refunds.append(refund)
        self._by_reference.setdefault(asked.reference, []).append(refund)
        return refund
