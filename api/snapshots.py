"""Intents as answers, ready to send. Rendered in the thread that read them, not in the event loop."""

from collections.abc import Sequence
from dataclasses import dataclass

from booking.answers import intent_answer
from booking.results import IntentRow
from booking.states import IntentState
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.guards import note_intents
from dedupe.read import read_done, read_intents
from dedupe.submission import Admitted, Submission
from tasks.publish import Publisher


@dataclass(frozen=True)
class Snapshot:
    """An intent at one instant: whose it is, whether it is done, and the answer as JSON. `gone`: pruned, no answer."""

    tenant_id: str
    done: bool
    body: bytes
    gone: bool = False


def snapshots(engine: Engine, ids: Sequence[str]) -> dict[str, Snapshot]:
    """The intents of `ids` that exist."""
    return _told(engine, read_intents(engine, ids))


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


def _told(engine: Engine, rows: dict[str, IntentRow]) -> dict[str, Snapshot]:
    """What is told as failed is counted first, so that the answer that is one failure too many says so."""
    uncounted = [name for name, row in rows.items() if row.uncounted and row.fails]
    if uncounted:
        note_intents(engine, uncounted)
        rows |= read_intents(engine, uncounted)
    return {name: _snapshot(row) for name, row in rows.items()}


def _snapshot(row: IntentRow) -> Snapshot:
    if row.pruned:
        return Snapshot(row.tenant_id, True, b"", gone=True)
    answer = intent_answer(row)
    return Snapshot(row.tenant_id, answer.state is IntentState.DONE, answer.model_dump_json().encode())
