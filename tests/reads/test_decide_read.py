"""When a read is tried again, by the pure decision: numbers instead of waiting."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.errors import TABLE, ErrorCode
from booking.outcomes import Failure, HeldBack, Misconfigured, NotSent, Rejected, Unknown
from providers.retry_after import retry_after
from tasks.decide import decide_read
from tasks.decisions import READ_LEAST, Again, Give

NOW = datetime(2026, 12, 4, 18, 40, tzinfo=UTC)
BUDGET = 7.5
MOST_BACKOFF = {1: 0.5, 2: 1.0}

waits = st.none() | st.floats(0, 300)
failures = st.one_of(
    st.builds(Unknown, st.just("HTTP 503"), waits),
    st.builds(NotSent, st.just("HTTP 429"), st.sampled_from([ErrorCode.RATE_LIMITED, ErrorCode.UNAVAILABLE]), waits),
    st.just(Misconfigured("HTTP 401")),
    st.just(Rejected("not_found", "HTTP 404")),
    st.builds(HeldBack, st.floats(0, 60), st.just("breaker open"), st.booleans()),
)
chances = st.floats(0, 1, exclude_max=True)


@given(st.integers(0, 5), failures, st.floats(-5, BUDGET), chances)
def test_no_wait_goes_beyond_the_budget_or_the_third_call(
    tries: int, outcome: Failure, left: float, chance: float
) -> None:
    decision = decide_read(tries, outcome, left, chance)
    if isinstance(decision, Again):
        assert 0 <= decision.wait <= left - READ_LEAST
        assert tries < 3 or isinstance(outcome, HeldBack)
        assert not isinstance(outcome, Misconfigured | Rejected)
    else:
        assert decision.row in TABLE
        assert decision.retry_after >= 0


@pytest.mark.parametrize("tries", [1, 2])
@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
def test_backoff_is_exponential_with_full_jitter(tries: int, chance: float) -> None:
    assert decide_read(tries, Unknown("HTTP 503"), BUDGET, chance) == Again(chance * MOST_BACKOFF[tries])


def test_the_third_failure_is_told() -> None:
    assert isinstance(decide_read(3, Unknown("HTTP 503"), BUDGET, 0), Give)
    assert decide_read(3, NotSent("refused"), BUDGET, 0) == Give("read_unavailable")
    assert decide_read(3, NotSent("HTTP 429", ErrorCode.RATE_LIMITED), BUDGET, 0) == Give("read_rate_limited")


def test_a_refusal_and_our_own_mistake_are_told_at_once() -> None:
    assert decide_read(1, Rejected("not_found", "HTTP 404", {"what": "It"}), BUDGET, 0) == Give(
        "not_found", {"what": "It"}
    )
    assert decide_read(1, Misconfigured("HTTP 401"), BUDGET, 0) == Give("read_unavailable")


@pytest.mark.parametrize(
    ("sent", "wait"),
    [
        ("5", 5.0),
        ("1.5", 1.5),
        ("0", None),
        ("Fri, 04 Dec 2026 18:40:03 GMT", 3.0),
        ("Fri, 04 Dec 2026 18:30:00 GMT", None),
        ("30,120", None),
        ("-1", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("chance", [0.0, 0.9])
def test_case_54_every_form_of_retry_after_gives_the_right_wait(
    sent: str | None, wait: float | None, chance: float
) -> None:
    """None: our own backoff, since the header asks for less or says nothing."""
    outcome = NotSent("HTTP 429", ErrorCode.RATE_LIMITED, retry_after(sent, NOW))
    own = chance * MOST_BACKOFF[1]
    assert decide_read(1, outcome, BUDGET, chance) == Again(own if wait is None else wait)


@pytest.mark.parametrize("sent", ["8", "300", "99999999999999999999", "100000000000000000000.5"])
def test_case_54_a_wait_beyond_the_budget_is_told_at_once(sent: str) -> None:
    asked = retry_after(sent, NOW)
    assert asked is not None
    assert asked <= 300
    limited = decide_read(1, NotSent("HTTP 429", ErrorCode.RATE_LIMITED, asked), BUDGET, 0)
    assert limited == Give("read_rate_limited", retry_after=asked)
    assert decide_read(1, Unknown("HTTP 503", asked), BUDGET, 0) == Give("read_unavailable", retry_after=asked)


def test_being_held_back_is_no_call_and_is_waited_for_while_there_is_time() -> None:
    sick = HeldBack(1.0, "breaker open", sick=True)
    assert decide_read(0, sick, BUDGET, 0) == Again(1.0)
    assert decide_read(2, sick, BUDGET, 0) == Again(1.0)
    assert decide_read(2, sick, 1.2, 0) == Give("read_unavailable", retry_after=1.0)
    assert decide_read(0, HeldBack(2.0, "too many calls", sick=False), 1.0, 0) == Give(
        "read_rate_limited", retry_after=2.0
    )
