"""Intents as answers, ready to send. Rendered in the thread that read them, not in the event loop."""

from collections.abc import Sequence
from dataclasses import dataclass

from booking.results import IntentRow, intent_answer
from booking.states import IntentState
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.read import read_done, read_intents
from dedupe.submission import Admitted, Submission
from tasks.publish import Publisher


@dataclass(frozen=True)
class Snapshot:
    """An intent at one instant: whose it is, whether it is done, and the answer as JSON."""

    tenant_id: str
    done: bool
    body: bytes


def snapshots(engine: Engine, ids: Sequence[str]) -> dict[str, Snapshot]:
    """The intents of `ids` that exist."""
    return {name: _snapshot(row) for name, row in read_intents(engine, ids).items()}


def done_snapshots(engine: Engine, ids: Sequence[str]) -> dict[str, Snapshot]:
    """The intents of `ids` that are done."""
    return {name: _snapshot(row) for name, row in read_done(engine, ids).items()}


def take_in(engine: Engine, publisher: Publisher, submission: Submission) -> tuple[Admitted, Snapshot]:
    """Commit a submission, tell the broker, and show what is recorded. Raises Mismatch."""
    admitted = admit(engine, submission)
    publisher.publish(admitted.publish)
    return admitted, snapshots(engine, [admitted.intent_id])[admitted.intent_id]


def _snapshot(row: IntentRow) -> Snapshot:
    answer = intent_answer(row)
    return Snapshot(row.tenant_id, answer.state is IntentState.DONE, answer.model_dump_json().encode())
