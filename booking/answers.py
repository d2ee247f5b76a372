"""Results as the agent reads them, made from plain rows. Pure."""

from collections.abc import Sequence

from booking.effects import Effect, words
from booking.errors import ToolError, tool_error
from booking.handoff import BECAUSE
from booking.reminders import reminders_answer, reminders_error
from booking.results import IntentAnswer, IntentRow, ItemAnswer, ItemRow
from booking.rooms import listed, rooms_error
from booking.states import PENDING, IntentOutcome, IntentState, State, outcome_of

SLOW = "The {system} is slow today; still trying."
TWICE = (
    "The same stay was asked for in another conversation a moment ago (intent {twin}). "
    "Ask the guest whether both are meant."
)
UNDONE = "Done, and undone since by a later request: {undone}. It is not in force any more."
#: What a client without long polling should wait between two polls, milliseconds.
POLL_AFTER_MS = 1000


def intent_answer(row: IntentRow) -> IntentAnswer:
    """The intent as the agent reads it."""
    rows = [item for item in row.items if not _finished_expansion(item)]
    items = [item_answer(item) for item in rows]
    outcome = outcome_of([item.state for item in items])
    error, fix = _error(row, rows, outcome)
    # A stop is told with what went wrong, in place of it; what succeeded or still runs is not answered with a stop.
    stop = row.stop if outcome not in (None, IntentOutcome.SUCCEEDED) else None
    if stop is not None:
        error = tool_error("stopped", why=BECAUSE[stop.reason], handoff=row.handoff)
        fix = error.fix
    places = {state: [item.position for item in items if item.state is state] for state in State}
    waiting = outcome is None
    return IntentAnswer(
        id=row.id,
        key=row.key,
        tool=row.tool,
        conversation_id=row.conversation_id,
        state=IntentState.PENDING if waiting else IntentState.DONE,
        outcome=outcome,
        items=items,
        succeeded=places[State.SUCCEEDED],
        failed=places[State.FAILED],
        pending=sorted(places[State.QUEUED] + places[State.RUNNING]),
        unknown=places[State.UNKNOWN],
        cancelled=places[State.CANCELLED],
        error=error,
        fix=fix,
        notice=_notice(row),
        poll_after_ms=POLL_AFTER_MS if waiting else None,
        possible_duplicate_of=row.twin,
        reminders=reminders_answer(row),
        stop=stop,
        handoff=row.handoff if stop else None,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )


def item_answer(item: ItemRow) -> ItemAnswer:
    """The item as the agent reads it."""
    error = item.error
    if item.state in PENDING or item.state is State.SUCCEEDED:
        error = None
    elif item.state is State.UNKNOWN:
        error = tool_error("unknown_outcome", **words(item.effect))
    return ItemAnswer(
        position=item.position,
        id=item.id,
        key=item.key,
        effect=item.effect,
        about=_about(item),
        state=item.state,
        result=item.result if item.state is State.SUCCEEDED else None,
        error=error,
        attempts=item.attempts,
    )


def _about(item: ItemRow) -> str | None:
    of = item.request.get
    return of("reservation_id") or of("payment_id") or of("room_type") or of("date")


def _finished_expansion(item: ItemRow) -> bool:
    """It has done its work: the items that it found stand for the batch."""
    return item.effect is Effect.ARRIVALS and item.state is State.SUCCEEDED


def _notice(row: IntentRow) -> str | None:
    slow = next((item for item in row.items if item.slow and item.state in PENDING), None)
    if slow is not None:
        return SLOW.format(**words(slow.effect))
    undone = [item for item in row.items if item.state is State.SUPERSEDED]
    if undone:
        return UNDONE.format(undone=listed([_number(item) for item in undone]))
    return TWICE.format(twin=row.twin) if row.twin else None


def _number(item: ItemRow) -> str:
    return str((item.result or item.request).get("booking_id") or _about(item))


def _error(
    row: IntentRow, rows: Sequence[ItemRow], outcome: IntentOutcome | None
) -> tuple[ToolError | None, str | None]:
    """What the model is told of the whole, and what it can do now."""
    error: ToolError | None = None
    if outcome is None or outcome is IntentOutcome.SUCCEEDED:
        return None, None
    if any(item.effect in (Effect.ARRIVALS, Effect.REMINDER) for item in rows):
        error = reminders_error(row)
    elif outcome is IntentOutcome.PARTIAL and any(item.state in (State.FAILED, State.CANCELLED) for item in rows):
        return rooms_error(rows)
    elif outcome is IntentOutcome.FAILED:
        error = next((item.error for item in rows if item.error), None)
    else:
        error = tool_error("unknown_outcome", **words(rows[0].effect))
    return error, error.fix if error else None
