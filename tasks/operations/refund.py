"""Money given back. Looked up by our reference, which every refund carries."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from booking import keys
from booking.arguments import RefundPayment
from booking.capabilities import Capabilities
from booking.effects import Effect
from booking.errors import tool_error
from booking.guests import within_limit
from booking.outcomes import Absent, Finding, Found, Mismatched, Outcome, Payment, Refund, Rejected
from booking.states import Kind, Queue
from dedupe.items import Item
from dedupe.submission import Wanted
from providers.ports import Line, Payments
from tasks.operations.port import Asking, Tool, provider_of


def _wanted(asking: Asking, arguments: RefundPayment) -> list[Wanted]:
    """The money is the tenant's, so the identity is, too: two conversations don't give the same twice."""
    secret, tenant = asking.caller.secret, asking.caller.tenant_id
    provider = provider_of(asking.properties, arguments.property, lambda hotel: hotel.refunds_at)
    amount = f"{arguments.amount.amount.normalize():f}"
    identity = {
        "provider": provider,
        "payment": arguments.payment_id,
        "amount": amount,
        "currency": arguments.amount.currency,
    }
    allowed = within_limit(arguments.amount.amount, asking.caller.settings)
    said = f"{amount} {arguments.amount.currency}"
    return [
        Wanted(
            base=keys.base_key(secret, tenant, Effect.REFUND, identity),
            # With another limit it may be asked for again.
            fingerprint=keys.fingerprint(secret, [identity, allowed]),
            request={"payment_id": arguments.payment_id, "amount": amount, "currency": arguments.amount.currency},
            scope=tenant,
            effect=Effect.REFUND,
            queue=Queue.BOOKINGS.of(provider),
            provider=provider,
            subject=arguments.payment_id,
            additional=arguments.additional,
            most=asking.caller.settings.max_refund,
            refusal=None if allowed else tool_error("over_limit", amount=said),
        )
    ]


class Repayment:
    """A refund (see `port.Operation`)."""

    effect = Effect.REFUND

    def capabilities(self, declared: Capabilities) -> Capabilities:
        """Where the payment can be seen, it is looked at first."""
        return replace(declared, looks_first=self.effect in declared.shows)

    def provider(self, item: Item, kind: Kind) -> str:
        """The payment system, for all calls."""
        return item.provider

    def body(self, payments: Payments, item: Item) -> bytes:
        """The refund request."""
        return payments.refund_body(item.request["payment_id"], _amount(item), item.request["currency"], item.reference)

    def write(self, payments: Payments, line: Line, item: Item, body: bytes) -> Outcome:
        """Send the refund."""
        outcome = payments.refund(line, body, item.provider_key)
        return _told(item, outcome) if isinstance(outcome, Rejected) else outcome

    def check(self, payments: Payments, line: Line, item: Item, begun_at: datetime) -> Finding:
        """Look at the payment before the first write; after it, for the refund."""
        if not item.sends and self.effect in payments.capabilities.shows:
            return _before(item, payments.get_payment(line, item.request["payment_id"]), begun_at)
        found = payments.find_refunds(line, item.request["payment_id"], item.reference)
        if not isinstance(found, list):
            return found
        if not found:
            return Absent(begun_at)
        good = [refund for refund in found if refund.live and _matches(item, refund)]
        if not good:
            return Mismatched(f"{found[0].refund_id} has failed or has other values", begun_at)
        first, *others = good
        return Found(_shown(first), begun_at, first.refund_id, tuple(refund.refund_id for refund in others))

    def provider_id(self, result: dict[str, object]) -> str:
        """The refund id."""
        return str(result["refund_id"])


def _before(item: Item, payment: object, begun_at: datetime) -> Finding:
    if isinstance(payment, Rejected):
        return _told(item, payment)
    if not isinstance(payment, Payment):
        return payment  # type: ignore[return-value]  # no answer: NotSent, Unknown, Misconfigured
    if payment.currency != item.request["currency"]:
        return _refused("amount.currency", f"this payment is in {payment.currency}")
    if _amount(item) > payment.left:
        return _refused("amount.amount", f"at most {payment.left} {payment.currency} can be given back")
    return Absent(begun_at)


def _refused(field: str, problem: str) -> Rejected:
    return Rejected("refused_argument", field, {"field": field, "problem": problem})


def _told(item: Item, refused: Rejected) -> Rejected:
    what = {"what": f"Payment {item.request['payment_id']}"} if refused.row == "not_found" else {}
    return Rejected(refused.row, refused.cause, {**item.request, **refused.values, **what})


def _matches(item: Item, refund: Refund) -> bool:
    ours = (item.request["payment_id"], _amount(item), item.request["currency"])
    return (refund.payment_id, refund.amount, refund.currency) == ours


def _amount(item: Item) -> Decimal:
    return Decimal(item.request["amount"])


def _shown(refund: Refund) -> dict[str, str]:
    return {
        "refund_id": refund.refund_id,
        "payment_id": refund.payment_id,
        "amount": f"{refund.amount:f}",
        "currency": refund.currency,
    }


REFUND = Repayment()

TOOLS = (Tool("refund_payment", RefundPayment, _wanted),)
