"""What the API hands to `admit`, and what it gets back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from booking.handoff import Stop
from booking.results import IntentRow

KeyKind = Literal["derived", "header"]


@dataclass(frozen=True)
class Wanted:
    """One asked effect, not yet told apart from identical ones.

    `base` is the key that identical effects share; `fingerprint` stands for all arguments; `request` is what the
    operation needs to write it.
    """

    base: str
    fingerprint: str
    request: dict[str, Any]
    scope: str
    effect: str
    queue: str
    provider: str


@dataclass(frozen=True)
class Submission:
    """One request to admit. `lifetime` is in seconds; `secret` is the tenant's.

    `call` is a fingerprint of tool and arguments (and conversation), whatever the key is; the guards count by it.
    """

    tenant_id: str
    secret: bytes
    conversation_id: str
    tool: str
    key: str
    key_kind: KeyKind
    call: str
    fingerprint: str
    lifetime: float
    wanted: Sequence[Wanted]


@dataclass(frozen=True)
class Admitted:
    """What was committed: the intent, whether it existed, and the items to publish as (id, queue).

    `row` is the intent as it was committed, where that needed no reading; None: read it.
    """

    intent_id: str
    existed: bool
    publish: list[tuple[int, str]]
    row: IntentRow | None = None


class Mismatch(Exception):
    """The key stands for something with other values. Nothing was changed.

    `existing` names what exists: the intent, or the item's state and the provider's id.
    """

    def __init__(self, kind: Literal["intent", "item"], existing: dict[str, Any]) -> None:
        super().__init__(f"another {kind} under the same key")
        self.kind = kind
        self.existing = existing


class Stopped(Exception):
    """The conversation is stopped: no call of it is taken. At most an earlier failure was counted, which led to it."""

    def __init__(self, tenant_id: str, conversation_id: str, stop: Stop) -> None:
        super().__init__(f"stopped: {stop.reason}")
        self.tenant_id = tenant_id
        self.conversation_id = conversation_id
        self.stop = stop
