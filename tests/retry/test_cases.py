"""Public cases of failures that stay, batches that miscount, and retries that die at once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tasks.write import run_item
from tests.dedupe.rows import change, run
from tests.guards.chat import Chat
from tests.pms import Pms
from tests.retry.again import replayed, retried, states, the_intent


class Killed(BaseException):
    """A worker that is gone: nothing after this line of it happens."""


def kill(step: str) -> None:
    if step == "begun":
        raise Killed


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


def test_case_61_the_counts_of_a_batch_add_up_with_failed_and_unknown_ones_and_after_a_crash(
    chat: Chat, pms: Pms
) -> None:
    pms.set_rooms("BER", "double", 200)
    answer = chat.call(*("double",) * 50, *("igloo",) * 3, *("double",) * 47)
    intent = answer.json()
    ids = [item["id"] for item in intent["items"]]
    crashed, unknown = (7, 60), (20, 99)
    for position in crashed:  # the mark is made, and the worker is killed
        with pytest.raises(Killed):
            run_item(replace(chat.desk.runtime, at=kill), ids[position])
    pms.fault("status", match={"operation": "create_booking"}, status=500, when="after")
    pms.fault("status", match={"operation": "find"}, status=500)
    for position in unknown:
        chat.desk.run(ids[position])
        chat.desk.later(ids[position], 120)
    pms.clear_faults()
    for position, item in enumerate(ids):
        if position not in (*crashed, *unknown):
            chat.desk.run(item)
    pending = chat.look(intent["id"])
    assert (pending["state"], pending["outcome"], pending["pending"]) == ("pending", None, list(crashed))
    for position in crashed:
        chat.desk.later(ids[position])
    ended = chat.look(intent["id"])
    lists = {name: ended[name] for name in ("succeeded", "failed", "pending", "unknown", "cancelled")}
    assert (ended["state"], ended["outcome"]) == ("done", "partial")
    assert {name: len(places) for name, places in lists.items()} == {
        "succeeded": 95,
        "failed": 3,
        "pending": 0,
        "unknown": 2,
        "cancelled": 0,
    }
    assert sorted(place for places in lists.values() for place in places) == list(range(100))
    assert (lists["failed"], lists["unknown"]) == ([50, 51, 52], list(unknown))
    assert ended["error"]["code"] == "PARTIAL_FAILURE"
    assert all(ended["items"][place]["error"] for place in (*lists["failed"], *unknown))
    assert len(pms.bookings()) == 97, "the two unknown ones exist, too"
    for name, places in lists.items():
        page = chat.api.http.get(f"/v1/intents/{intent['id']}", params={"items": name}).json()
        assert [item["position"] for item in page["items"]] == places
    assert states(replayed(chat, intent)) == states(ended), "neither refused for good nor unknown runs again"
