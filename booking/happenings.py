"""Events as the host application polls them: what changed after something else had been told."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from booking.results import Answer
from booking.states import State


class EventKind(StrEnum):
    """What has happened."""

    VERDICT = "verdict"  # it was told as unknown, and now it is known
    LATE_SUCCESS = "late_success"  # it was told as failed or cancelled, and exists
    DUPLICATE = "duplicate"  # the provider holds it more than once; a person will look
    STOPPED = "stopped"
    LIFTED = "lifted"


class Event(Answer):
    """One event. Those of an item name it; those of a conversation (stopped, lifted) don't."""

    id: int
    kind: EventKind
    conversation_id: str
    intent_ids: list[str] = Field(description="The intents that ask for the item and are still kept.")
    item_id: int | None = None
    from_state: State | None = Field(default=None, description="What had been told.")
    to_state: State | None = None
    booking_id: str | None = Field(default=None, description="The booking that the guest holds.")
    reason: str | None = Field(default=None, description="Why the conversation was stopped, or its stop lifted.")
    at: datetime


class EventsAnswer(Answer):
    """A page of events, oldest first."""

    events: list[Event]
    after: int = Field(description="Poll with this next. No event will ever come before it.")
