"""n asked = n shall exist: which known item each asked effect stands for, and which are new. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from booking.errors import MAY_PASS, ErrorCode
from booking.states import PENDING, State


@dataclass(frozen=True)
class Known:
    """An item that exists already for one base key. `values`: fingerprint of all its arguments."""

    id: int
    k: int
    state: State
    code: ErrorCode | None = None
    values: str = ""

    @property
    def gone(self) -> bool:
        """Known not to exist."""
        return self.state in (State.FAILED, State.CANCELLED)

    @property
    def may_pass(self) -> bool:
        """Known not executed, for a cause that may be gone: asking again runs it again."""
        return self.gone and self.code in MAY_PASS


@dataclass(frozen=True)
class Binding:
    """One asked effect: an item that exists (`known`), or a new one, the `k`-th."""

    known: Known | None
    k: int


def bind(
    asked: int,
    known: Sequence[Known],
    bound: Mapping[int, int] | None = None,
    additional: Collection[int] = (),
    values: Sequence[str] = (),
) -> list[Binding]:
    """Bind `asked` identical effects to the `known` ones; new ones only above the known count.

    Order: failed ones that may pass now, then unknown, pending, succeeded, refused for good. `bound` maps the place
    among the asked ones to an item id from an earlier answer to the same intent: what was told stays in its place.
    `additional` are the places that ask for one more than there are. `values` are the fingerprints of what is asked:
    rooms with wishes of their own are told apart by them, in whatever order they come; what is left over binds to what
    does not exist, which can still take other values.
    """
    found = _found(asked, known, bound or {}, additional, values)
    next_k = max((item.k for item in known), default=-1) + 1
    bindings = []
    for place in range(asked):
        item = found.get(place)
        if item is None:
            bindings.append(Binding(None, next_k))
            next_k += 1
        else:
            bindings.append(Binding(item, item.k))
    return bindings


def _found(
    asked: int, known: Sequence[Known], told: Mapping[int, int], additional: Collection[int], values: Sequence[str]
) -> dict[int, Known]:
    """Place -> known item. All places have their choice by one rule before the next rule; one more chooses first."""
    free = {item.id: item for item in sorted(known, key=_rank)}
    found: dict[int, Known] = {}

    def same(place: int, item: Known) -> bool:
        return not values or values[place] == item.values

    def stays(place: int) -> Iterable[Known]:
        return [free[told[place]]] if told.get(place) in free else []

    def any_for(place: int) -> Iterable[Known]:
        return (item for item in free.values() if place not in additional or item.may_pass)

    def choose(choice: Callable[[int], Iterable[Known]], fits: Callable[[int, Known], bool]) -> None:
        for place in sorted(set(range(asked)) - found.keys(), key=lambda place: (place not in additional, place)):
            item = next((item for item in choice(place) if fits(place, item)), None)
            if item is not None:
                found[place] = free.pop(item.id)

    choose(stays, same)
    choose(any_for, same)
    choose(stays, lambda *_: True)
    free = {item.id: item for item in sorted(free.values(), key=_rank_other)}
    choose(any_for, lambda *_: True)
    return found


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


def _rank_other(item: Known) -> tuple[bool, int, int]:
    """For other values than its own: what exists, or may, can't take them."""
    return not item.gone, *_rank(item)
