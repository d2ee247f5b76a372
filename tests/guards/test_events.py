"""Events: what changed after it had been told. A poller that goes on from the last id misses none."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from booking.states import State
from dedupe.engine import Engine
from dedupe.events import read_events
from dedupe.items import Move
from tests.api.checks import refused
from tests.conftest import make_tenant
from tests.dedupe.calls import booked, end, failed, written
from tests.dedupe.rows import ask, change, one_item, room, rows, run, seen, wide
from tests.guards.chat import Chat
from tests.pms import Pms
from tests.waiting import eventually

INSERT = "INSERT INTO events (tenant_id, conversation_id, kind) VALUES (:tenant, 'c', 'lifted')"


def told(engine: Engine) -> list[tuple[str, str | None, str | None, str | None]]:
    events = read_events(engine, "t-1", 0, 10).events
    return [(event.kind, event.from_state, event.to_state, event.booking_id) for event in events]


def test_an_unknown_item_goes_on_being_checked_and_its_verdict_is_an_event(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    pms.fault("status", match={"operation": "create_booking"}, status=500, when="after")
    blind = pms.fault("status", match={"operation": "find"}, status=500)
    chat.desk.run(item)
    for _ in range(3):
        assert chat.desk.later(item, 600).state is State.UNKNOWN
    assert chat.look(intent["id"])["outcome"] == "unknown"
    assert chat.events()["events"] == []
    assert blind
    pms.clear_faults()
    assert chat.desk.later(item, 86_400).state is State.SUCCEEDED
    [event] = chat.events()["events"]
    [booking] = pms.bookings()
    told = {
        name: event[name] for name in ("kind", "conversation_id", "intent_ids", "item_id", "from_state", "to_state")
    }
    assert told == {
        "kind": "verdict",
        "conversation_id": "c-77",
        "intent_ids": [intent["id"]],
        "item_id": item,
        "from_state": "unknown",
        "to_state": "succeeded",
    }
    assert event["booking_id"] == booking["booking_id"]
    assert chat.events(after=event["id"]) == {"events": [], "after": event["id"]}


def test_a_verdict_is_told_even_if_the_item_was_written_again_before_it(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "unknown", Move(State.UNKNOWN, in_doubt=True), absent=True)
    change(engine, item.id, "due_at = now()")
    run(engine, "UPDATE attempts SET outcome = 'absent'")
    begun = written(engine, seen(engine, item.id))
    end(engine, item, begun, "done", booked())
    [event] = read_events(engine, "t-1", 0, 10).events
    assert (event.kind, event.from_state, event.to_state, event.booking_id) == (
        "verdict",
        "unknown",
        "succeeded",
        "B-1",
    )


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_late_success_is_an_event(engine: Engine, state: str) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    change(engine, item.id, "state = :state, error = '{}', token = NULL, lease_until = NULL", state=state)
    end(engine, item, begun, "done", booked("B-7"))
    [event] = read_events(engine, "t-1", 0, 10).events
    assert (event.kind, event.from_state, event.to_state, event.booking_id) == (
        "late_success",
        state,
        "succeeded",
        "B-7",
    )


def test_a_duplicate_is_an_event_once(engine: Engine) -> None:
    item = one_item(engine)
    first = written(engine, item)
    end(engine, item, first, "done", booked("B-1"))
    for _ in range(2):
        end(engine, item, first, "done", booked("B-2"))
    assert told(engine) == [("duplicate", None, None, "B-1")]


def test_an_ordinary_end_is_no_event(engine: Engine) -> None:
    item = one_item(engine, room("double"))
    end(engine, item, written(engine, item), "done", booked())
    other = one_item(engine, room("suite"))
    end(engine, other, written(engine, other), "rejected", failed("denied"))
    assert told(engine) == []


def test_an_event_that_commits_late_is_not_missed(engine: Engine) -> None:
    """Ids are drawn in the order of commits: the second writer waits for the first, and the reader for nobody."""
    ask(engine)
    values = {"tenant": "t-1"}
    with wide(engine, 3) as many, ThreadPoolExecutor(1) as pool:
        with many.connect().execution_options(isolation_level="READ COMMITTED") as slow, slow.begin():
            slow.execute(text(INSERT), values)
            quick = pool.submit(run, many, INSERT, **values)
            run(many, INSERT, tenant="t-2")  # another tenant waits for nobody
            eventually(
                lambda: rows(engine, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"), within=3
            )
            page = read_events(engine, "t-1", 0, 10)
            assert page.events == []
        assert quick.result(timeout=20) == 1
    assert len(read_events(engine, "t-1", page.after, 10).events) == 2


def test_a_poller_sees_every_event_of_many_writers_once(engine: Engine) -> None:
    ask(engine)
    polled: list[int] = []
    over = threading.Event()

    def poll() -> None:
        last = False
        while not last:
            last = over.is_set()
            while (page := read_events(engine, "t-1", polled[-1] if polled else 0, 7)).events:
                polled.extend(event.id for event in page.events)

    def write(many: Engine) -> None:
        for _ in range(40):
            with many.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
                connection.execute(text(INSERT), {"tenant": "t-1"})
                connection.execute(text("SELECT pg_sleep(random() / 500)"))

    with wide(engine, 6) as many, ThreadPoolExecutor(7) as pool:
        poller = pool.submit(poll)
        for done in [pool.submit(write, many) for _ in range(6)]:
            done.result(timeout=60)
        over.set()
        poller.result(timeout=60)
    assert polled == [one.id for one in rows(engine, "SELECT id FROM events ORDER BY id")]
    assert len(polled) == 240


def test_events_are_the_tenants_own_and_come_in_pages(chat: Chat) -> None:
    for _ in range(5):
        run(chat.api.engine, INSERT, tenant=chat.api.tenant.id)
    first = chat.events(limit=2)
    assert len(first["events"]) == 2
    rest = chat.events(after=first["after"], scope="ops")
    ids = [event["id"] for event in [*first["events"], *rest["events"]]]
    assert ids == sorted(set(ids))
    assert len(ids) == 5
    stranger = make_tenant(chat.api.engine, "other")
    theirs = chat.api.http.get("/v1/events", headers={"Authorization": f"Bearer {stranger.host}"})
    assert theirs.json() == {"events": [], "after": 0}


def test_an_agent_may_not_read_events_and_a_wrong_place_is_refused(chat: Chat) -> None:
    refused(chat.api.http.get("/v1/events"), 403, "PERMISSION_DENIED")
    for query in ("after=-1", "after=x", f"after={2**63}", "limit=0", "limit=501"):
        refused(chat.api.http.get(f"/v1/events?{query}", headers=chat.scope("host")), 422)
