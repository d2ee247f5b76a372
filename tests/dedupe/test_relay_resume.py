"""A pause that is lifted: who waited for it is due soon and once; who waits for quiet time goes on waiting."""

import pytest

from dedupe.engine import Engine
from dedupe.pauses import OWN_WAITS, pause, resume
from tests.dedupe.calls import end, later, written
from tests.dedupe.rows import ask, change, one_item, room, row, rows, seen


def due_in(engine: Engine, item_id: int) -> float:
    """Seconds until the item may run."""
    item = seen(engine, item_id)
    assert item.due_at is not None
    return (item.due_at - item.now).total_seconds()


def test_each_item_is_published_when_it_may_run(engine: Engine) -> None:
    ids = [item_id for item_id, _ in ask(engine, *[room()] * 20).publish]
    for item_id in ids:
        change(engine, item_id, "due_at = now() + interval '30 s', publish_at = now() + interval '30 s'")
    pause(engine, "pms", "HTTP 401")
    assert resume(engine, "pms") == len(ids)
    moments = rows(engine, "SELECT due_at, publish_at FROM items")
    assert all(one.due_at == one.publish_at for one in moments)
    assert len({one.due_at for one in moments}) == len(ids), "spread"
    assert all(-1 < due_in(engine, item_id) <= 3 for item_id in ids)


def test_who_is_due_sooner_is_not_put_off(engine: Engine) -> None:
    item = one_item(engine)
    change(engine, item.id, "due_at = now() + interval '0.001 s', publish_at = now() + interval '0.001 s'")
    before = row(engine, item.id).due_at
    pause(engine, "pms", "HTTP 401")
    resume(engine, "pms")
    assert row(engine, item.id).due_at == before


@pytest.mark.parametrize("doubt", [True, False])
def test_only_doubt_goes_on_waiting_for_quiet_time(engine: Engine, doubt: bool) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "unknown" if doubt else "not_sent", later(300, in_doubt=doubt))
    pause(engine, "pms", "HTTP 401")
    assert resume(engine, "pms") == (0 if doubt else 1)
    assert (due_in(engine, item.id) > 290) is doubt


def test_doubt_that_waits_for_the_pause_is_looked_up_at_once(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "unknown", later(OWN_WAITS - 1, in_doubt=True))
    pause(engine, "pms", "HTTP 401")
    assert resume(engine, "pms") == 1
    assert due_in(engine, item.id) <= 3
