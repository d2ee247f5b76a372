"""A settled success never changes, not even by the hand of the run that holds the item."""

import pytest

from booking.states import State
from dedupe.engine import Engine
from dedupe.items import Begun, Item, Move
from tests.dedupe.calls import booked, doubted, end, failed, later, start_check, written
from tests.dedupe.rows import letters, one_item, row, seen


@pytest.fixture
def audit(engine: Engine) -> tuple[Item, Begun]:
    """A success with the audit that looks at it once more."""
    item = one_item(engine)
    end(engine, item, written(engine, item), "done", Move(State.SUCCEEDED, due_in=0, proof=booked("B-1").proof))
    settled = seen(engine, item.id)
    begun = start_check(engine, settled)
    assert isinstance(begun, Begun)
    return settled, begun


@pytest.mark.parametrize("move", [failed("denied"), doubted(), later(0)], ids=lambda move: move.state.value)
def test_the_holder_can_not_take_a_success_back(engine: Engine, audit: tuple[Item, Begun], move: Move) -> None:
    item, begun = audit
    before = row(engine, item.id)
    end(engine, item, begun, "unknown", move)
    after = row(engine, item.id)
    kept = ("state", "result", "provider_id", "error", "settled_at")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]


def test_the_holder_who_finds_another_booking_changes_nothing_and_calls_a_person(
    engine: Engine, audit: tuple[Item, Begun]
) -> None:
    item, begun = audit
    end(engine, item, begun, "found", booked("B-2"))
    assert (row(engine, item.id).provider_id, row(engine, item.id).result) == ("B-1", {"booking_id": "B-1"})
    assert letters(engine, item.id) == ["duplicate"]
