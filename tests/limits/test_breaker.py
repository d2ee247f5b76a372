"""The circuit breaker, in Redis and in memory: when it opens, and how it finds out that the provider is well again."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest

from providers.gate import MIN_CALLS, OPEN_SECONDS, PROBE_SECONDS, Health, Permit, Verdict
from providers.gate_shared import SharedGate
from tasks.wake import redis_client
from tests.dedupe.rows import at_once
from tests.limits.conftest import Place
from tests.limits.doors import HEALTHY, LEASE, NONE, SICK, call, enter, refused

LEAST = int(MIN_CALLS)


def opened(place: Place) -> None:
    """The provider is in trouble, and its probe is due."""
    for _ in range(LEAST + 1):  # one more than needed: in Redis a little fades meanwhile
        if isinstance(permit := place.gate.enter("pms", None, LEASE), Permit):
            place.gate.leave("pms", permit, SICK)
    assert refused(place.gate).cause == "breaker open"
    place.pass_time(OPEN_SECONDS)


def probe(place: Place) -> Permit:
    permit = enter(place.gate)
    assert permit.probe
    return permit


def test_few_sick_calls_prove_nothing(place: Place) -> None:
    for _ in range(LEAST - 1):
        call(place.gate, SICK)
    assert not enter(place.gate).probe


def test_it_opens_when_half_of_the_calls_are_sick(place: Place) -> None:
    for _ in range(LEAST):
        call(place.gate, HEALTHY)
    for _ in range(LEAST):
        call(place.gate, SICK)  # the door is still open for each of them
    closed = refused(place.gate)
    assert closed.sick
    assert 0 < closed.wait <= OPEN_SECONDS


def test_it_stays_closed_at_eight_percent(place: Place) -> None:
    for number in range(100):
        call(place.gate, SICK if number % 12 == 0 else HEALTHY)
    assert not enter(place.gate).probe


def test_a_slow_trickle_of_sick_calls_never_adds_up(place: Place) -> None:
    for _ in range(LEAST * 3):
        call(place.gate, SICK)
        place.pass_time(5)
    assert not enter(place.gate).probe


def test_a_call_that_was_not_made_says_nothing(place: Place) -> None:
    for _ in range(LEAST * 3):
        call(place.gate, NONE)
    assert not enter(place.gate).probe


def test_one_provider_s_trouble_is_not_another_s(place: Place) -> None:
    opened(place)
    assert isinstance(place.gate.enter("other", None, LEASE), Permit)


def test_of_eight_threads_one_is_the_probe(place: Place) -> None:
    opened(place)
    answers = at_once(8, lambda _: place.gate.enter("pms", None, LEASE))
    assert [answer.probe for answer in answers if isinstance(answer, Permit)] == [True]
    assert {(answer.cause, answer.sick) for answer in answers if not isinstance(answer, Permit)} == {("probing", True)}


def permits_of(redis_url: str) -> int:
    """In a process of its own: how many of four threads get through."""
    with redis_client(redis_url) as redis:
        gate = SharedGate(redis)
        return sum(isinstance(one, Permit) for one in at_once(4, lambda _: gate.enter("pms", None, LEASE)))


@pytest.mark.parametrize("place", ["shared"], indirect=True)
def test_of_two_processes_one_has_the_probe(place: Place, redis_url: str) -> None:
    opened(place)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert sum(pool.map(permits_of, [redis_url] * 2)) == 1


def test_a_healthy_probe_closes_it_and_the_past_is_forgotten(place: Place) -> None:
    opened(place)
    place.gate.leave("pms", probe(place), HEALTHY)
    for _ in range(LEAST - 1):
        call(place.gate, SICK)
    assert not enter(place.gate).probe


def test_a_sick_probe_opens_it_anew(place: Place) -> None:
    opened(place)
    place.gate.leave("pms", probe(place), SICK)
    assert refused(place.gate).cause == "breaker open"
    place.pass_time(OPEN_SECONDS)
    probe(place)


def test_a_lost_probe_is_given_up(place: Place) -> None:
    opened(place)
    lost = probe(place)
    closed = refused(place.gate)
    assert 0 < closed.wait <= PROBE_SECONDS
    place.pass_time(PROBE_SECONDS)
    probe(place)
    place.gate.leave("pms", lost, NONE)  # comes back after all: still one at a time
    assert refused(place.gate).cause == "probing"


def test_a_probe_that_was_not_made_leaves_its_turn_to_the_next(place: Place) -> None:
    opened(place)
    place.gate.leave("pms", probe(place), NONE)
    probe(place)


def test_a_call_from_before_the_trouble_does_not_end_the_probing(place: Place) -> None:
    before = enter(place.gate)
    opened(place)
    probe(place)
    place.gate.leave("pms", before, HEALTHY)
    assert refused(place.gate).cause == "probing"


def test_a_throttling_provider_is_left_alone_as_long_as_it_asked(place: Place) -> None:
    late = enter(place.gate)
    call(place.gate, Health(Verdict.THROTTLED, retry_after=30))
    assert refused(place.gate).wait == pytest.approx(30, abs=0.5)
    place.gate.leave("pms", late, Health(Verdict.THROTTLED, retry_after=2))  # an older answer doesn't shorten it
    assert refused(place.gate).wait == pytest.approx(30, abs=0.5)
    place.pass_time(30)
    place.gate.leave("pms", probe(place), Health(Verdict.THROTTLED))
    assert refused(place.gate).wait == pytest.approx(OPEN_SECONDS, abs=0.5)
