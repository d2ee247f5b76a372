"""What the Stripe-shaped server knows: payments, what was refunded of them, and its refusals. No HTTP, no waiting."""

from dataclasses import dataclass, field
from typing import Any

#: What a refund may be asked with; other names are refused, as Stripe does.
PARAMETERS = {"payment_intent", "charge", "amount", "reason"}


@dataclass
class Charge:
    """Money taken, in minor units. `refund_status` is what refunds of it will have."""

    id: str
    intent: str | None
    amount: int
    captured: int
    currency: str
    refund_status: str = "succeeded"
    disputed: bool = False
    refunded: int = 0

    def shown(self) -> dict[str, Any]:
        """As the API shows it."""
        return {
            "id": self.id,
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.captured,
            "amount_refunded": self.refunded,
            "captured": self.captured > 0,
            "currency": self.currency,
            "disputed": self.disputed,
            "payment_intent": self.intent,
            "refunded": self.refunded == self.amount,
        }


class Refusal(Exception):
    """An error answer. `executed`: the endpoint had begun, so the answer is kept under the call's key."""

    def __init__(self, status: int, *, executed: bool = True, **error: Any) -> None:
        super().__init__(error.get("message"))
        self.status = status
        self.executed = executed
        self.body = {"error": {"type": "invalid_request_error", **error}}


@dataclass
class Books:
    """Payments by id; refunds, oldest first."""

    charges: dict[str, Charge] = field(default_factory=dict)
    #: Intent id -> its currency, its amount and its charge's id, or None where nobody has paid yet.
    intents: dict[str, tuple[str, int, str | None]] = field(default_factory=dict)
    refunds: list[dict[str, Any]] = field(default_factory=list)

    def seed(self, id: str, amount: int, currency: str = "eur", *, paid: bool = True, **more: Any) -> None:
        """A payment: an intent (pi_…) with its charge, or a charge alone (ch_…). `more`: a Charge's other fields."""
        intent = id if id.startswith("pi_") else None
        charge = Charge(id.replace("pi_", "ch_"), intent, amount, more.pop("captured", amount), currency, **more)
        if intent:
            self.intents[intent] = (currency, amount, charge.id if paid else None)
        if paid:
            self.charges[charge.id] = charge

    def intent(self, id: str, *, expand: bool) -> dict[str, Any]:
        """A payment intent, its charge inside if that was asked for."""
        if id not in self.intents:
            raise Refusal(404, code="resource_missing", param="intent", message=f"No such payment_intent: '{id}'")
        currency, amount, charge_id = self.intents[id]
        charge = self.charges[charge_id] if charge_id else None
        return {
            "id": id,
            "object": "payment_intent",
            "amount": amount,
            "amount_received": charge.captured if charge else 0,
            "currency": currency,
            "latest_charge": charge.shown() if charge and expand else charge_id,
            "status": "succeeded" if charge and charge.captured else "requires_payment_method",
        }

    def charge(self, id: str) -> dict[str, Any]:
        """A charge."""
        return self._charge(id, "charge").shown()

    def refund(self, form: dict[str, str]) -> dict[str, Any]:
        """Give back part or all; never more than was taken."""
        amount = _amount(form)
        charge = self._paid(form)
        left = charge.captured - charge.refunded
        if charge.disputed:
            raise Refusal(400, code="charge_disputed", message=f"Charge {charge.id} has been charged back.")
        if left == 0:
            raise Refusal(400, code="charge_already_refunded", message=f"Charge {charge.id} has already been refunded.")
        if amount > left:
            message = f"Refund amount ({amount}) is greater than unrefunded amount on charge ({left})"
            raise Refusal(400, param="amount", message=message)
        return self._record(charge, amount, form)

    def listed(self, query: dict[str, str]) -> dict[str, Any]:
        """A page of refunds, the newest first."""
        by = [name for name in ("payment_intent", "charge") if name in query]
        found = [refund for refund in reversed(self.refunds) if all(refund[name] == query[name] for name in by)]
        ids = [refund["id"] for refund in found]
        begin = ids.index(query["starting_after"]) + 1 if "starting_after" in query else 0
        limit = int(query.get("limit", "10"))
        page = found[begin : begin + limit]
        return {"object": "list", "url": "/v1/refunds", "data": page, "has_more": len(found) > begin + limit}

    def _paid(self, form: dict[str, str]) -> Charge:
        if "payment_intent" not in form:
            return self._charge(form["charge"], "charge")
        charge_id = self.intents.get(form["payment_intent"], ("", 0, None))[2]
        return self._charge(charge_id or form["payment_intent"], "payment_intent")

    def _charge(self, id: str, param: str) -> Charge:
        if id not in self.charges:
            raise Refusal(404, code="resource_missing", param=param, message=f"No such {param}: '{id}'")
        return self.charges[id]

    def _record(self, charge: Charge, amount: int, form: dict[str, str]) -> dict[str, Any]:
        if charge.refund_status in ("succeeded", "pending", "requires_action"):
            charge.refunded += amount
        refund = {
            "id": f"re_{1001 + len(self.refunds)}",
            "object": "refund",
            "amount": amount,
            "charge": charge.id,
            "currency": charge.currency,
            "metadata": {name[9:-1]: value for name, value in form.items() if name.startswith("metadata[")},
            "payment_intent": charge.intent,
            "reason": form.get("reason"),
            "status": charge.refund_status,
        }
        self.refunds.append(refund)
        return refund


def check(form: dict[str, str]) -> None:
    """What is refused before the endpoint begins. Raises Refusal."""
    unknown = [name for name in form if name not in PARAMETERS and not name.startswith("metadata[")]
    if unknown:
        message = f"Received unknown parameter: {unknown[0]}"
        raise Refusal(400, executed=False, code="parameter_unknown", param=unknown[0], message=message)
    if not {"payment_intent", "charge"} & set(form):
        raise Refusal(400, executed=False, code="parameter_missing", message="One of charge, payment_intent is needed")
    if "amount" in form and not form["amount"].isdecimal():
        message = f"Invalid integer: {form['amount']}"
        raise Refusal(400, executed=False, code="parameter_invalid_integer", param="amount", message=message)


def _amount(form: dict[str, str]) -> int:
    amount = int(form["amount"])
    if amount < 1:
        raise Refusal(400, code="parameter_invalid_integer", param="amount", message="This value must be at least 1.")
    return amount
