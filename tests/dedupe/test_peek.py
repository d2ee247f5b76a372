"""Peek: the item and the sum of its attempts at one instant, without a lock."""

from booking.states import State
from dedupe.engine import Engine
from dedupe.items import Closing
from dedupe.peek import peek
from dedupe.settle import close
from tests.dedupe.calls import booked, end, start_check, start_write, written
from tests.dedupe.rows import one_item, pass_time, seen


def test_there_is_no_item_of_an_unknown_id(engine: Engine) -> None:
    assert peek(engine, 1) is None
    assert peek(engine, 2**63 - 1) is None


def test_a_new_item_has_no_doubt_and_no_last_send(engine: Engine) -> None:
    item = one_item(engine)
    assert (item.state, item.doubts, item.last_send, item.writes, item.request_bytes) == (
        State.QUEUED,
        (),
        None,
        0,
        None,
    )
    assert item.now < item.expires_at


def test_open_and_unknown_writes_are_doubts_and_nothing_else_is(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    marks = [begun.may_send_until]
    for outcome in ("unknown", "rejected", "not_sent", "misconfigured", "unknown"):
        close(engine, item, begun, Closing(outcome))
        begun = start_write(engine, item, begun)
        marks.append(begun.may_send_until)
    look_up = start_check(engine, item, begun)
    close(engine, item, look_up, Closing("unknown"))
    again = seen(engine, item.id)
    assert set(again.doubts) == {marks[0], marks[4], marks[5]}  # two unknown, one open
    assert again.last_send == marks[5]


def test_the_last_send_stays_known_when_nothing_is_in_doubt(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    end(engine, item, begun, "done", booked())
    again = seen(engine, item.id)
    assert again.doubts == ()
    assert again.last_send == begun.may_send_until


def test_the_time_is_the_databases_and_later_at_each_peek(engine: Engine) -> None:
    item = one_item(engine)
    assert seen(engine, item.id).now > item.now
    written(engine, item)
    held = seen(engine, item.id)
    assert held.leased(held.now)
    pass_time(engine, item.id, 11)
    free = seen(engine, item.id)
    assert not free.leased(free.now)


def test_a_peek_waits_for_no_lock(engine: Engine) -> None:
    item = one_item(engine)
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as other, other.begin():
        other.exec_driver_sql("UPDATE items SET rev = rev + 1")
        assert seen(engine, item.id).rev == item.rev
