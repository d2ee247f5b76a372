"""Retry: only what is known not to exist and may pass runs again, as often and as long as a new one, and then once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import redis

from booking.errors import MAY_PASS
from booking.states import State
from dedupe.prune import prune_once
from dedupe.relay import take_due
from tests.api.checks import refused
from tests.api.serving import Api, settings_for
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


def test_case_42_a_cached_failure_is_told_as_such_and_runs_again_when_asked_again(chat: Chat, pms: Pms) -> None:
    pms.fault("status", match={"operation": "create_booking"}, status=503)
    intent = chat.call("double", key="order-17").json()
    item = intent["items"][0]["id"]
    chat.desk.run(item)
    assert chat.look(intent["id"])["state"] == "pending", "in doubt: nothing is told before it is known"
    chat.desk.later(item)
    told = chat.look(intent["id"])
    assert (told["outcome"], told["error"]["code"]) == ("failed", "UNAVAILABLE")
    pms.clear_faults()
    calls = len(pms.ledger())

    same = chat.call("double", key="order-17")
    assert (same.status_code, same.headers["idempotent-replayed"], same.json()) == (202, "true", told)
    assert len(pms.ledger()) == calls, "the same HTTP request is answered from the record"

    assert states(retried(chat, intent)) == ["queued"]
    assert chat.work(chat.look(intent["id"]))["outcome"] == "succeeded"
    assert chat.call("double", key="order-17").json()["outcome"] == "succeeded"
    assert len(pms.bookings()) == 1


def test_case_42_the_same_derived_key_runs_it_again(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double", away=True)
    assert (first["outcome"], first["error"]["code"]) == ("failed", "UNAVAILABLE")
    again = chat.call("double")
    assert "idempotent-replayed" not in again.headers
    assert (again.json()["id"], states(again.json())) == (first["id"], ["queued"])
    assert chat.work(again.json())["outcome"] == "succeeded"
    over = chat.call("double")
    assert (over.headers["idempotent-replayed"], over.json()["outcome"]) == ("true", "succeeded")
    assert len(pms.bookings()) == 1


def test_case_63_a_retry_after_the_mend_has_every_attempt_again_keeps_the_history_and_books_once(
    chat: Chat, pms: Pms
) -> None:
    pms.fault("status", match={"operation": "create_booking"}, status=500)
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    chat.desk.run(item)
    chat.desk.later(item)
    told = chat.look(intent["id"])
    spent = chat.desk.row(item)
    assert (told["error"]["code"], spent.writes) == ("UNAVAILABLE", 2), "all its writes are used up"
    run(chat.api.engine, "UPDATE intents SET expires_at = now() - interval '1 day'")
    change(chat.api.engine, item, "expires_at = now() - interval '1 day', failures = 9, slow = true")
    history = chat.desk.attempts(item)

    armed = retried(chat, intent)
    assert (armed["state"], armed["error"], armed["notice"], states(armed)) == ("pending", None, None, ["queued"])
    assert armed["items"][0]["attempts"] == len(history)
    fresh = chat.desk.row(item)
    assert (fresh.writes, fresh.failures, fresh.settled_at) == (0, 0, None)
    assert timedelta(seconds=590) < the_intent(chat.api.engine, intent["id"]).left <= timedelta(seconds=600)
    assert fresh.expires_at == the_intent(chat.api.engine, intent["id"]).expires_at

    pms.clear_faults()
    pms.fault("status", match={"operation": "create_booking"}, status=500, times=1)
    ended = chat.work(armed)
    assert ended["outcome"] == "succeeded", "one more failure is no end: the second write is there, too"
    attempts = chat.desk.attempts(item)
    assert attempts[: len(history)] == history
    assert ended["items"][0]["attempts"] == len(attempts) > len(history)
    assert len(pms.bookings()) == 1
    assert states(replayed(chat, intent)) == ["succeeded"]
    assert chat.desk.attempts(item) == attempts


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
        assert int(broker.llen("bookings.pms")) == messages + 2, "told to the broker at once"
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
