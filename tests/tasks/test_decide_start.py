"""`decide` at the start of a run, and what it asks: is the key live, is it quiet, may the item run."""

from dataclasses import replace
from typing import Any

import pytest

from booking.capabilities import Capabilities
from booking.outcomes import Absent, Rejected
from booking.states import DeadLetter, Kind, State
from dedupe.items import Item
from tasks.decide import decide, runnable
from tasks.decisions import Call, Decision, Settle
from tasks.waits import MAX_WRITES, key_live, quiet_at
from tests.booking.build import error_of
from tests.tasks.build import (
    ALL,
    BLIND,
    KEYED,
    LOOKUP_ONLY,
    NOW,
    QUIET,
    SOLD_OUT_VALUES,
    UNKEYED,
    UNPROVEN,
    an_item,
    doubtful,
    seconds,
    settled,
    sold_out,
)

REFUSED = Rejected("sold_out", "HTTP 409 sold_out", SOLD_OUT_VALUES)
every = pytest.mark.parametrize("caps", ALL.values(), ids=ALL.keys())
looking = pytest.mark.parametrize("caps", [KEYED, LOOKUP_ONLY, UNPROVEN], ids=["keyed", "lookup-only", "unproven"])


def start(item: Item, caps: Capabilities = KEYED) -> Decision:
    return decide(None, None, item, caps, NOW)


@every
def test_a_new_item_is_written(caps: Capabilities) -> None:
    assert start(an_item(), caps) == Call(Kind.WRITE)


@looking
@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.UNKNOWN])
def test_an_item_in_doubt_begins_with_a_look_up(caps: Capabilities, state: State) -> None:
    assert start(doubtful(state=state), caps) == Call(Kind.CHECK)


@pytest.mark.parametrize("changes", [{"stop_writes": True}, {"expires_at": NOW}, {"writes": MAX_WRITES}])
def test_expiry_and_cancel_stop_writes_but_never_checks(changes: dict[str, Any]) -> None:
    assert start(doubtful(**changes), LOOKUP_ONLY) == Call(Kind.CHECK)


def test_a_cancelled_item_without_doubt_is_cancelled() -> None:
    assert start(an_item(stop_writes=True)) == Settle(State.CANCELLED, error_of("cancelled"))


@pytest.mark.parametrize("ago", [0.0, 0.001, 3600.0])
def test_an_item_whose_time_ran_out_untried_fails_as_expired(ago: float) -> None:
    decision = start(an_item(expires_at=NOW - seconds(ago)))
    assert isinstance(decision, Settle)
    assert (decision.state, decision.error) == (State.FAILED, error_of("expired"))
    assert [reason for reason, _ in decision.letters] == [DeadLetter.EXPIRED]


def test_an_instant_before_its_time_is_over_an_item_is_still_written() -> None:
    assert start(an_item(expires_at=NOW + seconds(0.001))) == Call(Kind.WRITE)


@looking
@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED, State.CANCELLED, State.SUPERSEDED])
def test_a_settled_item_is_audited_by_a_look_up_and_never_written(caps: Capabilities, state: State) -> None:
    assert start(settled(state), caps) == Call(Kind.CHECK)


def test_a_settled_item_rests_where_nothing_can_be_looked_up() -> None:
    item = settled(State.FAILED)
    assert start(item, BLIND) == Settle(State.FAILED, item.error)


def test_a_key_is_live_as_long_as_it_outlasts_the_last_byte_of_a_new_write() -> None:
    # connect 2 s, then the mark, then 3 s in which the first byte may leave
    edge = NOW + seconds(5) - KEYED.key_life
    assert not key_live(doubtful(first_sent_at=edge), KEYED, NOW)
    assert not key_live(doubtful(first_sent_at=edge - seconds(1)), KEYED, NOW)
    assert key_live(doubtful(first_sent_at=edge + seconds(0.001)), KEYED, NOW)
    assert key_live(an_item(), KEYED, NOW)


@pytest.mark.parametrize(
    "caps",
    [
        *UNKEYED,
        replace(KEYED, key_locks=False),
        replace(KEYED, key_survives_errors=False),
        replace(KEYED, keyed=frozenset({"refund"})),
    ],
)
def test_a_key_that_does_not_lock_or_survive_or_cover_the_effect_protects_nothing(caps: Capabilities) -> None:
    assert not key_live(an_item(), caps, NOW)


def test_quiet_time_begins_after_the_last_send_the_idle_timeout_and_the_settle_time() -> None:
    item = doubtful(doubts=(NOW - seconds(50), NOW - seconds(5)), last_send=NOW - seconds(5))
    assert quiet_at(item, LOOKUP_ONLY, NOW) == NOW - seconds(5) + QUIET


def test_a_write_without_a_known_time_is_quiet_only_from_now_on() -> None:
    assert quiet_at(doubtful(last_send=None), LOOKUP_ONLY, NOW) == NOW + QUIET


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({}, True),
        ({"due_at": NOW + seconds(0.001)}, False),
        ({"due_at": None}, False),
        ({"lease_until": NOW + seconds(0.001)}, False),
        ({"lease_until": NOW}, True),
    ],
)
def test_an_item_runs_when_it_is_due_and_nobody_holds_it(changes: dict[str, Any], *, runs: bool) -> None:
    assert runnable(an_item(**changes), NOW) is runs


def test_an_outcome_that_no_call_of_that_kind_can_have_is_a_bug_and_raises() -> None:
    with pytest.raises(TypeError, match="a write can't end as Absent"):
        decide(Kind.WRITE, Absent(NOW), an_item(), KEYED, NOW)
    with pytest.raises(TypeError, match="a look-up can't end as Rejected"):
        decide(Kind.CHECK, REFUSED, an_item(), KEYED, NOW)


def test_a_refusal_that_waited_for_a_doubt_is_told_when_the_doubt_has_ended_otherwise() -> None:
    """The other write was closed as refused by the worker that had been paused: nothing is in doubt any more."""
    item = an_item(writes=1, refusal=sold_out(), state=State.QUEUED)
    assert start(item, KEYED) == Settle(State.FAILED, sold_out(), raise_generation=True)


def test_an_item_that_reached_nobody_in_its_time_fails_with_the_last_code_and_a_dead_letter() -> None:
    item = an_item(expires_at=NOW, error=error_of("rate_limited"), failures=9)
    decision = start(item)
    assert isinstance(decision, Settle)
    assert decision.state is State.FAILED
    assert decision.error == error_of("rate_limited")
    assert [reason for reason, _ in decision.letters] == [DeadLetter.EXHAUSTED]
    assert not decision.absent
