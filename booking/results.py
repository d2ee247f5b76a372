"""The shapes of results: items and intents as stored, and the API's answers as the agent reads them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from booking.effects import Effect
from booking.errors import ToolError
from booking.handoff import Stop
from booking.states import PENDING, IntentOutcome, IntentState, State


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
    effect: Effect = Field(description="What it does on the outside system.")
    about: str | None = Field(default=None, description="The reservation, payment or room type that it is about.")
    state: State
    result: dict[str, Any] | None = Field(default=None, description="The booking (refund, mail …), once it exists.")
    error: ToolError | None = None
    attempts: int = Field(description="Calls made to the hotel system for it, look-ups included.")


class RemindersAnswer(Answer):
    """Of a batch of reminders: what became of everyone who arrives. The counts add up to `arrivals`."""

    arrivals: int
    already_sent: int = Field(description="Mailed before this call; nobody is mailed twice.")
    sent: int = Field(description="Mailed by this call so far.")
    to_send: int = Field(description="Not yet tried, or to be tried again by itself.")
    being_confirmed: int = Field(description="May have been mailed; a person confirms it, and it is not sent again.")
    to_be_corrected: int = Field(description="Without a usable address.")
    not_sent: int = Field(description="Failed for another reason.")
    left_out: int = Field(description="No longer arriving, or cancelled.")
    said: str = Field(description="The same in words.")


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
    possible_duplicate_of: str | None = Field(
        default=None, description="An intent of another conversation that asked for the same stay just before."
    )
    reminders: RemindersAnswer | None = None
    next_items: int | None = Field(default=None, description="There are more items: ask with `after` set to this.")
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
