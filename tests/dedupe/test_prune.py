"""Prune: what is old goes, what is open stays, and a key guards longer than its guest's data."""

from datetime import UTC, datetime, timedelta

import pytest

from booking.arguments import Stay
from booking.states import State
from dedupe.engine import Engine
from dedupe.items import Item, Move
from dedupe.prune import prune_once
from dedupe.submission import Mismatch
from tests.dedupe.calls import booked, end, failed, start_write, written
from tests.dedupe.rows import ask, change, count, letters, one_item, room, row, rows, run


def past_room(days: int, **changes: str) -> Stay:
    """A stay that ended so many days ago."""
    left = datetime.now(UTC).date() - timedelta(days=days)
    return room(check_in=str(left - timedelta(days=2)), check_out=str(left), **changes)


def grow_old(engine: Engine) -> None:
    """31 days pass."""
    old = "created_at = created_at - interval '31 days', expires_at = expires_at - interval '31 days'"
    run(engine, f"UPDATE intents SET {old}")  # noqa: S608 - words of this test
    run(engine, "UPDATE items SET settled_at = settled_at - interval '31 days'")


def booked_item(engine: Engine, stay: Stay, **how: str) -> Item:
    item = one_item(engine, stay, **how)
    end(engine, item, written(engine, item), "done", booked())
    return item


def test_what_is_young_stays(engine: Engine) -> None:
    booked_item(engine, room())
    assert prune_once(engine) == 0
    assert count(engine, "links") == 1


def test_an_old_intent_leaves_its_id_and_an_item_without_guest_data_that_still_guards_its_key(engine: Engine) -> None:
    item = booked_item(engine, room(notes="late"))
    grow_old(engine)
    while prune_once(engine):
        pass
    [intent] = rows(engine, "SELECT * FROM intents")
    kept = row(engine, item.id)
    assert intent.pruned_at is not None
    assert count(engine, "links") == 0
    assert (kept.state, kept.key, kept.provider_id, kept.request_bytes) == ("succeeded", item.key, "B-1", None)
    assert "guest" not in kept.request
    assert "notes" not in kept.request
    assert "Ana" not in str(rows(engine, "SELECT * FROM items, attempts"))
    # Asked for again, it is met, not booked a second time.
    assert ask(engine, room(notes="late"), header="again").publish == []
    with pytest.raises(Mismatch):
        ask(engine, room(notes="early"), header="other")


@pytest.mark.parametrize("state", ["queued", "running", "unknown"])
def test_an_item_that_is_not_settled_is_never_touched(engine: Engine, state: str) -> None:
    item = one_item(engine, past_room(400))
    if state != "queued":
        begun = written(engine, item)
        if state == "unknown":
            end(engine, item, begun, "unknown", Move(State.UNKNOWN, in_doubt=True))
    change(engine, item.id, "settled_at = now()")
    grow_old(engine)
    before = row(engine, item.id)
    assert prune_once(engine) == 0
    assert row(engine, item.id) == before
    assert count(engine, "links") == 1


def test_an_intent_with_one_open_item_keeps_all_its_links(engine: Engine) -> None:
    ask(engine, room("double"), room("suite"))
    run(
        engine,
        """UPDATE items SET state = 'failed', error = '{}', settled_at = now() WHERE k = 0 AND id =
        (SELECT min(id) FROM items)""",
    )
    grow_old(engine)
    assert prune_once(engine) == 0
    assert count(engine, "links") == 2


def test_what_waits_for_a_person_stays(engine: Engine) -> None:
    item = one_item(engine, past_room(400))
    begun = written(engine, item)
    end(engine, item, start_write(engine, item, begun), "done", booked("B-1"))
    end(engine, item, begun, "done", booked("B-2"))
    assert letters(engine, item.id) == ["duplicate"]
    grow_old(engine)
    assert prune_once(engine) == 0
    run(engine, "UPDATE dead_letters SET closed_at = now()")
    assert prune_once(engine) > 0


def test_an_item_that_a_younger_intent_asks_for_keeps_its_data(engine: Engine) -> None:
    item = booked_item(engine, room())
    grow_old(engine)
    ask(engine, room(), header="young")
    assert prune_once(engine) == 1  # the old intent alone
    assert row(engine, item.id).request["guest"]["name"] == "Ana Müller"


def test_a_tombstone_goes_ninety_days_after_check_out_with_all_that_hangs_on_it(engine: Engine) -> None:
    gone = booked_item(engine, past_room(91))
    kept = booked_item(engine, past_room(89), conversation="c-2")
    refused = one_item(engine, past_room(95), conversation="c-3")
    end(engine, refused, written(engine, refused), "rejected", failed("denied"))
    grow_old(engine)
    while prune_once(engine):
        pass
    assert [one.id for one in rows(engine, "SELECT id FROM items")] == [kept.id]
    assert [one.item_id for one in rows(engine, "SELECT item_id FROM attempts")] == [kept.id]
    assert count(engine, "intents") == 3
    assert gone.id != kept.id
