"""What the API hands to `admit`, and what it gets back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from booking.errors import ToolError
from booking.handoff import Stop
from booking.results import IntentRow

#: derived: the agent asks (again). header: the caller's own, the same HTTP request. schedule: the calendar's, once.
KeyKind = Literal["derived", "header", "schedule"]


@dataclass(frozen=True)
class Wanted:
    """One asked effect, not yet told apart from identical ones.

    `base` is the key that identical effects share; `fingerprint` stands for all arguments; `request` is what the
    operation needs to write it. `subject`: what it changes, by the provider's id. `guest`, `stay`: hashes of whom a
    booking is for and of which stay it is. `additional`: one more than there are. `refusal`: it must not be carried
    out; it is recorded as failed and nothing is ever sent. `repeats`: asked again, it runs again, whatever came of it.
    `most`: of all refunds of the payment together, without a person.
    """

    base: str
    fingerprint: str
    request: dict[str, Any]
    scope: str
    effect: str
    queue: str
    provider: str
    subject: str | None = None
    guest: str | None = None
    stay: str | None = None
    additional: bool = False
    refusal: ToolError | None = None
    repeats: bool = False
    most: int | None = None


@dataclass(frozen=True)
class Submission:
    """One request to admit. `lifetime` is in seconds; `secret` is the tenant's.

    `call` is a fingerprint of tool and arguments (and conversation), whatever the key is; the guards count by it.
    `refuse_duplicates`: the tenant wants no second stay of a guest out of another conversation.
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
    refuse_duplicates: bool = False


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


class Blocked(Exception):
    """Something else must be settled first, or stands against it. Nothing was changed.

    `row` and `values` are for `booking.errors.tool_error`.
    """

    def __init__(self, row: str, **values: str) -> None:
        super().__init__(row)
        self.row = row
        self.values = values


class Stopped(Exception):
    """The conversation is stopped: no call of it is taken. At most an earlier failure was counted, which led to it."""

    def __init__(self, tenant_id: str, conversation_id: str, stop: Stop) -> None:
        super().__init__(f"stopped: {stop.reason}")
        self.tenant_id = tenant_id
        self.conversation_id = conversation_id
        self.stop = stop
