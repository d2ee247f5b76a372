"""The relay's share of the truth: what is due is offered once, then ever more rarely."""

import pytest
from sqlalchemy import text

from dedupe.engine import Engine
from dedupe.peek import any_due
from dedupe.relay import give_back, take_due
from tests.dedupe.calls import booked, end, later, start_check, written
from tests.dedupe.rows import ask, at_once, one_item, pass_time, room, row, rows, run, seen, wide

QUEUES = ["bookings.pms", "batch"]


def make_due(engine: Engine) -> None:
    run(engine, "UPDATE items SET publish_at = now() - interval '1 s'")


def wait_of(engine: Engine, item_id: int) -> float:
    """Seconds until the next message."""
    [one] = rows(
        engine, "SELECT extract(epoch FROM publish_at - now())::float8 AS s FROM items WHERE id = :id", id=item_id
    )
    seconds: float = one.s
    return seconds


def test_what_admit_published_is_left_alone_for_five_seconds(engine: Engine) -> None:
    item = one_item(engine)
    assert take_due(engine, QUEUES, 10) == []
    assert 4 < wait_of(engine, item.id) <= 5
    pass_time(engine, item.id, 5)
    assert take_due(engine, QUEUES, 10) == [(item.id, "bookings.pms")]


def test_two_relays_at_once_never_take_the_same_item(engine: Engine) -> None:
    ids = {item_id for item_id, _ in ask(engine, *[room()] * 200).publish}
    make_due(engine)
    with wide(engine, 4) as several:
        taken = at_once(4, lambda _: [found for _ in range(20) for found in take_due(several, QUEUES, 7)])
    offered = [item_id for found in taken for item_id, _ in found]
    assert len(offered) == len(set(offered))
    assert set(offered) == ids


def test_a_relay_passes_by_what_another_has_locked(engine: Engine) -> None:
    first, second = (item_id for item_id, _ in ask(engine, room(), room()).publish)
    make_due(engine)
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as other, other.begin():
        other.execute(text("SELECT 1 FROM items WHERE id = :id FOR UPDATE"), {"id": first})
        assert take_due(engine, QUEUES, 10) == [(second, "bookings.pms")]


def test_each_message_in_vain_doubles_the_wait_up_to_ten_minutes(engine: Engine) -> None:
    item = one_item(engine, lifetime=86_400)
    waits = []
    for _ in range(9):
        make_due(engine)
        assert len(take_due(engine, QUEUES, 10)) == 1
        waits.append(wait_of(engine, item.id))
    assert waits == pytest.approx([10, 20, 40, 80, 160, 320, 640, 640, 640], abs=1)


def test_a_run_that_began_ends_the_doubling(engine: Engine) -> None:
    item = one_item(engine)
    for _ in range(4):
        make_due(engine)
        take_due(engine, QUEUES, 10)
    end(engine, item, written(engine, item), "unknown", later(0, in_doubt=True))
    assert take_due(engine, QUEUES, 10) == [(item.id, "bookings.pms")]
    assert wait_of(engine, item.id) == pytest.approx(5, abs=1)


def test_an_item_is_offered_again_when_its_lease_ran_out_and_not_before(engine: Engine) -> None:
    item = one_item(engine)
    written(engine, item)  # a lease of 10 s; its worker dies now
    assert take_due(engine, QUEUES, 10) == []
    assert any_due(engine, "bookings.pms") is None
    pass_time(engine, item.id, 9)
    assert take_due(engine, QUEUES, 10) == []
    pass_time(engine, item.id, 1.5)
    assert any_due(engine, "bookings.pms") == item.id
    assert take_due(engine, QUEUES, 10) == [(item.id, "bookings.pms")]


def test_a_look_up_that_died_is_offered_again_too(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "unknown", later(0, in_doubt=True))
    start_check(engine, seen(engine, item.id))
    assert take_due(engine, QUEUES, 10) == []
    pass_time(engine, item.id, 11)
    assert take_due(engine, QUEUES, 10) == [(item.id, "bookings.pms")]


def test_what_could_not_be_sent_is_due_again_at_once(engine: Engine) -> None:
    item = one_item(engine)
    make_due(engine)
    take_due(engine, QUEUES, 10)
    assert row(engine, item.id).published == 2
    give_back(engine, [item.id])
    assert row(engine, item.id).published == 1
    assert take_due(engine, QUEUES, 10) == [(item.id, "bookings.pms")]


def test_what_is_settled_meanwhile_is_not_given_back(engine: Engine) -> None:
    item = one_item(engine)
    make_due(engine)
    take_due(engine, QUEUES, 10)
    end(engine, item, written(engine, item), "done", booked())
    give_back(engine, [item.id])
    assert row(engine, item.id).publish_at is None
    assert take_due(engine, QUEUES, 10) == []


def test_a_relay_takes_no_more_than_asked_of_the_queues_named_oldest_first(engine: Engine) -> None:
    ids = [item_id for item_id, _ in ask(engine, *[room()] * 5).publish]
    make_due(engine)
    run(engine, "UPDATE items SET publish_at = publish_at - interval '1 h' WHERE id = :id", id=ids[3])
    run(engine, "UPDATE items SET queue = 'batch' WHERE id = :id", id=ids[0])
    assert take_due(engine, ["bookings.pms"], 1) == [(ids[3], "bookings.pms")]
    assert take_due(engine, ["batch"], 10) == [(ids[0], "batch")]
    assert len(take_due(engine, ["bookings.pms"], 10)) == 3


def test_a_message_without_work_of_its_own_runs_the_longest_due_of_its_queue(engine: Engine) -> None:
    first, second = (item_id for item_id, _ in ask(engine, room(), room()).publish)
    pass_time(engine, second, 60)
    assert any_due(engine, "bookings.pms") == second
    assert any_due(engine, "batch") is None
    run(engine, "UPDATE items SET due_at = now() + interval '1 h' WHERE id = :id", id=second)
    assert any_due(engine, "bookings.pms") == first
