"""A look-up proves something of the writes before it, and nothing of a write that somebody else began meanwhile."""

import pytest

from booking.states import Kind
from dedupe.begin import begin
from dedupe.engine import Engine
from dedupe.items import Begun, Closing, Item
from dedupe.settle import close
from tests.dedupe.calls import BODY, booked, end, end_unknown, failed, start_check, start_write
from tests.dedupe.rows import attempts, one_item, pass_time, row, seen


@pytest.fixture
def overtaken(engine: Engine) -> tuple[Item, Begun, Begun]:
    """A's look-up stalls beyond its lease; B looks up, finds nothing, and writes. The item, A's mark, B's write."""
    item = end_unknown(engine, one_item(engine))
    stalled = start_check(engine, item)
    pass_time(engine, item.id, 3600)
    now = seen(engine, item.id)
    looked = start_check(engine, now)
    close(engine, now, looked, Closing("absent", absent=True))
    write = start_write(engine, now, looked)
    assert isinstance(write, Begun)
    return item, stalled, write


def in_flight(engine: Engine, item: Item) -> bool:
    """B's write is still open, and nobody else may write."""
    pass_time(engine, item.id, 3600)
    marks = [outcome for kind, outcome in attempts(engine, item.id) if kind == "write"]
    return marks == ["absent", None] and start_write(engine, seen(engine, item.id)) is None


def test_a_stalled_look_up_that_found_nothing_leaves_a_newer_write_in_doubt(
    engine: Engine, overtaken: tuple[Item, Begun, Begun]
) -> None:
    item, stalled, _ = overtaken
    close(engine, item, stalled, Closing("absent", absent=True))
    assert in_flight(engine, item)


def test_a_stalled_verdict_of_absence_leaves_a_newer_write_in_doubt(
    engine: Engine, overtaken: tuple[Item, Begun, Begun]
) -> None:
    item, stalled, _ = overtaken
    assert not end(engine, item, stalled, "absent", failed(), absent=True).moved
    assert in_flight(engine, item)


def test_a_late_success_while_another_write_is_open_is_audited(engine: Engine) -> None:
    item = one_item(engine)
    late = start_write(engine, item)
    pass_time(engine, item.id, 3600)
    now = seen(engine, item.id)
    again = begin(engine, now, Kind.WRITE, held=None, lease=10, send_window=3, body=BODY, same_key=True)
    assert again is not None
    assert end(engine, item, late, "done", booked("B-1")).moved
    told = row(engine, item.id)
    assert told.state == "succeeded"
    assert told.due_at is not None


def test_a_write_under_the_same_key_passes_only_where_it_is_asked_for(engine: Engine) -> None:
    item = end_unknown(engine, one_item(engine))
    assert start_write(engine, item) is None
    assert begin(engine, item, Kind.WRITE, held=None, lease=10, send_window=3, body=BODY, same_key=True) is not None
