"""n asked = n shall exist."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.binding import Binding, Known, bind
from booking.errors import MAY_PASS, ErrorCode
from booking.states import State

SUCCEEDED = Known(1, 0, State.SUCCEEDED)
SOLD_OUT = Known(2, 1, State.FAILED, ErrorCode.CONFLICT)
UNKNOWN = Known(3, 2, State.UNKNOWN)
RUNNING = Known(4, 3, State.RUNNING)
REFUSED = Known(5, 4, State.FAILED, ErrorCode.INVALID_ARGUMENT)
ALL = [SUCCEEDED, SOLD_OUT, UNKNOWN, RUNNING, REFUSED]


def ids(bindings: list[Binding]) -> list[int | None]:
    return [binding.known.id if binding.known else None for binding in bindings]


def test_the_first_request_makes_as_many_as_were_asked() -> None:
    assert bind(3, []) == [Binding(None, 0), Binding(None, 1), Binding(None, 2)]


def test_the_failed_one_asked_again_alone_is_the_one_that_runs_again() -> None:
    """Three doubles and a sold-out one of the same kind: asking for one more means the missing one."""
    known = [replace(SUCCEEDED, id=n, k=n) for n in range(3)] + [Known(9, 3, State.FAILED, ErrorCode.CONFLICT)]
    assert bind(1, known) == [Binding(known[3], 3)]


def test_the_whole_batch_asked_again_runs_the_failed_one_and_shows_the_others() -> None:
    known = [replace(SUCCEEDED, id=n, k=n) for n in range(3)] + [Known(9, 3, State.FAILED, ErrorCode.CONFLICT)]
    bindings = bind(4, known)
    assert sorted(binding.known.id for binding in bindings if binding.known) == [0, 1, 2, 9]
    assert [binding.known.id for binding in bindings if binding.known and binding.known.may_pass] == [9]


def test_the_same_intent_asked_again_keeps_each_place() -> None:
    bound = {0: SUCCEEDED.id, 1: SOLD_OUT.id, 2: UNKNOWN.id}
    assert ids(bind(3, [UNKNOWN, SOLD_OUT, SUCCEEDED], bound)) == [1, 2, 3]


def test_rooms_asked_for_singly_are_the_rooms_of_the_batch() -> None:
    """Each single request is its own intent; while nothing is undone they all mean what exists."""
    known = [replace(SUCCEEDED, id=n, k=n) for n in range(2)]
    assert ids(bind(1, known)) == ids(bind(1, known)) == [0]


@pytest.mark.parametrize("known", [ALL, ALL[::-1], ALL[2:] + ALL[:2]])
def test_identical_rooms_bind_in_one_order_however_they_are_listed(known: list[Known]) -> None:
    """What may pass now, then unknown, pending, succeeded, and last what is refused for good."""
    assert ids(bind(5, known)) == [2, 3, 4, 1, 5]


def test_more_than_are_known_makes_new_ones_above_every_known_k() -> None:
    known = [SUCCEEDED, replace(UNKNOWN, k=7)]
    assert bind(4, known)[2:] == [Binding(None, 8), Binding(None, 9)]


@pytest.mark.parametrize("code", ErrorCode)
@pytest.mark.parametrize("state", State)
def test_only_what_is_known_not_executed_and_may_pass_is_armed(state: State, code: ErrorCode) -> None:
    (binding,) = bind(1, [Known(1, 0, state, code)])
    assert binding.known is not None
    assert binding.known.may_pass == (state in (State.FAILED, State.CANCELLED) and code in MAY_PASS)


def test_a_permanent_failure_answers_from_the_record() -> None:
    assert bind(1, [REFUSED]) == [Binding(REFUSED, 4)]


def test_a_failure_without_a_code_is_not_run_again() -> None:
    assert bind(1, [Known(1, 0, State.FAILED)]) == [Binding(Known(1, 0, State.FAILED), 0)]


def test_a_place_told_before_that_no_longer_exists_is_bound_anew() -> None:
    assert ids(bind(1, [SUCCEEDED], {0: 99})) == [1]


def test_places_beyond_what_is_asked_bind_nothing() -> None:
    assert ids(bind(1, [SUCCEEDED, UNKNOWN], {0: 1, 5: 3})) == [1]


@st.composite
def knowns(draw: st.DrawFn) -> list[Known]:
    ks = draw(st.lists(st.integers(0, 30), unique=True, max_size=8))
    codes = st.none() | st.sampled_from(ErrorCode)
    return [Known(100 + n, k, draw(st.sampled_from(State)), draw(codes)) for n, k in enumerate(ks)]


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 12), knowns(), st.data())
def test_asking_never_makes_more_than_asked_or_known(asked: int, known: list[Known], data: st.DataObject) -> None:
    some_ids = st.sampled_from([item.id for item in known] or [99])
    bound = data.draw(st.dictionaries(st.integers(0, max(asked - 1, 0)), some_ids, max_size=3).filter(_each_once))
    bindings = bind(asked, known, bound)
    old = [binding.known for binding in bindings if binding.known]
    new = [binding.k for binding in bindings if binding.known is None]
    assert len(bindings) == asked
    assert len(known) + len(new) == max(asked, len(known))
    assert len({item.id for item in old}) == len(old)
    assert len(set(new)) == len(new)
    assert not {item.k for item in known} & set(new)
    by_place = {place: item_id for place, item_id in bound.items() if item_id != 99 and place < asked}
    assert all(ids(bindings)[place] == item_id for place, item_id in by_place.items())


def _each_once(bound: dict[int, int]) -> bool:
    return len(set(bound.values())) == len(bound)
