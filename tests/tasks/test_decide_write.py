"""`decide` after a write: section 5 of the design, row by row."""

from datetime import timedelta
from typing import Any

import pytest

from booking.capabilities import Capabilities
from booking.errors import ErrorCode
from booking.outcomes import Done, Misconfigured, NotSent, Outcome, Rejected, Unknown
from booking.states import DeadLetter, Kind, State
from dedupe.items import Item
from tasks.decide import decide
from tasks.decisions import Call, Decision, Later, Park, Settle
from tasks.waits import BACKOFF_MOST, MAX_WRITES, MISCONFIGURED_SECONDS
from tests.booking.build import error_of
from tests.tasks.build import (
    ALL,
    BLIND,
    KEYED,
    KEYED_BLIND,
    LOOKUP_ONLY,
    NOW,
    SOLD_OUT_VALUES,
    UNPROVEN,
    an_item,
    doubtful,
    seconds,
    sold_out,
)

BOOKED = {"booking_id": "B-9921"}
REFUSED = Rejected("sold_out", "HTTP 409 sold_out", SOLD_OUT_VALUES)
every = pytest.mark.parametrize("caps", ALL.values(), ids=ALL.keys())
looking = pytest.mark.parametrize("caps", [KEYED, LOOKUP_ONLY, UNPROVEN], ids=["keyed", "lookup-only", "unproven"])


def start(item: Item, caps: Capabilities = KEYED) -> Decision:
    return decide(None, None, item, caps, NOW)


def wrote(outcome: Outcome, item: Item, caps: Capabilities = KEYED) -> Decision:
    return decide(Kind.WRITE, outcome, item, caps, NOW)


@every
def test_a_confirmed_write_succeeds(caps: Capabilities) -> None:
    assert wrote(Done(BOOKED), an_item(writes=1), caps) == Settle(State.SUCCEEDED, result=BOOKED)


@looking
def test_after_two_possible_sends_a_success_is_audited(caps: Capabilities) -> None:
    assert wrote(Done(BOOKED), an_item(writes=2, sends=2), caps) == Settle(State.SUCCEEDED, result=BOOKED, audit=True)


def test_nothing_is_audited_where_nothing_can_be_looked_up() -> None:
    assert wrote(Done(BOOKED), an_item(writes=2, sends=2), KEYED_BLIND) == Settle(State.SUCCEEDED, result=BOOKED)


@looking
def test_a_refusal_after_a_write_that_nobody_found_is_audited(caps: Capabilities) -> None:
    """The first may have come late and taken the last room."""
    decision = wrote(REFUSED, an_item(writes=2, sends=1), caps)
    assert decision == Settle(State.FAILED, sold_out(), raise_generation=True, audit=True)


@every
def test_a_refusal_without_doubt_fails_with_its_code_and_opens_a_new_key(caps: Capabilities) -> None:
    decision = wrote(REFUSED, an_item(writes=1), caps)
    assert decision == Settle(State.FAILED, sold_out(), raise_generation=True)


@every
def test_a_refusal_while_another_write_is_in_doubt_is_kept_and_looked_up_at_quiet_time(caps: Capabilities) -> None:
    decision = wrote(REFUSED, doubtful(sent_ago=10, writes=2), caps)
    assert isinstance(decision, Later)
    assert decision.refusal == sold_out()
    assert decision.error is None
    assert decision.due_in == pytest.approx(30, abs=0.1)
    assert decision.due_in > 30


@pytest.mark.parametrize(
    ("row", "values", "code"),
    [
        ("refused_argument", {"field": "adults", "problem": "at most 4"}, ErrorCode.INVALID_ARGUMENT),
        ("price_changed", {"price": "190.00 EUR"}, ErrorCode.CONFLICT),
        ("not_found", {"what": "The property"}, ErrorCode.NOT_FOUND),
        ("denied", {}, ErrorCode.PERMISSION_DENIED),
    ],
)
def test_every_refusal_keeps_its_own_code(row: str, values: dict[str, Any], code: ErrorCode) -> None:
    decision = wrote(Rejected(row, "HTTP 4xx", values), an_item(writes=1))
    assert isinstance(decision, Settle)
    assert decision.state is State.FAILED
    assert decision.error == error_of(row, **values)
    assert decision.error.code is code


@every
def test_a_write_that_reached_nobody_is_tried_later_and_nothing_is_in_doubt(caps: Capabilities) -> None:
    decision = wrote(NotSent("connection refused"), an_item(), caps)
    assert isinstance(decision, Later)
    assert decision.state is State.QUEUED
    assert decision.error == error_of("unavailable")
    assert decision.told_nothing
    assert 0 <= decision.due_in <= 2


@pytest.mark.parametrize("failures", [0, 1, 3, 5, 6, 50, 100_000])
def test_the_backoff_doubles_with_full_jitter_and_is_bounded(failures: int) -> None:
    most = min(2.0 ** min(failures + 1, 10), BACKOFF_MOST)
    waits = []
    for rev in range(300):
        decision = wrote(NotSent("refused"), an_item(failures=failures, rev=rev))
        assert isinstance(decision, Later)
        assert 0 <= decision.due_in <= most
        waits.append(decision.due_in)
    assert min(waits) < most * 0.1
    assert max(waits) > most * 0.9


def test_a_wish_of_the_provider_outlasts_our_own_backoff() -> None:
    decision = wrote(NotSent("HTTP 429", ErrorCode.RATE_LIMITED, retry_after=90), an_item())
    assert isinstance(decision, Later)
    assert decision.due_in == 90
    assert decision.error == error_of("rate_limited")


def test_a_short_wish_of_the_provider_does_not_cut_our_backoff() -> None:
    plain = wrote(NotSent("HTTP 429", ErrorCode.RATE_LIMITED), an_item(failures=5))
    wished = wrote(NotSent("HTTP 429", ErrorCode.RATE_LIMITED, retry_after=0.001), an_item(failures=5))
    assert plain == wished


def test_no_wait_reaches_beyond_the_items_time() -> None:
    item = an_item(expires_at=NOW + seconds(30))
    decision = wrote(NotSent("HTTP 429", ErrorCode.RATE_LIMITED, retry_after=3600), item)
    assert isinstance(decision, Later)
    assert 30 < decision.due_in <= 30.1


def test_a_repeat_that_reached_nobody_leaves_the_doubt_to_a_look_up_at_quiet_time() -> None:
    decision = wrote(NotSent("refused"), doubtful(sent_ago=1), KEYED)
    assert isinstance(decision, Later)
    assert decision.due_in >= 39
    assert decision.error is None
    assert decision.told_nothing


@every
def test_our_own_wrong_credentials_make_the_item_wait_and_tell_a_person(caps: Capabilities) -> None:
    decision = wrote(Misconfigured("HTTP 401"), an_item(), caps)
    assert decision == Later(
        MISCONFIGURED_SECONDS,
        State.QUEUED,
        error=error_of("unavailable"),
        letters=((DeadLetter.MISCONFIGURED, "HTTP 401"),),
        told_nothing=True,
    )


@every
def test_wrong_credentials_never_tell_the_guest_not_allowed(caps: Capabilities) -> None:
    for item in (an_item(), doubtful(sent_ago=300), an_item(expires_at=NOW)):
        decision = wrote(Misconfigured("HTTP 403"), item, caps)
        assert isinstance(decision, Later)
        assert decision.error is None or decision.error.code is not ErrorCode.PERMISSION_DENIED


def test_wrong_credentials_keep_the_doubt() -> None:
    decision = wrote(Misconfigured("HTTP 401"), doubtful(sent_ago=90), KEYED)
    assert isinstance(decision, Later)
    assert (decision.state, decision.error) == (State.UNKNOWN, None)


@looking
def test_a_write_that_may_have_happened_is_looked_up_at_once(caps: Capabilities) -> None:
    assert wrote(Unknown("deadline passed"), doubtful(), caps) == Call(Kind.CHECK)


def test_a_blind_write_that_may_have_happened_waits_for_a_person() -> None:
    assert wrote(Unknown("deadline passed"), doubtful(), BLIND) == Park(DeadLetter.UNKNOWN_OUTCOME, "deadline passed")


def test_without_a_look_up_a_live_key_allows_to_send_again() -> None:
    decision = wrote(Unknown("HTTP 503"), doubtful(), KEYED_BLIND)
    assert isinstance(decision, Later)
    assert decision.told_nothing
    assert start(doubtful(), KEYED_BLIND) == Call(Kind.WRITE, same_key=True)


@pytest.mark.parametrize(
    "changes",
    [{"writes": MAX_WRITES}, {"stop_writes": True}, {"expires_at": NOW}, {"first_sent_at": NOW - timedelta(hours=24)}],
    ids=["writes used up", "stopped", "expired", "key dead"],
)
def test_without_a_look_up_nothing_more_is_sent_than_may_be(changes: dict[str, Any]) -> None:
    for decision in (
        start(doubtful(**changes), KEYED_BLIND),
        wrote(Unknown("HTTP 503"), doubtful(**changes), KEYED_BLIND),
    ):
        assert isinstance(decision, Park)
        assert (decision.reason, decision.due_in) == (DeadLetter.UNKNOWN_OUTCOME, None)
