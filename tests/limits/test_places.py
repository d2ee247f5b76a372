"""How many calls at once, and who comes back when; in Redis and in memory."""

import pytest

from providers.gate import CALL_SECONDS, FULL_LEAST, FULL_MOST, RATE_MOST, RATE_PERIOD, Closed, Health, Permit
from tests.dedupe.rows import at_once
from tests.limits.conftest import Place
from tests.limits.doors import HEALTHY, LEASE, NONE, call, enter, refused


def turned_away(place: Place, per_second: int, *, queues: bool = True) -> float:
    """The wait of one for whom the rate is used up."""
    return place.gate.turn_away("pms", enter(place.gate), per_second, queues=queues).wait


def test_of_fifty_threads_as_many_get_through_as_declared(place: Place) -> None:
    answers = at_once(50, lambda _: place.gate.enter("pms", 7, LEASE))
    assert sum(isinstance(answer, Permit) for answer in answers) == 7
    assert {answer.sick for answer in answers if isinstance(answer, Closed)} == {False}


@pytest.mark.parametrize("health", [HEALTHY, NONE])
def test_a_permit_given_back_lets_another_in(place: Place, health: Health) -> None:
    permit = enter(place.gate, 1)
    refused(place.gate, 1)
    place.gate.leave("pms", permit, health)
    enter(place.gate, 1)
    refused(place.gate, 1)


def test_a_permit_that_is_not_given_back_is_void_after_its_lease(place: Place) -> None:
    enter(place.gate, 1, lease=20)
    place.pass_time(19)
    refused(place.gate, 1)
    place.pass_time(1)
    enter(place.gate, 1)


def test_each_one_turned_away_waits_for_a_later_place(place: Place) -> None:
    for _ in range(2):
        enter(place.gate, 2)
    waits = [refused(place.gate, 2).wait for _ in range(6)]
    assert waits == pytest.approx([max(k * CALL_SECONDS / 2, FULL_LEAST) for k in range(1, 7)], abs=0.1)


def test_slow_calls_make_the_waits_longer_up_to_a_limit(place: Place) -> None:
    for _ in range(40):
        call(place.gate, HEALTHY, took=4)
    enter(place.gate, 2)
    enter(place.gate, 2)
    waits = [refused(place.gate, 2).wait for _ in range(7)]
    assert waits == pytest.approx([2, 4, 6, 8, FULL_MOST, FULL_MOST, FULL_MOST], abs=0.1)
    place.pass_time(FULL_MOST)  # a crowd of a moment ago is forgotten as its slots pass
    assert refused(place.gate, 2).wait == pytest.approx(2, abs=0.1)


def test_a_call_that_was_not_made_does_not_make_calls_look_short(place: Place) -> None:
    for _ in range(40):
        call(place.gate, NONE)
    enter(place.gate, 1)
    assert refused(place.gate, 1).wait == pytest.approx(CALL_SECONDS, abs=0.1)


def test_behind_a_rate_each_one_is_handed_the_next_slot(place: Place) -> None:
    waits = [turned_away(place, 5) for _ in range(10)]
    assert waits == pytest.approx([RATE_PERIOD + k / 5 for k in range(1, 11)], abs=0.1)
    place.pass_time(2)
    assert turned_away(place, 5) == pytest.approx(RATE_PERIOD + 0.2, abs=0.1)
    for _ in range(400):
        last = turned_away(place, 5)
    assert last == RATE_MOST


def test_who_is_turned_away_has_given_the_permit_back(place: Place) -> None:
    permit = enter(place.gate, 1)
    assert isinstance(place.gate.turn_away("pms", permit, 5), Closed)
    enter(place.gate, 1)


def test_who_does_not_queue_is_told_a_short_wait_and_takes_no_slot(place: Place) -> None:
    for _ in range(20):
        assert turned_away(place, 5, queues=False) == pytest.approx(0.2, abs=0.01)
    assert turned_away(place, 5) == pytest.approx(RATE_PERIOD + 0.2, abs=0.1)
    for _ in range(3):
        enter(place.gate, 3)
    for _ in range(20):
        assert refused(place.gate, 3, queues=False).wait == FULL_LEAST
