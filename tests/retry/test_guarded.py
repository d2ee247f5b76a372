"""A retry is an asking: a conversation whose retries keep failing is stopped, and a stopped one retries nothing."""

from tests.api.checks import refused
from tests.api.work import book, lose, refuse
from tests.dedupe.rows import count, row
from tests.guards.chat import Chat
from tests.pms import Pms
from tests.retry.again import replayed, retried, retry, states


def reason(intent: dict[str, object]) -> object:
    stop = intent["stop"]
    return stop["reason"] if isinstance(stop, dict) else None


def test_a_failure_that_nobody_has_counted_is_counted_first(chat: Chat) -> None:
    intent = chat.call("double").json()
    item = intent["items"][0]["id"]
    refuse(chat.api.engine, item)
    assert count(chat.api.engine, "failures") == 0
    retried(chat, intent)
    assert count(chat.api.engine, "failures") == 1
    refuse(chat.api.engine, item)
    stopped = refused(retry(chat, intent["id"]), 409, "STOPPED")
    assert stopped.handoff is not None
    assert "The double could not be booked" in stopped.handoff
    assert count(chat.api.engine, "failures") == 2, "what led to the stop stays counted"
    assert row(chat.api.engine, item).state == "failed"
    refused(retry(chat, intent["id"]), 409, "STOPPED")
    assert count(chat.api.engine, "failures") == 2
    chat.lift({"reason": "the hotel is back"})
    assert states(retried(chat, intent)) == ["queued"]


def test_a_retry_that_fails_again_counts_like_asking_again(chat: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "suite", 0)
    intent = chat.ask("suite")
    assert reason(intent) is None
    assert reason(chat.work(retried(chat, intent))) == "same_call"
    refused(retry(chat, intent["id"]), 409, "STOPPED")
    chat.stopped("double")


def test_a_failure_for_good_that_is_retried_is_answered_from_the_record_and_counts(chat: Chat) -> None:
    intent = chat.ask("igloo")
    assert (intent["outcome"], reason(intent)) == ("failed", None)
    assert reason(replayed(chat, intent)) == "same_call"
    refused(retry(chat, intent["id"]), 409, "STOPPED")


def test_retries_of_what_exists_or_is_not_known_yet_count_nothing(chat: Chat) -> None:
    intent = chat.call("double", "suite", "single").json()
    first, second, _ = (item["id"] for item in intent["items"])
    book(chat.api.engine, first)
    lose(chat.api.engine, second)
    for _ in range(5):
        assert states(replayed(chat, intent)) == ["succeeded", "unknown", "queued"]
    assert count(chat.api.engine, "failures") == 0


def test_many_retries_while_it_runs_are_one_failure(chat: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "suite", 0)
    intent = chat.call("suite").json()
    for _ in range(5):
        replayed(chat, intent)
    assert reason(chat.work(intent)) is None
    assert count(chat.api.engine, "failures") == 1
