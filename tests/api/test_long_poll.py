"""Long polls: woken by a settle, found without Redis, ended by the wait, by leaving, by the end of the process."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from dedupe.engine import Engine
from tasks.wake import Waker, redis_client
from tests.api.serving import Api, request, settings_for, stay
from tests.api.work import book, refuse
from tests.conftest import Tenant
from tests.waiting import eventually

NOBODY = "redis://127.0.0.1:1/0"


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(64) as pool:
        yield pool


@pytest.fixture
def waker(redis_url: str) -> Iterator[Waker]:
    with redis_client(redis_url) as client:
        yield Waker(client)


def waiting(api: Api) -> int:
    return api.server.parts.waiting.count


def hearing(api: Api) -> None:
    """Wait until the subscription stands."""
    eventually(lambda: api.http.get("/readyz").json()["wake_ups"] == "ok")


def timed(call: Callable[[], httpx.Response]) -> tuple[httpx.Response, float]:
    response = call()
    return response, time.monotonic()


def test_a_settle_wakes_its_poller_within_100_ms(api: Api, pool: ThreadPoolExecutor, waker: Waker) -> None:
    hearing(api)
    took = []
    for round_ in range(5):  # the best of a few: the machine may be busy
        intent = api.submit({**request(), "conversation_id": f"c-{round_}"}).json()
        polled = pool.submit(timed, lambda id=intent["id"]: api.poll(id, wait=25))  # type: ignore[misc]
        eventually(lambda: waiting(api) == 1)
        settled = book(api.engine, intent["items"][0]["id"])
        begun = time.monotonic()
        waker.wake(settled.wake)
        response, ended = polled.result(10)
        assert response.json()["outcome"] == "succeeded"
        took.append(ended - begun)
    assert min(took) < 0.1, took


@pytest.mark.parametrize("redis", ["no wake-up sent", "no Redis"])
def test_without_a_wake_up_the_end_is_found_within_two_seconds(
    database_url: str, redis_url: str, tenant: Tenant, engine: Engine, redis: str, pool: ThreadPoolExecutor
) -> None:
    more = {"redis_url": NOBODY} if redis == "no Redis" else {}
    with Api.started(settings_for(database_url, redis_url, **more), tenant, engine) as api:
        intent = api.submit().json()
        polled = pool.submit(timed, lambda: api.poll(intent["id"], wait=25))
        eventually(lambda: waiting(api) == 1)
        book(api.engine, intent["items"][0]["id"])
        begun = time.monotonic()
        response, ended = polled.result(10)
        assert response.json()["state"] == "done"
        assert ended - begun < 2


def test_what_is_not_done_is_answered_at_the_end_of_the_wait(api: Api) -> None:
    intent = api.submit().json()
    for wait in (0.0, 0.4):
        begun = time.monotonic()
        response = api.poll(intent["id"], wait=wait)
        assert wait <= time.monotonic() - begun < wait + 2
        assert response.status_code == 200
        assert response.json()["state"] == "pending"
        assert response.json()["poll_after_ms"] == 1000
    assert waiting(api) == 0


def test_what_is_done_is_answered_at_once(api: Api) -> None:
    intent = api.submit().json()
    book(api.engine, intent["items"][0]["id"])
    begun = time.monotonic()
    assert api.poll(intent["id"], wait=30).json()["state"] == "done"
    assert time.monotonic() - begun < 3


def test_many_pollers_of_one_intent_get_the_same_answer(api: Api, pool: ThreadPoolExecutor, waker: Waker) -> None:
    intent = api.submit().json()
    polls = [pool.submit(api.poll, intent["id"], 25) for _ in range(40)]
    eventually(lambda: waiting(api) == 40, within=10)
    waker.wake(book(api.engine, intent["items"][0]["id"]).wake)
    answers = [poll.result(10) for poll in polls]
    assert {answer.content for answer in answers} == {answers[0].content}
    assert answers[0].json()["outcome"] == "succeeded"
    assert waiting(api) == 0


def test_a_batch_is_answered_only_when_all_of_it_is_done(api: Api, pool: ThreadPoolExecutor, waker: Waker) -> None:
    hearing(api)
    arguments = {**stay(), "rooms": [{}, {"room_type": "suite"}]}
    intent = api.submit({**request(), "tool": "book_rooms", "arguments": arguments}).json()
    first, second = (item["id"] for item in intent["items"])
    polled = pool.submit(api.poll, intent["id"], 25)
    eventually(lambda: waiting(api) == 1)
    waker.wake(book(api.engine, first).wake)
    assert api.poll(intent["id"]).json()["succeeded"] == [0]
    assert not polled.done()
    waker.wake(refuse(api.engine, second).wake)
    assert polled.result(10).json()["outcome"] == "partial"


def test_who_leaves_waits_no_more(api: Api) -> None:
    intent = api.submit().json()
    with httpx.Client(base_url=api.http.base_url, headers=api.http.headers) as client, pytest.raises(httpx.ReadTimeout):
        client.get(f"/v1/intents/{intent['id']}?wait=30", timeout=0.5)
    eventually(lambda: waiting(api) == 0, within=3)


def test_the_end_of_the_process_answers_who_waits(api: Api, pool: ThreadPoolExecutor) -> None:
    intent = api.submit().json()
    polls: list[Future[httpx.Response]] = [pool.submit(api.poll, intent["id"], 30) for _ in range(10)]
    eventually(lambda: waiting(api) == 10)
    begun = time.monotonic()
    api.server.should_exit = True
    for poll in polls:
        assert poll.result(10).json()["state"] == "pending"
    assert time.monotonic() - begun < 3
