"""n asked = n shall exist: which known item each asked effect stands for, and which are new. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from booking.errors import MAY_PASS, ErrorCode
from booking.states import PENDING, State


@dataclass(frozen=True)
class Known:
    """An item that exists already for one base key."""

    id: int
    k: int
    state: State
    code: ErrorCode | None = None

    @property
    def may_pass(self) -> bool:
        """Known not executed, for a cause that may be gone: asking again runs it again."""
        return self.state in (State.FAILED, State.CANCELLED) and self.code in MAY_PASS


@dataclass(frozen=True)
class Binding:
    """One asked effect: an item that exists (`known`), to be run again if `arm`; or a new one, the `k`-th."""

    known: Known | None
    k: int
    arm: bool = False


def bind(
    asked: int, known: Sequence[Known], bound: Mapping[int, int] | None = None, additional: Collection[int] = ()
) -> list[Binding]:
    """Bind `asked` identical effects to the `known` ones; new ones only above the known count.

    Order: failed ones that may pass now, then unknown, pending, succeeded, refused for good. `bound` maps the place
    among the asked ones to an item id from an earlier answer to the same intent: what was told stays in its place.
    `additional` are the places that ask for one more than there are.
    """
    by_id = {item.id: item for item in known}
    fixed = {place: by_id[item_id] for place, item_id in (bound or {}).items() if item_id in by_id}
    free = sorted((item for item in known if item not in fixed.values()), key=_rank)
    next_k = max((item.k for item in known), default=-1) + 1
    bindings = []
    for place in range(asked):
        item = fixed.get(place) or (free.pop(0) if free and place not in additional else None)
        if item is None:
            bindings.append(Binding(None, next_k))
            next_k += 1
        else:
            bindings.append(Binding(item, item.k, arm=item.may_pass))
    return bindings


def _rank(item: Known) -> tuple[int, int]:
    if item.may_pass:
        rank = 0
    elif item.state is State.UNKNOWN:
        rank = 1
    elif item.state in PENDING:
        rank = 2
    elif item.state is State.SUCCEEDED:
        rank = 3
    else:
        rank = 4
    return rank, item.k
