"""Retry: only what is known not to exist and may pass runs again, as often and as long as a new one, and then once."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import redis

from booking.errors import MAY_PASS
from booking.states import State
from dedupe.prune import prune_once
from dedupe.relay import take_due
from tests.api.checks import refused
from tests.api.serving import Api, settings_for, stay
from tests.api.work import book, lose, refuse
from tests.booking.build import error_of
from tests.conftest import Tenant, make_tenant
from tests.dedupe.calls import end, failed, start_check, written
from tests.dedupe.rows import at_once, change, row, run, seen
from tests.dedupe.test_prune import grow_old
from tests.guards.chat import Chat
from tests.pms import Pms
from tests.retry.again import replayed, retried, retry, states, the_intent, unguarded

#: Why an item can have failed, with a row of the table for it.
ROWS = {
    "CONFLICT": "sold_out",
    "RATE_LIMITED": "rate_limited",
    "UNAVAILABLE": "unavailable",
    "EXPIRED": "expired",
    "CANCELLED": "cancelled",
    "INVALID_ARGUMENT": "refused_argument",
    "NOT_FOUND": "not_found",
    "PERMISSION_DENIED": "denied",
}
VALUES = dict.fromkeys(("room_type", "property", "check_in", "check_out", "field", "problem", "what"), "x")


def test_each_cause_that_may_pass_runs_again_and_no_other(chat: Chat) -> None:
    assert set(ROWS) > set(MAY_PASS)
    unguarded(chat.api.engine)
    for number, (code, name) in enumerate(ROWS.items()):
        intent = chat.call("double", conversation=f"c-{number}").json()
        item = intent["items"][0]["id"]
        state = State.CANCELLED if code == "CANCELLED" else State.FAILED
        refuse(chat.api.engine, item, name, **VALUES)
        change(chat.api.engine, item, "state = :state", state=state)
        assert chat.look(intent["id"])["items"][0]["error"]["code"] == code
        if code in MAY_PASS:
            assert states(retried(chat, intent)) == ["queued"]
        else:
            assert states(replayed(chat, intent)) == ["failed"]


def test_of_a_batch_only_the_failed_items_run_again(chat: Chat, redis_url: str) -> None:
    engine = chat.api.engine
    intent = chat.call(*("double",) * 6).json()
    done, wrong, lost, waiting, gone, out = (item["id"] for item in intent["items"])
    book(engine, done)
    refuse(engine, wrong, "denied")
    lose(engine, lost)
    refuse(engine, gone)
    refuse(engine, out, "sold_out", **VALUES)
    others = (done, wrong, lost, waiting)
    before = [row(engine, item) for item in others]
    with redis.Redis.from_url(redis_url) as broker:
        messages = int(broker.llen("bookings.pms"))
        answer = retried(chat, intent)
        told = int(broker.llen("bookings.pms")) - messages
        assert told == 2 or chat.api.server.parts.deps.publisher.paused, "told to the broker at once, if it isn't slow"
    assert states(answer) == ["succeeded", "failed", "unknown", "queued", "queued", "queued"]
    assert (answer["pending"], answer["failed"], answer["unknown"]) == ([3, 4, 5], [1], [2])
    assert [row(engine, item) for item in others] == before
    assert take_due(engine, ["bookings.pms"], 10) == [], "they have a message"


def test_without_a_broker_it_is_accepted_and_the_relay_finds_it(database_url: str, tenant: Tenant, chat: Chat) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    refuse(chat.api.engine, item)
    settings = settings_for(database_url, "redis://127.0.0.1:1/0")
    with Api.started(settings, tenant, chat.api.engine) as lonely:
        answer = lonely.http.post(f"/v1/intents/{intent['id']}/retry")
    assert (answer.status_code, states(answer.json())) == (202, ["queued"])
    change(chat.api.engine, item, "publish_at = publish_at - interval '5 s'")
    assert take_due(chat.api.engine, ["bookings.pms"], 10) == [(item, "bookings.pms")]


def test_fifty_retries_at_once_are_one_new_run_and_fifty_equal_answers(chat: Chat, pms: Pms) -> None:
    intent = chat.ask("double", away=True)
    item = intent["items"][0]["id"]
    rev = chat.desk.row(item).rev
    with ThreadPoolExecutor(50) as pool:
        responses = list(pool.map(lambda _: retry(chat, intent["id"]), range(50)))
    assert {response.status_code for response in responses} == {202}
    assert len({response.content for response in responses}) == 1
    assert [response.headers.get("idempotent-replayed") for response in responses].count(None) == 1
    assert chat.desk.row(item).rev == rev + 1
    assert chat.work(responses[0].json())["outcome"] == "succeeded"
    assert len(pms.ledger(operation="create_booking")) == 1


def test_where_nothing_failed_nothing_changes(chat: Chat) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    run(chat.api.engine, "UPDATE intents SET expires_at = expires_at - interval '1 min'")
    for settle in (lambda: None, lambda: book(chat.api.engine, item)):
        settle()
        before, shown = row(chat.api.engine, item), chat.look(intent["id"])
        assert replayed(chat, intent) == shown
        assert row(chat.api.engine, item) == before


def test_a_cancelled_intent_lives_again(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double", "suite").json()
    assert chat.desk.run(intent["items"][0]["id"]).state is State.SUCCEEDED
    assert states(chat.cancel(intent["id"]).json()) == ["succeeded", "cancelled"]
    answer = retried(chat, intent)
    assert states(answer) == ["succeeded", "queued"]
    assert the_intent(chat.api.engine, intent["id"]).cancelled_at is None
    assert chat.work(answer)["outcome"] == "succeeded"
    assert len(pms.bookings()) == 2


def test_a_cancelled_intent_of_which_nothing_runs_again_stays_cancelled(chat: Chat) -> None:
    intent = chat.call("double").json()
    lose(chat.api.engine, intent["items"][0]["id"])
    chat.cancel(intent["id"])
    assert states(replayed(chat, intent)) == ["unknown"]
    assert the_intent(chat.api.engine, intent["id"]).cancelled_at is not None
    assert row(chat.api.engine, intent["items"][0]["id"]).stop_writes


def test_an_item_lives_as_long_as_the_longest_of_its_intents(chat: Chat) -> None:
    mine, other = (chat.call("double", key=key).json() for key in ("mine", "other"))
    [item] = {intent["items"][0]["id"] for intent in (mine, other)}
    refuse(chat.api.engine, item)
    run(chat.api.engine, "UPDATE intents SET expires_at = now() + interval '1 h' WHERE id = :id", id=other["id"])
    retried(chat, mine)
    left = seen(chat.api.engine, item)
    assert left.expires_at - left.now > timedelta(minutes=59)
    assert the_intent(chat.api.engine, mine["id"]).left < timedelta(minutes=11)


def test_while_an_audit_looks_a_retry_wins(chat: Chat) -> None:
    engine = chat.api.engine
    intent = chat.call("double").json()
    item = seen(engine, intent["items"][0]["id"])
    end(engine, item, written(engine, item), "rejected", failed())
    audited = seen(engine, item.id)
    looking = start_check(engine, audited)
    retried(chat, intent)
    end(engine, audited, looking, "absent", failed())
    assert seen(engine, item.id).state is State.QUEUED


def test_a_known_room_runs_again_though_another_of_the_guest_is_in_doubt(chat: Chat) -> None:
    double = chat.call("double").json()
    suite = chat.call("suite").json()
    refuse(chat.api.engine, double["items"][0]["id"])
    lose(chat.api.engine, suite["items"][0]["id"])
    refused(chat.call("family"), 409, "UNKNOWN_OUTCOME")
    assert states(retried(chat, double)) == ["queued"]


def change_dates(chat: Chat, nights: int) -> dict[str, Any]:
    """Ask for B-1 to be moved."""
    arrival = dt.date.fromisoformat(stay()["check_in"])
    dates = {"check_in": str(arrival), "check_out": str(arrival + dt.timedelta(days=nights))}
    arguments = {"reservation_id": "B-1", "guest_name": "Anna Moser", **dates}
    body = {"tool": "change_reservation_dates", "conversation_id": "c-77", "arguments": arguments}
    response = chat.api.submit(body)
    assert response.status_code == 202, response.text
    intent: dict[str, Any] = response.json()
    return intent


def test_what_is_in_the_way_is_told(chat: Chat) -> None:
    unguarded(chat.api.engine)
    first = change_dates(chat, 3)
    refuse(chat.api.engine, first["items"][0]["id"])
    later = change_dates(chat, 4)
    waiting = refused(retry(chat, first["id"]), 409, "UNKNOWN_OUTCOME")
    assert waiting.type == "urn:roomkey:problem:subject_in_doubt"
    assert later["id"] in waiting.tool_error.message
    book(chat.api.engine, later["items"][0]["id"])
    stale = refused(retry(chat, first["id"]), 409, "CONFLICT")
    assert stale.type == "urn:roomkey:problem:changed_since"
    assert states(chat.look(first["id"])) == ["failed"]


def test_who_may_retry_what(chat: Chat) -> None:
    intent = chat.call("double").json()
    refuse(chat.api.engine, intent["items"][0]["id"])
    refused(retry(chat, intent["id"], scope="ops"), 403, "PERMISSION_DENIED")
    stranger = make_tenant(chat.api.engine, "other")
    path = f"/v1/intents/{intent['id']}/retry"
    refused(chat.api.http.post(path, headers={"Authorization": f"Bearer {stranger.agent}"}), 404, "NOT_FOUND")
    for unknown in ("int_0123456789abcdef", "nonsense", "%00"):
        refused(retry(chat, unknown), 404, "NOT_FOUND")
    assert states(chat.look(intent["id"])) == ["failed"]
    assert retry(chat, intent["id"], scope="host").status_code == 202


def test_a_pruned_intent_is_gone_also_in_a_stopped_conversation(chat: Chat) -> None:
    intent = chat.call("double").json()
    refuse(chat.api.engine, intent["items"][0]["id"])
    grow_old(chat.api.engine)
    while prune_once(chat.api.engine):
        pass
    run(chat.api.engine, "UPDATE conversations SET stopped_at = now(), stop_reason = 'same_call'")
    problem = refused(retry(chat, intent["id"]), 410, "NOT_FOUND")
    assert problem.type == "urn:roomkey:problem:gone"
    assert row(chat.api.engine, intent["items"][0]["id"]).state == "failed"


@pytest.mark.parametrize("calls", [2, 6])
def test_retry_cancel_and_asking_again_at_once_end_in_one_truth(chat: Chat, calls: int) -> None:
    unguarded(chat.api.engine)
    intent = chat.call("double", "suite").json()
    first, second = (item["id"] for item in intent["items"])
    for _ in range(10):
        for item in (first, second):
            change(
                chat.api.engine,
                item,
                "state = 'failed', token = NULL, lease_until = NULL, due_at = NULL, error = CAST(:error AS jsonb)",
                error=error_of("unavailable").model_dump_json(),
            )
        deeds = [
            lambda: retry(chat, intent["id"]),
            lambda: chat.cancel(intent["id"]),
            lambda: chat.call("double", "suite"),
        ] * (calls // 2)
        answers = at_once(len(deeds), lambda index, deeds=deeds: deeds[index]())  # type: ignore[misc]
        assert {answer.status_code for answer in answers} == {202}
        cancelled = the_intent(chat.api.engine, intent["id"]).cancelled_at is not None
        assert set(states(chat.look(intent["id"]))) <= ({"cancelled", "failed"} if cancelled else {"queued"})
