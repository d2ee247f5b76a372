"""What `tasks.decide` may answer."""

from dataclasses import dataclass
from typing import Any

from booking.errors import ToolError
from booking.states import DeadLetter, Kind, State


@dataclass(frozen=True)
class Call:
    """Call the provider now, in this run. `absent`: the look-up before proves that no earlier write had an effect."""

    kind: Kind
    absent: bool = False


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
    """Run again in `due_in` seconds. `state` is shown until then; `slow`: with a notice for the guest."""

    due_in: float
    state: State
    error: ToolError | None = None
    refusal: ToolError | None = None
    letters: tuple[tuple[DeadLetter, str], ...] = ()
    told_nothing: bool = False
    slow: bool = True


@dataclass(frozen=True)
class Park:
    """The runtime can do no more: the item is unknown and waits for a person. `due_in`: looked up again, if ever."""

    reason: DeadLetter
    detail: str
    due_in: float | None = None


Decision = Call | Settle | Later | Park
