"""The limiter: the rate of all processes together, a share of its own while Redis is away, and what outcomes mean."""

import heapq
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from redis import Redis

from booking.errors import ErrorCode
from booking.outcomes import Absent, Done, Misconfigured, NotSent, Rejected, Unknown
from cli.embedded.server import Server
from cli.embedded.valkey import start_valkey
from providers.gate import Closed, Health, Permit, Verdict
from providers.limiter import LOCAL_SECONDS, Limiter, Limits, health_of
from tasks.wake import SECONDS, redis_client
from tests.dedupe.rows import at_once
from tests.limits.conftest import Clock
from tests.limits.doors import HEALTHY, LEASE, NONE

#: Nobody listens there: the limits are local.
NOWHERE = "redis://127.0.0.1:1/0"
CALLS = "roomkey:{pms}:permits"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def valkey() -> Iterator[Server]:
    """One to be stopped and killed, in a folder that other users can reach."""
    place = Path(tempfile.mkdtemp(prefix="roomkey-limits-"))
    place.chmod(0o755)
    try:
        with start_valkey(place / "valkey") as server:
            yield server
    finally:
        shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize(
    ("outcome", "health"),
    [
        (Done({}), HEALTHY),
        (Rejected("sold_out", "x"), HEALTHY),
        (Absent, HEALTHY),
        ([], HEALTHY),
        (NotSent("refused"), Health(Verdict.SICK)),
        (Unknown("HTTP 503"), Health(Verdict.SICK)),
        (NotSent("HTTP 429", ErrorCode.RATE_LIMITED, 7), Health(Verdict.THROTTLED, 7)),
        (NotSent("HTTP 429", ErrorCode.RATE_LIMITED), Health(Verdict.THROTTLED)),
        (Misconfigured("HTTP 401", certain=True), NONE),
        # A page that is not the provider's: once it is a guest's notes and a firewall, always it is an outage.
        (Misconfigured("HTTP 403"), Health(Verdict.SICK)),
    ],
)
def test_what_an_outcome_says_of_the_provider(outcome: object, health: Health) -> None:
    assert health_of(outcome) == health


def crowd(limiter: Limiter, clock: Clock, number: int, late: Callable[[float], float]) -> tuple[int, float]:
    """So many ask at once and come back when they were told, `late(wait)` later: tries in all, and seconds it took."""
    began, tries = clock.now, 0
    waiting = [(clock.now, one) for one in range(number)]
    while waiting:
        at, one = heapq.heappop(waiting)
        clock.now = max(clock.now, at)
        tries += 1
        answer = limiter.enter("pms", LEASE)
        if isinstance(answer, Closed):
            assert not answer.sick
            heapq.heappush(waiting, (clock.now + answer.wait + late(answer.wait), one))
        else:
            limiter.leave("pms", answer, HEALTHY)
    return tries, clock.now - began


@pytest.mark.parametrize(
    ("late", "most"),
    [
        pytest.param(lambda _wait: 0.0, 63, id="on time"),
        pytest.param(lambda _wait: random.random() * 0.3, 70, id="by the relay's round"),
        pytest.param(lambda wait: random.random() * wait, 125, id="up to twice as late"),
    ],
)
def test_a_crowd_behind_a_rate_comes_back_about_once_each(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, late: Callable[[float], float], most: float
) -> None:
    monkeypatch.setattr("limits.storage.memory.time", clock)
    random.seed(5)
    with redis_client(NOWHERE) as redis:
        limiter = Limiter(redis, {"pms": Limits(per_second=20)}, clock)  # this process's share: 5
        tries, seconds = crowd(limiter, clock, 300, late)
    assert tries <= 660
    assert 58 <= seconds <= most


def test_the_rate_is_one_for_all_processes(redis: Redis, redis_url: str) -> None:
    with redis_client(redis_url) as another:
        limiters = [Limiter(one, {"pms": Limits(per_second=10)}) for one in (redis, another)]
        answers = at_once(40, lambda number: limiters[number % 2].enter("pms", LEASE))
    assert sum(isinstance(answer, Permit) for answer in answers) == 10
    waits = sorted(answer.wait for answer in answers if isinstance(answer, Closed))
    assert waits[-1] == pytest.approx(1 + 30 / 10, abs=0.5)
    assert redis.zcard(CALLS) == 10


def test_a_rate_that_cannot_be_asked_gives_the_place_back(redis: Redis, clock: Clock) -> None:
    limiter = Limiter(redis, {"pms": Limits(concurrent=1, per_second=10)}, clock)
    limiter.leave("pms", permit_of(limiter), HEALTHY)
    [key] = redis.keys("roomkey:rate*")
    redis.delete(key)
    redis.hset(key, "not", "a number")
    assert permit_of(limiter).local
    assert redis.zcard(CALLS) == 0
    redis.delete(key)
    clock.now += LOCAL_SECONDS
    assert not permit_of(limiter).local


def permit_of(limiter: Limiter) -> Permit:
    answer = limiter.enter("pms", LEASE)
    assert isinstance(answer, Permit)
    return answer


def test_while_redis_does_not_answer_a_share_of_the_limit_counts_here(valkey: Server, clock: Clock) -> None:
    server = psutil.Process(valkey.pid)
    with redis_client(valkey.url) as redis:
        limiter = Limiter(redis, {"pms": Limits(concurrent=8)}, clock)
        shared = [permit_of(limiter) for _ in range(8)]
        assert isinstance(limiter.enter("pms", LEASE), Closed)
        server.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            local = [permit_of(limiter) for _ in range(2)]  # a quarter of 8; the second waits for nobody
            for _ in range(50):
                assert isinstance(limiter.enter("pms", LEASE), Closed)
            limiter.leave("pms", shared[0], HEALTHY)
            assert time.monotonic() - began < SECONDS + 0.5
            assert all(permit.local for permit in local)
        finally:
            server.send_signal(signal.SIGCONT)
        clock.now += LOCAL_SECONDS
        assert isinstance(limiter.enter("pms", LEASE), Closed), "all eight are still out"
        limiter.leave("pms", shared[1], HEALTHY)
        assert not permit_of(limiter).local


def test_a_redis_that_died_in_between_raises_nothing(valkey: Server, clock: Clock) -> None:
    with redis_client(valkey.url) as redis:
        limiter = Limiter(redis, {"pms": Limits(concurrent=8, per_second=100)}, clock)
        permit = permit_of(limiter)
        valkey.stop()
        limiter.leave("pms", permit, HEALTHY)
        clock.now += LOCAL_SECONDS
        assert permit_of(limiter).local
