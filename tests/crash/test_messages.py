"""A message is a hint: small, forgeable, repeatable, losable."""

import base64
import json
from typing import Any

import pytest

from booking.arguments import BookRooms
from dedupe.read import read_intents
from tasks.message import RUN_ITEM, make_app
from tests.crash.drama import Drama
from tests.crash.house import House
from tests.dedupe.rows import ask, change, room, row, rows
from tests.waiting import eventually

pytestmark = pytest.mark.timeout(300)
#: A broker that no worker listens to.
NOBODYS = 9
FORGED: list[tuple[Any, ...]] = [
    (10**9,),
    (0,),
    (-1,),
    (2**63,),
    (10**400,),
    (1.5,),
    (True,),
    (None,),
    ("",),
    ("1",),
    ("1; DROP TABLE items",),
    ("x" * 1_000_000,),
    ([1],),
    ({"id": 1},),
    (),
    (1, 2),
]


def everything(house: House) -> list[list[Any]]:
    """All that could have been changed."""
    tables = ("items", "attempts", "links", "intents", "dead_letters", "events")
    return [list(rows(house.engine, f"SELECT * FROM {name} ORDER BY 1")) for name in tables]  # noqa: S608


def all_taken(house: House) -> bool:
    """No message waits, and none is being worked on."""
    held = rows(house.engine, "SELECT id FROM items WHERE lease_until > now()")
    return house.client().llen("bookings.pms") == 0 and not held


def succeeded(house: House, item: int) -> bool:
    return house.state(item) == "succeeded"


def test_case_66_message_stays_under_2_kb_and_carries_an_id_only(house: House) -> None:
    rooms = BookRooms(rooms=[room(notes="n" * 900, guest=f"Guest {n}") for n in range(50)]).rooms
    published = ask(house.engine, *rooms, conversation="c-large").publish
    house.publish(*[item for item, _ in published], number=NOBODYS)
    raw = [bytes(one) for one in house.client(NOBODYS).lrange("bookings.pms", 0, -1) if isinstance(one, bytes)]
    assert len(raw) == 50
    assert max(len(one) for one in raw) < 2048
    bodies = [json.loads(base64.b64decode(json.loads(one)["body"])) for one in raw]
    assert sorted(body[0] for body in bodies) == sorted([item] for item, _ in published)
    assert all(body[1] == {} for body in bodies)
    assert not any(b"Guest" in one or b"nnnn" in base64.b64decode(json.loads(one)["body"]) for one in raw)
    for item, _ in published:  # nobody shall run them
        change(house.engine, item, "stop_writes = true, due_at = NULL, publish_at = NULL")


def test_a_forged_message_changes_nothing_and_kills_no_worker(house: House, drama: Drama) -> None:
    eventually(lambda: all_taken(house), within=60)
    before, calls = everything(house), len(house.pms.ledger())
    app = make_app(house.broker(0), 5.0, [])
    with app.producer_pool.acquire(block=True, timeout=10) as producer:
        for arguments in FORGED:
            app.send_task(RUN_ITEM, arguments, queue="bookings.pms", producer=producer, retry=False)
        app.send_task(RUN_ITEM, (), {"item_id": -1}, queue="bookings.pms", producer=producer, retry=False)
        app.send_task("roomkey.drop_everything", (1,), queue="bookings.pms", producer=producer, retry=False)
    app.close()
    eventually(lambda: all_taken(house), within=60)
    assert everything(house) == before
    assert len(house.pms.ledger()) == calls
    item = house.ask("c-honest")
    house.publish(item)
    eventually(lambda: succeeded(house, item), within=30)
    assert drama.worker.alive


def test_a_forged_message_can_only_run_what_was_asked_for(house: House, drama: Drama) -> None:
    """A known id: the item runs once, as it would have; its arguments come from Postgres."""
    item = house.ask("c-known", room("suite"))
    app = make_app(house.broker(0), 5.0, [])
    app.send_task(RUN_ITEM, (item,), queue="bookings.pms", retry=False, headers={"x": "y"}, priority=9)
    app.close()
    eventually(lambda: succeeded(house, item), within=30)
    assert house.calls(item) == ["create_booking"]


def test_case_01_copies_of_a_message_during_the_call_are_acked_without_a_call(house: House, drama: Drama) -> None:
    hold = house.pms.fault("commit_then_timeout", match={"room_type": "family"}, times=1)
    item = house.ask("c-copies", room("family"))
    house.publish(*[item] * 10)
    [held] = house.pms.wait_held(within=30)
    assert held["reference"] == house.item(item).reference
    eventually(lambda: house.client().llen("bookings.pms") == 0, within=30)
    house.pms.release(hold)
    eventually(lambda: succeeded(house, item), within=30)
    house.publish(*[item] * 10)
    eventually(lambda: all_taken(house), within=30)
    assert house.calls(item).count("create_booking") == 1
    assert len(house.effects(item)) == 1


def test_ten_copies_of_each_of_ten_messages_make_ten_bookings(house: House, drama: Drama) -> None:
    items = [house.ask(f"c-times-{n}") for n in range(10)]
    house.publish(*items * 10)
    eventually(lambda: all(succeeded(house, item) for item in items), within=60)
    eventually(lambda: all_taken(house), within=60)
    assert [house.calls(item).count("create_booking") for item in items] == [1] * 10


def test_case_67_results_survive_a_flushed_broker(house: House, drama: Drama) -> None:
    intent = rows(house.engine, "SELECT intent_id FROM links WHERE item_id = :id", id=drama.flushed[0])[0].intent_id
    before = read_intents(house.engine, [intent])[intent]
    house.client().flushall()
    after = read_intents(house.engine, [intent])[intent]
    assert after == before
    assert after.items[0].result is not None
    assert after.items[0].result["booking_id"] == row(house.engine, drama.flushed[0]).provider_id


def test_an_item_without_any_message_is_run_by_the_caretakers_care(house: House, drama: Drama) -> None:
    item = house.ask("c-unpublished")
    change(house.engine, item, "publish_at = now()")
    eventually(lambda: succeeded(house, item), within=30)
    assert house.calls(item) == ["create_booking"]
