"""Marks and verdicts as a run makes them, with one word for each."""

from typing import Any

from booking.states import DeadLetter, Kind, State
from dedupe.begin import begin
from dedupe.engine import Engine
from dedupe.items import Begun, Closing, Item, Move, Proof, Settled
from dedupe.settle import settle
from tests.booking.build import error_of
from tests.dedupe.rows import seen

BODY = b'{"reference":"rk"}'


def start_write(engine: Engine, item: Item, held: Begun | None = None, *, lease: float = 10, body: bytes = BODY) -> Any:
    """A write's mark, or None where it was refused."""
    return begin(engine, item, Kind.WRITE, held=held, lease=lease, send_window=3, body=body)


def start_check(engine: Engine, item: Item, held: Begun | None = None, *, lease: float = 10) -> Any:
    """A look-up's mark, or None where it was refused."""
    return begin(engine, item, Kind.CHECK, held=held, lease=lease, send_window=3)


def written(engine: Engine, item: Item) -> Begun:
    """A write's mark that must pass."""
    begun = start_write(engine, item)
    assert isinstance(begun, Begun)
    return begun


def booked(booking_id: str = "B-1") -> Move:
    """The provider's proof."""
    return Move(State.SUCCEEDED, proof=Proof(booking_id, {"booking_id": booking_id}))


def failed(row: str = "unavailable", **changes: Any) -> Move:
    """It did not happen."""
    return Move(State.FAILED, error=error_of(row), **changes)


def later(due_in: float = 60, **changes: Any) -> Move:
    """Not yet."""
    return Move(State.QUEUED, due_in=due_in, **changes)


def doubted(**changes: Any) -> Move:
    """A person shall look."""
    letters = ((DeadLetter.UNKNOWN_OUTCOME, "nobody knows"),)
    return Move(State.UNKNOWN, letters=letters, in_doubt=True, **changes)


def end(engine: Engine, item: Item, begun: Begun, outcome: str, move: Move, *, absent: bool = False) -> Settled:
    """Settle."""
    return settle(engine, item, begun, Closing(outcome, absent=absent), move)


def end_unknown(engine: Engine, item: Item) -> Item:
    """One write of the item has ended unknown, and it is due again at once."""
    end(engine, item, written(engine, item), "unknown", later(0, in_doubt=True))
    return seen(engine, item.id)
