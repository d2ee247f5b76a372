"""`decide` after a look-up: section 5 of the design, row by row."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from booking.capabilities import Capabilities
from booking.errors import ErrorCode
from booking.outcomes import Absent, Finding, Found, Misconfigured, Mismatched, NotSent, Unknown
from booking.states import DeadLetter, Kind, State
from dedupe.items import AUDIT_SECONDS, Item
from tasks.decide import decide
from tasks.decisions import Call, Decision, Later, Park, Settle
from tasks.waits import MAX_WRITES
from tests.booking.build import error_of
from tests.tasks.build import (
    KEYED,
    KEYED_UNPROVEN,
    LOOKUP_ONLY,
    NOW,
    QUIET,
    UNPROVEN,
    doubtful,
    seconds,
    settled,
    sold_out,
)

BOOKED = {"booking_id": "B-9921"}
SETTLED = [State.SUCCEEDED, State.FAILED, State.CANCELLED, State.SUPERSEDED]
looking = pytest.mark.parametrize(
    "caps",
    [KEYED, KEYED_UNPROVEN, LOOKUP_ONLY, UNPROVEN],
    ids=["keyed", "keyed-unproven", "lookup-only", "unproven"],
)
#: Why no write may follow although one is left, or none is left.
NO_WRITE: list[dict[str, Any]] = [{"writes": MAX_WRITES}, {"stop_writes": True}, {"expires_at": NOW}]
no_write = pytest.mark.parametrize("changes", NO_WRITE, ids=["writes used up", "stopped", "expired"])


def saw(finding: Finding, item: Item, caps: Capabilities = LOOKUP_ONLY, now: datetime = NOW) -> Decision:
    return decide(Kind.CHECK, finding, item, caps, now)


def quiet_item(**changes: Any) -> Item:
    """In doubt, and quiet since a second ago; so a look-up begun at NOW counts."""
    return doubtful(sent_ago=QUIET.total_seconds() + 1, **changes)


# Found.


@looking
def test_what_is_found_has_succeeded(caps: Capabilities) -> None:
    assert saw(Found(BOOKED, NOW, "B-9921"), doubtful(), caps) == Settle(State.SUCCEEDED, result=BOOKED)


def test_what_is_found_succeeds_though_it_is_expired_stopped_refused_or_shown_as_unknown() -> None:
    for changes in (*NO_WRITE, {"refusal": sold_out()}, {"state": State.UNKNOWN}):
        decision = saw(Found(BOOKED, NOW, "B-9921"), doubtful(**changes))
        assert isinstance(decision, Settle)
        assert (decision.state, decision.error, decision.result) == (State.SUCCEEDED, None, BOOKED)


def test_found_after_two_writes_is_audited_once() -> None:
    first = saw(Found(BOOKED, NOW, "B-9921"), doubtful(writes=2, sends=2))
    assert isinstance(first, Settle)
    assert first.audit
    second = saw(Found(BOOKED, NOW, "B-9921"), settled(State.SUCCEEDED, writes=2, sends=2))
    assert isinstance(second, Settle)
    assert not second.audit


def test_further_live_ones_under_our_reference_become_a_dead_letter() -> None:
    decision = saw(Found(BOOKED, NOW, "B-9921", ("B-9922", "B-9923")), doubtful(writes=2))
    assert isinstance(decision, Settle)
    assert decision.state is State.SUCCEEDED
    assert decision.letters == ((DeadLetter.DUPLICATE, "exist beside B-9921: B-9922, B-9923"),)


def test_an_audit_keeps_the_one_already_told_and_names_the_others() -> None:
    told = settled(State.SUCCEEDED, provider_id="B-9922", sends=2)
    decision = saw(Found(BOOKED, NOW, "B-9921", ("B-9922",)), told)
    assert isinstance(decision, Settle)
    assert decision.letters == ((DeadLetter.DUPLICATE, "exist beside B-9922: B-9921"),)


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_an_audit_that_finds_what_was_told_as_not_done_brings_the_proof(state: State) -> None:
    decision = saw(Found(BOOKED, NOW, "B-9921"), settled(state))
    assert isinstance(decision, Settle)
    assert (decision.state, decision.result) == (State.SUCCEEDED, BOOKED)


# Mismatched.


@looking
def test_something_else_under_our_reference_waits_for_a_person(caps: Capabilities) -> None:
    decision = saw(Mismatched("B-1 is cancelled", NOW), quiet_item(), caps)
    assert decision == Park(DeadLetter.MISMATCH, "B-1 is cancelled")


@pytest.mark.parametrize("state", SETTLED)
def test_an_audit_that_finds_nothing_changes_nothing(state: State) -> None:
    item = settled(state, writes=2)
    assert saw(Absent(NOW), item) == Settle(state, item.error)


@pytest.mark.parametrize("state", SETTLED)
def test_an_audit_that_finds_something_else_matters_where_nothing_was_told_to_exist(state: State) -> None:
    decision = saw(Mismatched("B-1 has other dates", NOW), settled(state))
    assert isinstance(decision, Settle)
    assert decision.state is state
    told = () if state in (State.SUCCEEDED, State.SUPERSEDED) else ((DeadLetter.MISMATCH, "B-1 has other dates"),)
    assert decision.letters == told


@pytest.mark.parametrize("state", SETTLED)
@pytest.mark.parametrize("finding", [Unknown("x"), NotSent("x"), Misconfigured("x")])
def test_an_audit_that_is_told_nothing_comes_again_and_leaves_the_state(state: State, finding: Finding) -> None:
    item = settled(state, writes=2)
    assert saw(finding, item) == Later(AUDIT_SECONDS, state, item.error, told_nothing=None, slow=False)


# Absent, key live.


@pytest.mark.parametrize("caps", [KEYED, KEYED_UNPROVEN])
def test_absent_under_a_live_key_is_written_once_more_without_waiting(caps: Capabilities) -> None:
    assert saw(Absent(NOW), doubtful(), caps) == Call(Kind.WRITE)


def test_a_live_key_never_makes_a_failure_true_before_quiet_time() -> None:
    for changes in (*NO_WRITE, {"refusal": sold_out(), "writes": MAX_WRITES}):
        decision = saw(Absent(NOW), doubtful(sent_ago=10, **changes), KEYED)
        assert isinstance(decision, Later)
        assert decision.due_in == pytest.approx(30, abs=0.1)
        assert decision.error is None


def test_a_refusal_in_doubt_is_not_written_again_under_the_same_key() -> None:
    """The provider stored the refusal and would only repeat it."""
    decision = saw(Absent(NOW), doubtful(refusal=sold_out()), KEYED)
    assert isinstance(decision, Later)


def test_a_dead_key_waits_for_quiet_time_like_no_key() -> None:
    item = doubtful(sent_ago=10, first_sent_at=NOW - timedelta(hours=24))
    assert isinstance(saw(Absent(NOW), item, KEYED), Later)


# Absent, no live key.


def test_a_lookup_begun_before_quiet_time_proves_nothing() -> None:
    """Though it ends after quiet time."""
    item = doubtful(sent_ago=60)
    quiet = NOW - seconds(60) + QUIET
    decision = saw(Absent(quiet - seconds(0.000_001)), item)
    assert isinstance(decision, Later)
    assert decision.due_in == pytest.approx(0.05)


def test_a_lookup_begun_at_quiet_time_proves_absence_where_that_is_declared() -> None:
    item = doubtful(sent_ago=60)
    quiet = NOW - seconds(60) + QUIET
    assert saw(Absent(quiet), item) == Call(Kind.WRITE, absent=True)


def test_the_latest_of_several_sends_decides_when_it_is_quiet() -> None:
    item = doubtful(writes=2, doubts=(NOW - seconds(90), NOW - seconds(10)), last_send=NOW - seconds(10))
    decision = saw(Absent(NOW), item)
    assert isinstance(decision, Later)
    assert decision.due_in == pytest.approx(30, abs=0.1)


def test_before_quiet_time_the_next_look_up_is_due_just_after_it() -> None:
    decision = saw(Absent(NOW), doubtful(sent_ago=0))
    assert isinstance(decision, Later)
    assert 40 < decision.due_in < 40.2
    assert decision.state is State.QUEUED


def test_an_item_a_minute_in_doubt_is_shown_as_unknown() -> None:
    slow = replace(LOOKUP_ONLY, settle_time=seconds(300))
    just_under = doubtful(sent_ago=55, doubted_at=NOW - seconds(59.999))
    just_over = doubtful(sent_ago=55, doubted_at=NOW - seconds(60))
    states = []
    for item in (just_under, just_over, replace(just_under, state=State.UNKNOWN)):
        decision = saw(Absent(NOW), item, slow)
        assert isinstance(decision, Later)
        states.append(decision.state)
    assert states == [State.QUEUED, State.UNKNOWN, State.UNKNOWN]


@pytest.mark.parametrize(
    ("changes", "state", "code"),
    [
        ({"writes": MAX_WRITES}, State.FAILED, ErrorCode.UNAVAILABLE),
        ({"writes": MAX_WRITES, "error": error_of("rate_limited")}, State.FAILED, ErrorCode.RATE_LIMITED),
        ({"expires_at": NOW}, State.FAILED, ErrorCode.EXPIRED),
        ({"stop_writes": True}, State.CANCELLED, ErrorCode.CANCELLED),
    ],
)
@pytest.mark.parametrize("caps", [KEYED, LOOKUP_ONLY], ids=["keyed", "lookup-only"])
def test_proven_absence_with_no_write_left_is_told_as_not_booked(
    caps: Capabilities, changes: dict[str, Any], state: State, code: ErrorCode
) -> None:
    decision = saw(Absent(NOW), quiet_item(**changes), caps)
    assert isinstance(decision, Settle)
    assert decision.error is not None
    assert (decision.state, decision.error.code) == (state, code)
    assert decision.absent
    assert decision.audit
    assert not decision.raise_generation


@pytest.mark.parametrize("changes", [{}, *NO_WRITE])
@pytest.mark.parametrize("caps", [KEYED, LOOKUP_ONLY], ids=["keyed", "lookup-only"])
def test_proven_absence_after_a_refusal_tells_the_refusal_and_opens_a_new_key(
    caps: Capabilities, changes: dict[str, Any]
) -> None:
    decision = saw(Absent(NOW), quiet_item(refusal=sold_out(), **changes), caps)
    assert decision == Settle(State.FAILED, sold_out(), absent=True, raise_generation=True, audit=True)


@no_write
@pytest.mark.parametrize("caps", [UNPROVEN, KEYED_UNPROVEN], ids=["unproven", "keyed-unproven"])
def test_absence_that_proves_nothing_is_never_a_failure(caps: Capabilities, changes: dict[str, Any]) -> None:
    decision = saw(Absent(NOW), quiet_item(**changes), caps)
    assert isinstance(decision, Park)
    assert decision.reason is DeadLetter.UNKNOWN_OUTCOME
    assert decision.due_in is not None


def test_absence_that_proves_nothing_is_never_ground_for_another_write() -> None:
    assert isinstance(saw(Absent(NOW), quiet_item(), UNPROVEN), Park)
