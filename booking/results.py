"""Results as the agent reads them: the API's answers, built from plain rows. Pure."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from booking.effects import Effect
from booking.errors import MAY_PASS, ToolError, tool_error
from booking.handoff import BECAUSE, Stop
from booking.states import PENDING, IntentOutcome, IntentState, State, outcome_of

SLOW = "The hotel system is slow today; still trying."
#: What a client without long polling should wait between two polls, milliseconds.
POLL_AFTER_MS = 1000
#: Of a large batch so many are named in the texts for the model; the items hold all.
MOST_NAMED = 20


class ItemRow(BaseModel):
    """One item as stored, at its place in an intent."""

    position: int
    id: int
    key: str
    effect: Effect
    state: State
    result: dict[str, Any] | None
    error: ToolError | None
    attempts: int
    slow: bool
    request: dict[str, Any]


class IntentRow(BaseModel):
    """One intent as stored, with its items in order; a pruned one has none.

    `uncounted`: the guards have not counted its last asking. `handoff` where the conversation is stopped. `twin`: an
    intent of another conversation for the same stay, just before.
    """

    id: str
    tenant_id: str
    key: str
    tool: str
    conversation_id: str
    created_at: datetime
    expires_at: datetime
    items: list[ItemRow]
    pruned: bool = False
    uncounted: bool = False
    stop: Stop | None = None
    handoff: str | None = None
    twin: str | None = None

    @property
    def fails(self) -> bool:
        """Over, and some of it has failed."""
        states = {item.state for item in self.items}
        return State.FAILED in states and not states & PENDING


class Answer(BaseModel):
    """An answer of the API."""

    model_config = ConfigDict(frozen=True)


class ItemAnswer(Answer):
    """One effect: what became of it."""

    position: int
    id: int
    key: str
    state: State
    result: dict[str, Any] | None = Field(default=None, description="The booking, once it exists.")
    error: ToolError | None = None
    attempts: int = Field(description="Calls made to the hotel system for it, look-ups included.")


class IntentAnswer(Answer):
    """What was asked, and what became of each item of it."""

    id: str
    key: str
    tool: str
    conversation_id: str
    state: IntentState
    outcome: IntentOutcome | None = None
    items: list[ItemAnswer]
    succeeded: list[int] = Field(description="Positions of the items that exist.")
    failed: list[int]
    pending: list[int]
    unknown: list[int]
    cancelled: list[int]
    error: ToolError | None = None
    fix: str | None = Field(default=None, description="What to do about the items that failed, ready to use.")
    notice: str | None = Field(default=None, description="Something to tell the guest while the runtime goes on.")
    poll_after_ms: int | None = None
    stop: Stop | None = Field(default=None, description="The conversation is stopped: no further call is taken.")
    handoff: str | None = Field(default=None, description="What to tell the guest when handing off.")
    created_at: datetime
    expires_at: datetime


class FieldProblem(Answer):
    """One wrong field."""

    field: str = Field(description="Its path in the arguments, e.g. rooms[3].check_in.")
    problem: str = Field(description="What is allowed.")
    sent: str = Field(description="What was sent, shortened.")


class Problem(Answer):
    """Why a request was refused (RFC 9457, application/problem+json)."""

    type: str
    title: str
    status: int
    detail: str
    tool_error: ToolError = Field(description="What the model is told.")
    errors: list[FieldProblem] | None = Field(default=None, description="Every wrong field, the first 20 of them.")
    notice: str | None = Field(default=None, description="Something to tell the guest.")
    handoff: str | None = Field(default=None, description="Of a stopped conversation: what to tell the guest.")


class Readiness(Answer):
    """Whether intents can be accepted. `broker` and `wake_ups` are information: without them it only takes longer."""

    ready: bool
    database: Literal["ok", "not migrated", "away"]
    broker: Literal["ok", "away"]
    wake_ups: Literal["ok", "away"]


def intent_answer(row: IntentRow) -> IntentAnswer:
    """The intent as the agent reads it."""
    items = [item_answer(item) for item in row.items]
    outcome = outcome_of([item.state for item in items])
    error, fix = _intent_error(row, items, outcome)
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
        notice=SLOW if any(item.slow and item.state in PENDING for item in row.items) else None,
        poll_after_ms=POLL_AFTER_MS if waiting else None,
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
        error = tool_error("unknown_outcome")
    return ItemAnswer(
        position=item.position,
        id=item.id,
        key=item.key,
        state=item.state,
        result=item.result if item.state is State.SUCCEEDED else None,
        error=error,
        attempts=item.attempts,
    )


def _intent_error(
    row: IntentRow, items: Sequence[ItemAnswer], outcome: IntentOutcome | None
) -> tuple[ToolError | None, str | None]:
    """What the model is told of the whole, and what it can do now."""
    error: ToolError | None = None
    match outcome:
        case IntentOutcome.PARTIAL if any(item.state in _LOST for item in items):
            return _partial(row, items)
        case IntentOutcome.PARTIAL | IntentOutcome.UNKNOWN:
            error = tool_error("unknown_outcome")
        case IntentOutcome.FAILED:
            error = next((item.error for item in items if item.error), None)
    return error, error.fix if error else None


_LOST = (State.FAILED, State.CANCELLED)


def _partial(row: IntentRow, items: Sequence[ItemAnswer]) -> tuple[ToolError, str | None]:
    """The error, and the fix. Ready arguments are in the fix alone, so that they are sent once."""
    rooms = [(item, stored.request) for item, stored in zip(items, row.items, strict=True)]
    booked = [str((item.result or {}).get("booking_id")) for item in items if item.state is State.SUCCEEDED]
    lost = [(item.error, request) for item, request in rooms if item.state in _LOST]
    again = [request for error, request in lost if error and error.code in MAY_PASS]
    failed = Counter(f"{_room(one)} ({error.code}: {error.message})" if error else _room(one) for error, one in lost)
    values = {
        "succeeded": len(booked),
        "owned": (f": {_listed(booked)}" if booked else "")
        + _doubt([_room(request) for item, request in rooms if item.state is State.UNKNOWN]),
        "total": len(items),
        "failed": _listed([f"{count} times {what}" if count > 1 else what for what, count in failed.items()], "; "),
    }
    if not again:
        error = tool_error("partial_for_good", **values)
        return error, error.fix
    return tool_error("partial", **values), _fix(again, f"{len(booked)} rooms are booked already{values['owned']}.")


def _fix(again: Sequence[dict[str, Any]], already: str) -> str:
    """The line that keeps a 4-room group from becoming a 7-room group: ask again for the missing ones only."""
    first, more = again[:MOST_NAMED], len(again) - MOST_NAMED
    names = ", ".join(_room(request) for request in first)
    ready = json.dumps(first, ensure_ascii=False, separators=(", ", ": "))
    rest = f", then for {more} more of the positions in failed and cancelled" if more > 0 else ""
    return f"Ask again for {names} only: book_rooms with rooms={ready}{rest}; {already}"


def _doubt(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"; being confirmed: {_listed(names)} — do not book {'it' if len(names) == 1 else 'them'} again"


def _room(request: dict[str, Any]) -> str:
    return str(request.get("room_type", "request"))


def _listed(names: Sequence[str], between: str = ", ") -> str:
    """All of a few, the first of many."""
    more = len(names) - MOST_NAMED
    return between.join([*names[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
