"""What `tasks.decide` may answer, and the numbers of its answers to reads."""

from dataclasses import dataclass, field
from typing import Any

from booking.errors import ToolError
from booking.outcomes import Found
from booking.states import DeadLetter, Kind, State
from dedupe.items import Item

#: Calls for one read, in all.
READ_TRIES = 3
#: Waits between them, seconds: full jitter up to READ_BACKOFF * 2^n.
READ_BACKOFF = 0.25
#: With less time left than this, seconds, another call is not worth its load.
READ_LEAST = 0.5


@dataclass(frozen=True)
class Call:
    """Call the provider now, in this run. `absent`: the look-up before proves that no earlier write had an effect.

    `same_key`: an earlier write is in doubt, and the live key stands in for a look-up.
    """

    kind: Kind
    absent: bool = False
    same_key: bool = False


@dataclass(frozen=True)
class Settle:
    """The item's state is final. `audit`: look once more after AUDIT_SECONDS."""

    state: State
    error: ToolError | None = None
    result: dict[str, Any] | None = None
    letters: tuple[tuple[DeadLetter, str], ...] = ()
    absent: bool = False
    raise_generation: bool = False
    audit: bool = False


@dataclass(frozen=True)
class Later:
    """Run again in `due_in` seconds. `state` is shown until then; `slow`: with a notice for the guest.

    `told_nothing` lengthens the backoff; None leaves it as it is.
    """

    due_in: float
    state: State
    error: ToolError | None = None
    refusal: ToolError | None = None
    letters: tuple[tuple[DeadLetter, str], ...] = ()
    told_nothing: bool | None = False
    slow: bool = True


@dataclass(frozen=True)
class Park:
    """The runtime can do no more: the item is unknown and waits for a person. `due_in`: looked up again, if ever."""

    reason: DeadLetter
    detail: str
    due_in: float | None = None


Decision = Call | Settle | Later | Park


def duplicates(item: Item, found: Found) -> tuple[tuple[DeadLetter, str], ...]:
    """All that exist under our reference beside the one the guest is told of: the one already told, else the first."""
    exist = (found.provider_id, *found.others)
    told = item.provider_id if item.provider_id in exist else found.provider_id
    detail = f"exist beside {told}: {', '.join(one for one in exist if one != told)}"
    return ((DeadLetter.DUPLICATE, detail),) if found.others else ()


@dataclass(frozen=True)
class Again:
    """A read: call once more after `wait` seconds."""

    wait: float


@dataclass(frozen=True)
class Give:
    """A read: give this row of `booking.errors.TABLE`. `retry_after`: earlier than in so many seconds is useless."""

    row: str
    values: dict[str, Any] = field(default_factory=dict)
    retry_after: float = 0.0
