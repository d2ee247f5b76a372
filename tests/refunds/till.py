"""Refunds as the API would admit them, run by a worker in this process: at the hotel system itself, or at Stripe."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

from pydantic import SecretStr

from booking.answers import intent_answer
from booking.errors import ToolError
from booking.results import IntentAnswer, ItemAnswer
from booking.settings import Property, Provider, ProviderKind, TenantSettings
from booking.states import State
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.items import Item
from dedupe.read import read_intents
from dedupe.submission import KeyKind
from providers.limiter import Limiter
from providers.stripe_payments import StripePayments, stripe_payments
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.runtime import Runtime
from tasks.wake import Waker, redis_client
from tests.changes.house import Wish
from tests.dedupe.rows import CALLER, linked
from tests.pms import Pms
from tests.stripe.running import SECRET, Stripe
from tests.tasks.desk import QUIET, Desk

TOOL = "refund_payment"


class Place(Protocol):
    """Where money is given back."""

    def lose(self, kind: str) -> None:
        """Hit the next refund: after_commit, reset, error (a 5xx after the commit), before, late (held back)."""

    def release(self) -> None:
        """What was held back goes on."""

    def writes(self) -> list[dict[str, Any]]:
        """The refunds that were asked for, as `key` and `effect`."""

    def given(self) -> list[tuple[str, str]]:
        """The refunds that were made: reference and amount."""


@dataclass(frozen=True)
class AtHotel:
    """The reference contract."""

    pms: Pms

    def lose(self, kind: str) -> None:
        kinds: dict[str, tuple[str, dict[str, Any]]] = {
            "after_commit": ("commit_then_timeout", {}),
            "reset": ("reset_after_commit", {}),
            "error": ("status", {"status": 500, "when": "after"}),
            "before": ("html", {"status": 502}),
            "late": ("hold_before_commit", {}),
        }
        name, how = kinds[kind]
        self.pms.fault(name, match={"operation": "refund"}, times=1, **how)

    def release(self) -> None:
        self.pms.release()

    def writes(self) -> list[dict[str, Any]]:
        return self.pms.ledger(operation="refund")

    def given(self) -> list[tuple[str, str]]:
        made = [call for call in self.writes() if call["effect"]]
        return [(call["body"]["reference"], call["body"]["amount"]) for call in made]


@dataclass(frozen=True)
class AtStripe:
    """Stripe's own rules."""

    server: Stripe

    def lose(self, kind: str) -> None:
        kinds = {
            "after_commit": "commit_then_timeout",
            "reset": "reset_after_commit",
            "error": "500_after_commit",
            "before": "html",
            "late": "commit_late",
        }
        self.server.fault(kinds[kind], operation="refund")

    def release(self) -> None:
        self.server.release()

    def writes(self) -> list[dict[str, Any]]:
        return self.server.ledger(operation="refund")

    def given(self) -> list[tuple[str, str]]:
        return [(one["metadata"]["reference"], f"{one['amount'] / 100:g}") for one in self.server.refunds()]


@dataclass(frozen=True)
class Till:
    """One hotel's payments, and one worker. `payment` is one of 180 EUR."""

    desk: Desk
    place: Place
    hotel: Property
    payment: str

    def ask(
        self,
        amount: str = "180.00",
        currency: str = "EUR",
        *,
        payment: str | None = None,
        conversation: str = "c-1",
        header: str | None = None,
        most: int = 500,
        lifetime: float = 600,
        **more: Any,
    ) -> Wish:
        """Admit a refund. `most`: the tenant's limit."""
        money = {"amount": amount, "currency": currency}
        sent = {"payment_id": payment or self.payment, "amount": money, **more}
        caller = replace(CALLER, settings=TenantSettings(max_refund=most))
        asking = Asking(caller, conversation, {"BER": self.hotel})
        own_key: tuple[KeyKind, str] | None = ("header", header) if header else None
        arguments = TOOLS[TOOL].arguments.model_validate(sent)
        admitted = admit(self.desk.engine, submission_of(asking, TOOLS[TOOL], arguments, own_key, lifetime))
        [item] = linked(self.desk.engine, admitted.intent_id)
        return Wish(admitted.intent_id, item)

    def run(self, wish: Wish) -> Item:
        """Run it, which must be possible, and look at it."""
        return self.desk.run(wish.item)

    def later(self, wish: Wish, seconds: float = QUIET, *, expire: bool = False) -> Item:
        """Run it after so long a time."""
        return self.desk.later(wish.item, seconds, expire=expire)

    def refunded(self, amount: str = "180.00", **how: Any) -> Wish:
        """Ask for a refund, which succeeds."""
        wish = self.ask(amount, **how)
        assert self.run(wish).state is State.SUCCEEDED
        return wish

    def refused(self, amount: str, currency: str = "EUR", **how: Any) -> ToolError:
        """Ask for a refund, which fails at once."""
        wish = self.ask(amount, currency, **how)
        assert self.run(wish).state is State.FAILED
        return self.error(wish)

    def answer(self, wish: Wish) -> IntentAnswer:
        """The intent as the agent reads it."""
        return intent_answer(read_intents(self.desk.engine, [wish.intent])[wish.intent])

    def told(self, wish: Wish) -> ItemAnswer:
        """Its one item as the agent reads it."""
        [item] = self.answer(wish).items
        return item

    def error(self, wish: Wish) -> ToolError:
        """Why it failed, or can't be told yet."""
        error = self.answer(wish).error
        assert error is not None
        return error

    def attempts(self, wish: Wish) -> list[tuple[str, str | None]]:
        return self.desk.attempts(wish.item)

    def letters(self, wish: Wish) -> list[str]:
        return self.desk.letters(wish.item)


def hotel_till(engine: Engine, pms: Pms, redis_url: str, mode: str, **changes: Any) -> Till:
    """At the hotel system; `changes` are capabilities."""
    pms.set_mode(mode)
    desk = Desk.at(engine, pms, redis_client(redis_url), mode, **changes)
    hotel = Property(name="Berlin", time_zone="Europe/Berlin", currency="EUR")
    return Till(desk, AtHotel(pms), hotel, "P-501")


def stripe_till(engine: Engine, pms: Pms, server: Stripe, redis_url: str, **changes: Any) -> Till:
    """At Stripe; `changes` are settings of the provider. Absence is declared to be provable unless said otherwise."""
    url = str(changes.pop("url", server.url))
    patient = {"read_deadline": 10.0, "settle_time": 20.0, "absence_provable": True}
    settings = Provider(kind=ProviderKind.STRIPE, url=url, token=SecretStr(SECRET), **(patient | changes))
    adapter = stripe_payments(settings)
    payments = StripePayments(url, SECRET, replace(adapter.capabilities, send_window=10.0))
    redis = redis_client(redis_url)
    runtime = Runtime(engine, {"stripe": payments}, Limiter(redis, {}), Waker(redis))
    assert payments.capabilities.settle_time == timedelta(seconds=20)
    hotel = Property(name="Berlin", time_zone="Europe/Berlin", currency="EUR", payments="stripe")
    return Till(Desk(engine, pms, runtime, redis), AtStripe(server), hotel, server.seed("pi_501", 180_00))
