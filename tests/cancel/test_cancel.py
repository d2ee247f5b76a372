"""Cancel: what has not been written is not written, what is in doubt is told as it is, what others want goes on."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from booking.errors import ErrorCode
from booking.states import State
from dedupe.admit import admit
from dedupe.cancel import cancel
from dedupe.engine import Engine
from dedupe.items import Begun
from dedupe.relay import take_due
from tasks.write import run_item
from tests.api.checks import refused
from tests.conftest import make_tenant
from tests.dedupe.calls import booked, doubted, end, failed, later, start_check, start_write, written
from tests.dedupe.rows import ask, asking, at_once, change, linked, room, row, rows, run, seen, wide
from tests.guards.chat import Chat
from tests.pms import Pms
from tests.waiting import eventually

TENANT = "t-1"


def states(intent: dict[str, Any]) -> list[str]:
    return [item["state"] for item in intent["items"]]


def test_what_is_queued_is_cancelled_at_once_and_never_written(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double", "suite").json()
    done = chat.cancel(intent["id"])
    assert done.status_code == 202
    answer = done.json()
    assert (answer["state"], states(answer), answer["cancelled"]) == ("done", ["cancelled", "cancelled"], [0, 1])
    assert answer["items"][0]["error"]["code"] == "CANCELLED"
    assert all(chat.desk.rests(item["id"]) for item in answer["items"])
    assert chat.cancel(intent["id"]).json() == answer, "again"
    assert pms.ledger() == []


def test_what_waits_for_a_sick_hotel_system_is_cancelled_at_once(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    chat.away.run(item)
    assert states(chat.cancel(intent["id"]).json()) == ["cancelled"]
    assert chat.desk.rests(item)
    assert pms.ledger() == []


def test_what_has_succeeded_stays(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double", "suite").json()
    chat.desk.run(intent["items"][0]["id"])
    answer = chat.cancel(intent["id"]).json()
    assert states(answer) == ["succeeded", "cancelled"]
    assert answer["outcome"] == "partial"
    assert len(pms.bookings()) == 1


def test_what_is_in_doubt_is_checked_on_and_told_as_it_is(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    pms.fault("status", match={"operation": "create_booking"}, status=500, when="after")
    pms.fault("status", match={"operation": "find"}, status=500)
    chat.desk.run(item)
    assert chat.cancel(intent["id"]).json()["state"] == "pending"
    pms.clear_faults()
    assert chat.desk.later(item).state is State.SUCCEEDED
    assert states(chat.look(intent["id"])) == ["succeeded"]
    assert len(pms.bookings()) == 1


def test_what_was_in_doubt_and_did_not_happen_is_cancelled_and_not_written_again(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    pms.fault("status", match={"operation": "create_booking"}, status=500)
    pms.fault("status", match={"operation": "find"}, status=500)
    chat.desk.run(item)
    chat.cancel(intent["id"])
    pms.clear_faults()
    ended = chat.desk.later(item)
    assert (ended.state, ended.error and ended.error.code) == (State.CANCELLED, ErrorCode.CANCELLED)
    assert len(pms.ledger(operation="create_booking")) == 1
    assert pms.bookings() == []


def test_a_running_write_ends_as_it_ends(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    pms.fault("hold_before_commit", match={"operation": "create_booking"})
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(chat.desk.run, item)
        pms.wait_held()
        assert states(chat.cancel(intent["id"]).json()) == ["running"]
        pms.release()
        assert running.result(timeout=20).state is State.SUCCEEDED


def test_cancelled_while_a_write_ran_that_reached_nobody_it_is_told_at_once(engine: Engine) -> None:
    asked = ask(engine)
    [item_id] = linked(engine, asked.intent_id)
    item = seen(engine, item_id)
    begun = written(engine, item)
    cancel(engine, TENANT, asked.intent_id)
    end(engine, item, begun, "not_sent", later(60))
    told = seen(engine, item_id)
    assert told.due_at is not None
    assert told.due_at <= told.now
    assert start_write(engine, told) is None
    assert start_check(engine, told) is not None


def test_a_stored_refusal_is_told_as_refused(engine: Engine) -> None:
    """Cancelled at once, its key would be used again, and the provider would replay the refusal for ever."""
    asked = ask(engine)
    [item_id] = linked(engine, asked.intent_id)
    change(engine, item_id, "refusal = '{}'")
    cancel(engine, TENANT, asked.intent_id)
    assert (row(engine, item_id).state, row(engine, item_id).stop_writes) == ("queued", True)


def test_another_living_intent_keeps_the_item_alive_as_long_as_itself(engine: Engine) -> None:
    long = ask(engine, room(), header="long", lifetime=3600)
    short = ask(engine, room(), header="short", lifetime=100)
    [item_id] = linked(engine, long.intent_id)
    change(engine, item_id, "due_at = now() + interval '50 min', publish_at = now() + interval '50 min'")
    assert linked(engine, short.intent_id) == [item_id]
    assert cancel(engine, TENANT, long.intent_id) == [long.intent_id]
    kept = seen(engine, item_id)
    assert (kept.state, kept.stop_writes) == (State.QUEUED, False)
    left = kept.expires_at - kept.now
    assert timedelta(seconds=90) < left < timedelta(seconds=101)
    assert kept.due_at is not None
    assert kept.due_at - kept.expires_at < timedelta(seconds=1), "its end is told when it comes"
    assert set(cancel(engine, TENANT, short.intent_id) or []) == {long.intent_id, short.intent_id}
    assert seen(engine, item_id).state is State.CANCELLED


def test_an_intent_whose_time_is_over_keeps_nothing_alive(engine: Engine) -> None:
    over = ask(engine, room(), header="over")
    mine = ask(engine, room(), header="mine")
    run(engine, "UPDATE intents SET expires_at = now() WHERE id = :id", id=over.intent_id)
    cancel(engine, TENANT, mine.intent_id)
    [item_id] = linked(engine, mine.intent_id)
    assert seen(engine, item_id).state is State.CANCELLED


def test_asked_again_it_is_written_after_all(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    chat.cancel(intent["id"])
    again = chat.ask("double")
    assert (again["id"], again["outcome"]) == (intent["id"], "succeeded")
    assert len(pms.bookings()) == 1
    assert chat.cancel(intent["id"]).json()["outcome"] == "succeeded"


def test_asked_again_while_in_doubt_it_may_be_written_again(engine: Engine) -> None:
    asked = ask(engine, lifetime=3600)
    [item_id] = linked(engine, asked.intent_id)
    item = seen(engine, item_id)
    end(engine, item, written(engine, item), "unknown", doubted(due_in=1))
    cancel(engine, TENANT, asked.intent_id)
    assert seen(engine, item_id).stop_writes
    ask(engine, room(), header="another", lifetime=100)
    kept = seen(engine, item_id)
    assert not kept.stop_writes
    assert kept.expires_at - kept.now < timedelta(seconds=101), "the cancelled intent's hour counts no more"


def test_a_refused_item_stays_refused(engine: Engine) -> None:
    asked = ask(engine)
    [item_id] = linked(engine, asked.intent_id)
    item = seen(engine, item_id)
    end(engine, item, written(engine, item), "rejected", failed("denied"))
    cancel(engine, TENANT, asked.intent_id)
    assert seen(engine, item_id).error == failed("denied").error


def check(engine: Engine, item_id: int, begun: Begun | None) -> None:
    """It was cancelled and no mark was made; or the mark was made, and the write ends as it ends."""
    now = seen(engine, item_id)
    marks = len(rows(engine, "SELECT 1 FROM attempts WHERE item_id = :id", id=item_id))
    if begun is None:
        assert (now.state, marks) == (State.CANCELLED, 0)
    else:
        assert (now.state, marks, now.stop_writes) == (State.RUNNING, 1, True)
        end(engine, now, begun, "done", booked())
        assert seen(engine, item_id).state is State.SUCCEEDED


@pytest.mark.parametrize("first", ["begin", "cancel"])
def test_cancel_and_begin_whoever_has_the_row_first_wins(engine: Engine, first: str) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with wide(engine, 3) as many, ThreadPoolExecutor(2) as pool:
        for number in range(15):
            asked = ask(engine, room(), conversation=f"c-{number}")
            [item_id] = linked(engine, asked.intent_id)
            item = seen(engine, item_id)
            calls: dict[str, Callable[[], Any]] = {
                "begin": partial(start_write, many, item),
                "cancel": partial(cancel, many, TENANT, asked.intent_id),
            }
            with many.connect().execution_options(isolation_level="READ COMMITTED") as gate, gate.begin():
                gate.execute(text("SELECT 1 FROM items WHERE id = :id FOR UPDATE"), {"id": item_id})
                running = {}
                for place, name in enumerate(sorted(calls, key=lambda name: name != first)):
                    running[name] = pool.submit(calls[name])
                    eventually(partial(_as_many, engine, waiting, place + 1))
            begun = running["begin"].result(timeout=20)
            assert running["cancel"].result(timeout=20) is not None
            assert (begun is not None) == (first == "begin")
            check(engine, item_id, begun)


def test_cancel_and_begin_at_once_leave_one_truth(engine: Engine) -> None:
    with wide(engine, 4) as many:
        for number in range(40):
            asked = ask(engine, room(), conversation=f"c-{number}")
            [item_id] = linked(engine, asked.intent_id)
            calls: list[Callable[[], Any]] = [
                partial(start_write, many, seen(engine, item_id)),
                partial(cancel, many, TENANT, asked.intent_id),
            ]
            begun, _ = at_once(2, partial(_nth, calls))
            check(engine, item_id, begun)


def _as_many(engine: Engine, counting: str, number: int) -> bool:
    return bool(rows(engine, counting)[0][0] == number)


def _nth(calls: list[Callable[[], Any]], index: int) -> Any:
    return calls[index]()


def test_cancel_and_asking_again_at_once_end_in_one_of_two_truths(engine: Engine) -> None:
    with wide(engine, 8) as many:
        for number in range(20):
            asked = ask(engine, room(), conversation=f"c-{number}")
            [item_id] = linked(engine, asked.intent_id)
            calls: list[Callable[[], Any]] = [
                partial(cancel, many, TENANT, asked.intent_id),
                partial(admit, many, asking(room(), conversation=f"c-{number}")),
            ] * 2
            at_once(4, partial(_nth, calls))
            [intent] = rows(engine, "SELECT cancelled_at FROM intents WHERE id = :id", id=asked.intent_id)
            expected = State.CANCELLED if intent.cancelled_at else State.QUEUED
            assert seen(engine, item_id).state is expected


def test_a_long_batch_is_cancelled_whole_while_workers_begin_it(chat: Chat, pms: Pms) -> None:
    intent = chat.call(*["double"] * 8, *["suite"] * 2).json()
    ids = [item["id"] for item in intent["items"]]
    with ThreadPoolExecutor(5) as pool:
        running = [pool.submit(run_item, chat.desk.runtime, item) for item in ids]
        answer = chat.cancel(intent["id"])
        for one in running:
            one.result(timeout=30)
    assert answer.status_code == 202
    ended = chat.look(intent["id"])
    assert set(states(ended)) <= {"succeeded", "cancelled"}
    assert len(pms.bookings()) == states(ended).count("succeeded")


def test_who_may_cancel_what(chat: Chat) -> None:
    intent = chat.call("double").json()
    refused(chat.cancel(intent["id"], scope="ops"), 403, "PERMISSION_DENIED")
    stranger = make_tenant(chat.api.engine, "other")
    path = f"/v1/intents/{intent['id']}/cancel"
    theirs = chat.api.http.post(path, headers={"Authorization": f"Bearer {stranger.agent}"})
    refused(theirs, 404, "NOT_FOUND")
    for unknown in ("int_0123456789abcdef", "nonsense", "%00"):
        refused(chat.cancel(unknown), 404, "NOT_FOUND")
    assert states(chat.look(intent["id"])) == ["queued"]
    assert chat.cancel(intent["id"], scope="host").status_code == 202


@pytest.mark.parametrize("published", [0, 3, 20])
def test_an_item_nobody_took_up_is_looked_at_when_it_expires(engine: Engine, published: int) -> None:
    [(item_id, _)] = ask(engine, lifetime=7).publish
    change(engine, item_id, "publish_at = now(), published = :published", published=published)
    assert take_due(engine, ["bookings.pms"], 10) == [(item_id, "bookings.pms")]
    item = row(engine, item_id)
    assert item.publish_at - item.expires_at < timedelta(seconds=1)
