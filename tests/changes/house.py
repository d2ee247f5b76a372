"""Wishes about reservations as the API would admit them, and a worker in this process: no HTTP of ours, no broker."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from booking.answers import intent_answer
from booking.guests import VerifiedGuest
from booking.results import IntentAnswer, ItemAnswer
from booking.states import State
from dedupe.admit import admit
from dedupe.items import Item
from dedupe.read import read_intents
from dedupe.submission import KeyKind
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.write import run_item
from tests.dedupe.rows import CALLER, HOTELS, linked
from tests.tasks.desk import QUIET, Desk

Dates = tuple[str, str]

A: Dates = ("2027-03-05", "2027-03-07")
B: Dates = ("2027-04-05", "2027-04-08")
C: Dates = ("2027-05-05", "2027-05-06")

ANNA = {"name": "Anna Moser", "email": "anna.moser@example.com"}
BEN = {"name": "Ben Kern", "email": "ben@example.com"}

CHANGE, CANCEL = "change_reservation_dates", "cancel_reservation"


@dataclass(frozen=True)
class Wish:
    """What was admitted, and the item that stands for it."""

    intent: str
    item: int


@dataclass(frozen=True)
class House:
    """One hotel, its guests' wishes, and one worker."""

    desk: Desk

    def seed(self, dates: Dates = A, guest: dict[str, str] = ANNA, property: str = "BER") -> str:
        """A reservation that came in by another way; its number."""
        return self.desk.pms.seed(property, "double", *dates, [guest])[0]

    def ask(
        self,
        tool: str,
        number: str,
        dates: Dates | None = None,
        *,
        conversation: str = "c-1",
        header: str | None = None,
        verified: VerifiedGuest | None = None,
        lifetime: float = 600,
        **claims: Any,
    ) -> Wish:
        """Admit a wish of Anna's, unless other claims are made."""
        said = claims or ({} if verified else {"guest_name": ANNA["name"]})
        target = {"check_in": dates[0], "check_out": dates[1]} if dates else {}
        arguments = TOOLS[tool].arguments.model_validate({"reservation_id": number, **target, **said})
        asking = Asking(CALLER, conversation, HOTELS, verified)
        own_key: tuple[KeyKind, str] | None = ("header", header) if header else None
        admitted = admit(self.desk.engine, submission_of(asking, TOOLS[tool], arguments, own_key, lifetime))
        [item] = linked(self.desk.engine, admitted.intent_id)
        return Wish(admitted.intent_id, item)

    def change(self, number: str, dates: Dates, **how: Any) -> Wish:
        return self.ask(CHANGE, number, dates, **how)

    def cancel(self, number: str, **how: Any) -> Wish:
        return self.ask(CANCEL, number, **how)

    def run(self, wish: Wish) -> Item:
        """Run it, which must be possible, and look at it."""
        return self.desk.run(wish.item)

    def later(self, wish: Wish, seconds: float = QUIET, *, expire: bool = False) -> Item:
        """Run it after so long a time."""
        return self.desk.later(wish.item, seconds, expire=expire)

    def moved(self, number: str, dates: Dates, **how: Any) -> Wish:
        """Ask for other dates, which succeeds."""
        wish = self.change(number, dates, **how)
        assert self.run(wish).state is State.SUCCEEDED
        return wish

    def answer(self, wish: Wish) -> IntentAnswer:
        """The intent as the agent reads it."""
        return intent_answer(read_intents(self.desk.engine, [wish.intent])[wish.intent])

    def told(self, wish: Wish) -> ItemAnswer:
        """Its one item as the agent reads it."""
        [item] = self.answer(wish).items
        return item

    def attempts(self, wish: Wish) -> list[tuple[str, str | None]]:
        return self.desk.attempts(wish.item)

    def letters(self, wish: Wish) -> list[str]:
        return self.desk.letters(wish.item)

    def dates(self, number: str) -> Dates:
        """The reservation's dates at the hotel system."""
        [booking] = self.desk.pms.bookings(booking_id=number)
        return booking["check_in"], booking["check_out"]

    def status(self, number: str) -> str:
        [booking] = self.desk.pms.bookings(booking_id=number)
        return str(booking["status"])

    def calls(self, operation: str = "") -> list[dict[str, Any]]:
        """The calls that the hotel system received."""
        return self.desk.pms.ledger(operation=operation) if operation else self.desk.pms.ledger()

    def operations(self) -> list[str]:
        return [call["operation"] for call in self.calls()]


class Killed(BaseException):
    """As if the process had ended there."""


def dies(desk: Desk, item: int, step: str, calls: int) -> None:
    """Run it with a worker that is gone at the `calls`-th such step."""
    left = calls

    def at(reached: str) -> None:
        nonlocal left
        left -= reached == step
        if reached == step and not left:
            raise Killed

    with pytest.raises(Killed):
        run_item(replace(desk.runtime, at=at), item)
