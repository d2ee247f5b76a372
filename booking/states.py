"""The states of an item and of an intent. The arrows between them are in docs/states.md."""

from enum import StrEnum


class State(StrEnum):
    """What is true of an item's effect. Whether a person should act is a dead letter's business, not a state's."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


PENDING = frozenset({State.QUEUED, State.RUNNING})
SETTLED = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.SUPERSEDED})


class IntentState(StrEnum):
    """Whether the agent should go on polling."""

    PENDING = "pending"
    DONE = "done"


class IntentOutcome(StrEnum):
    """What came of an intent once it is done."""

    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    UNKNOWN = "unknown"


class DeadLetter(StrEnum):
    """Why a person should look at an item."""

    UNKNOWN_OUTCOME = "unknown_outcome"
    DUPLICATE = "duplicate"
    LATE_SUCCESS = "late_success"
    MISMATCH = "mismatch"
    POISON = "poison"
    EXHAUSTED = "exhausted"
    EXPIRED = "expired"
    MISCONFIGURED = "misconfigured"


class Kind(StrEnum):
    """What an attempt does: change the outside system, or look."""

    WRITE = "write"
    CHECK = "check"


class Queue(StrEnum):
    """Kinds of broker queues. Queues instead of priorities: Redis and RabbitMQ order priorities in opposite ways.

    Each provider has its own queue of each kind, so that the backlog of a sick one doesn't stand before the others.
    """

    BOOKINGS = "bookings"
    BATCH = "batch"
    QUARANTINE = "quarantine"

    def of(self, provider: str) -> str:
        """The queue of this kind for one provider."""
        return f"{self.value}.{provider}"


def outcome_of(states: list[State]) -> IntentOutcome | None:
    """The intent's outcome from its items' states; None while one is pending.

    An unknown is never reported as a failure or a success: alone it is `unknown`, beside successes `partial`. What was
    superseded had succeeded, and that stays true of the intent that asked for it.
    """
    if any(state in PENDING for state in states):
        return None
    succeeded = sum(state in (State.SUCCEEDED, State.SUPERSEDED) for state in states)
    if succeeded == len(states):
        return IntentOutcome.SUCCEEDED
    if succeeded:
        return IntentOutcome.PARTIAL
    return IntentOutcome.UNKNOWN if State.UNKNOWN in states else IntentOutcome.FAILED
