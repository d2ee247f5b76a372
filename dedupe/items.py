"""An item as a worker sees it, and what `settle` is told to record."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from booking.errors import ToolError
from booking.states import DeadLetter, State

#: After two sends, or a failure that rests on absence, one more look-up this long after the item settled.
AUDIT_SECONDS = 300.0


@dataclass(frozen=True)
class Item:
    """One row of items with the sum of its attempts, read without a lock. All times are the database's.

    `doubts` holds `may_send_until` of every write attempt that is open or unknown: the item is in doubt while there is
    one. `last_send` is the latest `may_send_until` of any write ever; `sends` counts the writes ever that may have had
    an effect, or have had one. `subject`: what it changes. `overtaken`: a later item has changed that since, or may
    have. `paused`: the providers that are not called for now. `seen`: what the look before the last write saw.
    """

    id: int
    tenant_id: str
    conversation_id: str
    key: str
    reference: str
    key_generation: int
    effect: str
    provider: str
    request: dict[str, Any]
    request_bytes: bytes | None
    state: State
    refusal: ToolError | None
    error: ToolError | None
    rev: int
    token: uuid.UUID | None
    lease_until: datetime | None
    due_at: datetime | None
    provider_id: str | None
    writes: int
    failures: int
    doubted_at: datetime | None
    first_sent_at: datetime | None
    expires_at: datetime
    stop_writes: bool
    doubts: tuple[datetime, ...]
    last_send: datetime | None
    sends: int
    paused: frozenset[str]
    now: datetime
    subject: str | None = None
    overtaken: bool = False
    seen: dict[str, Any] | None = None

    @property
    def provider_key(self) -> str:
        """The idempotency key as the provider sees it; a new one after each definite refusal."""
        return f"{self.reference}-{self.key_generation}"

    def leased(self, now: datetime) -> bool:
        """Whether some worker holds the right to run it."""
        return self.lease_until is not None and self.lease_until > now


@dataclass(frozen=True)
class Begun:
    """An attempt that is open and committed: the mark before the call. `number` counts the item's attempts from 1."""

    attempt_id: int
    token: uuid.UUID
    rev: int
    number: int
    started_at: datetime
    may_send_until: datetime


@dataclass(frozen=True)
class Closing:
    """How an attempt ended. `absent`: its look-up proves that no write attempt of the item had an effect."""

    outcome: str
    cause: str | None = None
    absent: bool = False


@dataclass(frozen=True)
class Proof:
    """The provider's word that the effect exists: its id, and what the agent is given."""

    provider_id: str
    result: dict[str, Any]


@dataclass(frozen=True)
class Move:
    """Where an item goes at the end of a run: the values of one guarded UPDATE.

    `due_in` is in seconds; None: nothing is due any more. `letters` are dead letters as (reason, detail). `slow`: the
    guest may be told that the provider is in trouble. `told_nothing` lengthens the backoff, None leaves it. `uncount`
    takes back the write that turned out not to be sent.
    """

    state: State
    due_in: float | None = None
    proof: Proof | None = None
    error: ToolError | None = None
    refusal: ToolError | None = None
    letters: tuple[tuple[DeadLetter, str], ...] = ()
    in_doubt: bool = False
    slow: bool = False
    told_nothing: bool | None = False
    uncount: bool = False
    raise_generation: bool = False


@dataclass(frozen=True)
class Settled:
    """What a settle did. `moved` False: somebody else holds the item; peek again. `wake`: intents that ask for it."""

    moved: bool
    wake: tuple[str, ...] = ()
