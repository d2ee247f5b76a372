"""Intents as answers, ready to send. Rendered in the thread that read them, not in the event loop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from booking.answers import intent_answer
from booking.results import IntentAnswer, IntentRow
from booking.states import PENDING, IntentState, State
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.guards import note_intents
from dedupe.read import read_done, read_intents
from dedupe.retry import retry
from dedupe.submission import Admitted, Submission
from tasks.publish import Publisher

#: Items of one answer. An expansion may find many more.
MOST_ITEMS = 1000
#: The items that are asked for, by state; pending ones may be running.
Which = Literal["all", "failed", "pending", "unknown", "succeeded", "cancelled", "none"]

_STATES: dict[Which, frozenset[State]] = {"all": frozenset(State), "none": frozenset(), "pending": PENDING}


@dataclass(frozen=True)
class Part:
    """Which of an intent's items an answer shows: at most `limit`, behind the position `after`."""

    which: Which = "all"
    after: int = -1
    limit: int = MOST_ITEMS

    def of(self, answer: IntentAnswer) -> IntentAnswer:
        """`answer` with these items only; all else in it stays that of the whole intent."""
        if self == WHOLE and len(answer.items) <= MOST_ITEMS:
            return answer
        states = _STATES[self.which] if self.which in _STATES else {State(self.which)}
        found = [item for item in answer.items if item.position > self.after and item.state in states]
        shown = found[: self.limit]
        more = shown[-1].position if len(found) > len(shown) else None
        return answer.model_copy(update={"items": shown, "next_items": more})


#: What an answer shows unless something else is asked for.
WHOLE = Part()


@dataclass(frozen=True)
class Snapshot:
    """An intent at one instant: whose it is, whether it is done, and the answer as JSON. `gone`: pruned, no answer."""

    tenant_id: str
    done: bool
    body: bytes
    gone: bool = False


def snapshots(engine: Engine, ids: Sequence[str], part: Part = WHOLE) -> dict[str, Snapshot]:
    """The intents of `ids` that exist."""
    return _told(engine, read_intents(engine, ids), part)


def done_snapshots(engine: Engine, ids: Sequence[str]) -> dict[str, Snapshot]:
    """The intents of `ids` that are done."""
    return _told(engine, read_done(engine, ids))


def take_in(engine: Engine, publisher: Publisher, submission: Submission) -> tuple[Admitted, Snapshot]:
    """Commit a submission, tell the broker, and show what is recorded. Raises Mismatch, Stopped."""
    admitted = admit(engine, submission)
    publisher.publish(admitted.publish)
    if admitted.row is not None:
        return admitted, _snapshot(admitted.row)
    return admitted, snapshots(engine, [admitted.intent_id])[admitted.intent_id]


def take_up(
    engine: Engine, publisher: Publisher, tenant_id: str, intent_id: str, lifetime: Callable[[str], float]
) -> tuple[bool, Snapshot] | None:
    """Run the failed items of an intent again, tell the broker; whether any runs again, and the intent as it is then.

    None where the tenant has no such intent. Raises Blocked, Stopped.
    """
    again = retry(engine, tenant_id, intent_id, lifetime)
    if again is None:
        return None
    publisher.publish(again)
    return bool(again), snapshots(engine, [intent_id])[intent_id]


def _told(engine: Engine, rows: dict[str, IntentRow], part: Part = WHOLE) -> dict[str, Snapshot]:
    """What is told as failed is counted first, so that the answer that is one failure too many says so."""
    uncounted = [name for name, row in rows.items() if row.uncounted and row.fails]
    if uncounted:
        note_intents(engine, uncounted)
        rows |= read_intents(engine, uncounted)
    return {name: _snapshot(row, part) for name, row in rows.items()}


def _snapshot(row: IntentRow, part: Part = WHOLE) -> Snapshot:
    if row.pruned:
        return Snapshot(row.tenant_id, True, b"", gone=True)
    answer = intent_answer(row)
    return Snapshot(row.tenant_id, answer.state is IntentState.DONE, part.of(answer).model_dump_json().encode())
