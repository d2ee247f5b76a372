"""Rules that `decide` keeps for any item, any provider and any outcome, written down apart from the code."""

import math
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from booking.capabilities import Capabilities, ReferenceMatch
from booking.errors import ErrorCode
from booking.outcomes import (
    Absent,
    Done,
    Finding,
    Found,
    Misconfigured,
    Mismatched,
    NotSent,
    Outcome,
    Rejected,
    Unknown,
)
from booking.states import SETTLED, Kind, State
from dedupe.items import Item
from tasks.decide import decide
from tasks.decisions import Call, Decision, Later, Park, Settle
from tasks.waits import MAX_WRITES, key_live, quiet_at
from tests.booking.build import error_of
from tests.tasks.build import NOW, SOLD_OUT_VALUES, an_item, sold_out

#: More calls than these in one run would be a storm. Check, write, check, write, check: five can make sense.
MOST_CALLS = 6
OPEN = (State.QUEUED, State.RUNNING, State.UNKNOWN)


def moments(*offsets: float) -> st.SearchStrategy[datetime]:
    """Times at both sides of every boundary: curated, because even spread would hardly ever come near one."""
    return st.sampled_from([NOW + timedelta(seconds=offset) for offset in offsets])


past = moments(0, -0.001, -5, -9.999, -10, -25, -29.999, -30, -39.999, -40, -41, -61, -600, -3610, -86_395, -86_401)
nearly_always_none = st.sampled_from(
    [None, None, None, None, None, error_of("unavailable"), error_of("rate_limited"), sold_out()]
)
waits = st.sampled_from([None, 0.0, 0.5, 30.0, 3600.0])

capabilities = st.builds(
    Capabilities,
    keyed=st.sampled_from([frozenset[str](), frozenset({"booking"}), frozenset({"refund"})]),
    key_life=st.sampled_from([timedelta(0), timedelta(seconds=30), timedelta(hours=24)]),
    key_locks=st.sampled_from([True, True, True, False]),
    key_survives_errors=st.sampled_from([True, True, True, False]),
    reference_match=st.sampled_from(ReferenceMatch),
    settle_time=st.sampled_from([timedelta(0), timedelta(seconds=30), timedelta(hours=1)]),
    absence_provable=st.sampled_from([True, True, False]),
    idle_timeout=st.sampled_from([timedelta(0), timedelta(seconds=10)]),
    looks_first=st.booleans(),
    reads_back=st.booleans(),
)

written: st.SearchStrategy[Outcome] = st.one_of(
    st.just(Done({"booking_id": "B-1"})),
    st.just(Rejected("sold_out", "HTTP 409 sold_out", SOLD_OUT_VALUES)),
    st.builds(NotSent, st.just("refused"), st.sampled_from([ErrorCode.UNAVAILABLE, ErrorCode.RATE_LIMITED]), waits),
    st.builds(Unknown, st.just("deadline passed"), waits),
    st.just(Misconfigured("HTTP 401")),
)
checked: st.SearchStrategy[Finding] = st.one_of(
    st.builds(Found, st.just({"booking_id": "B-1"}), past, st.sampled_from([(), ("B-2",)])),
    st.builds(Mismatched, st.just("B-1 is cancelled"), past),
    st.builds(Absent, past),
    st.builds(Absent, past),
    st.builds(Absent, past),
    st.builds(NotSent, st.just("refused"), st.sampled_from([ErrorCode.UNAVAILABLE, ErrorCode.RATE_LIMITED]), waits),
    st.builds(Unknown, st.just("HTTP 503"), waits),
    st.just(Misconfigured("HTTP 401")),
)
#: What a look before the first write may also say.
refused: st.SearchStrategy[Finding] = st.just(Rejected("denied", "another guest's"))
ends: st.SearchStrategy[tuple[Kind | None, Outcome | Finding | None]] = st.one_of(
    st.just((None, None)),
    st.tuples(st.just(Kind.WRITE), written),
    st.tuples(st.just(Kind.CHECK), checked),
)


@st.composite
def items(draw: st.DrawFn, least_doubts: int = 0, states: tuple[State, ...] = (*OPEN, *OPEN, *SETTLED)) -> Item:
    """Any item that a worker could peek; its sums fit together."""
    sends = sorted(draw(st.lists(past, min_size=least_doubts, max_size=3, unique=True)))
    return an_item(
        state=draw(st.sampled_from(states)),
        refusal=draw(nearly_always_none),
        error=draw(nearly_always_none),
        rev=draw(st.integers(0, 50)),
        writes=draw(st.sampled_from([0, 1, 1, 2, 3])),
        failures=draw(st.sampled_from([0, 1, 10, 2000])),
        doubts=tuple(draw(st.sets(st.sampled_from(sends), min_size=least_doubts))) if sends else (),
        last_send=sends[-1] if sends else None,
        first_sent_at=sends[0] if sends else None,
        doubted_at=draw(st.none() | past),
        expires_at=draw(moments(600, 600, 600, 0.001, 0, -1)),
        stop_writes=draw(st.sampled_from([False, False, False, True])),
        overtaken=draw(st.booleans()),
    )


cases = given(items(), capabilities, ends)


@settings(max_examples=250, deadline=None)
@given(items(1, OPEN), capabilities, ends)
def test_nothing_open_is_told_as_failed_without_a_proof_of_absence(
    item: Item, caps: Capabilities, end: tuple[Kind | None, Outcome | Finding | None]
) -> None:
    decision = decide(*end, item, caps, NOW)
    if isinstance(decision, Settle) and decision.state is not State.SUCCEEDED:
        outcome = end[1]
        assert decision.absent
        assert isinstance(outcome, Absent)
        assert outcome.begun_at >= quiet_at(item, caps, NOW)
        assert caps.absence_provable


@settings(max_examples=250, deadline=None)
@cases
def test_absence_is_claimed_on_proof_alone(
    item: Item, caps: Capabilities, end: tuple[Kind | None, Outcome | Finding | None]
) -> None:
    decision = decide(*end, item, caps, NOW)
    if isinstance(decision, Call | Settle) and decision.absent:
        outcome = end[1]
        assert isinstance(outcome, Absent)
        assert outcome.begun_at >= quiet_at(item, caps, NOW)
        assert caps.absence_provable


@settings(max_examples=250, deadline=None)
@cases
def test_nothing_is_written_that_may_not_be(
    item: Item, caps: Capabilities, end: tuple[Kind | None, Outcome | Finding | None]
) -> None:
    decision = decide(*end, item, caps, NOW)
    if decision in (Call(Kind.WRITE), Call(Kind.WRITE, absent=True)):
        assert isinstance(decision, Call)
        assert item.writes < MAX_WRITES
        assert item.expires_at > NOW
        assert not item.stop_writes
        assert not item.refusal
        assert item.state not in SETTLED
        assert not item.doubts or decision.absent or key_live(item, caps, NOW)


@settings(max_examples=250, deadline=None)
@given(items(0, OPEN), capabilities, st.one_of(checked, refused))
def test_what_is_looked_at_first_is_never_written_on_less_than_a_clear_look(
    item: Item, caps: Capabilities, saw: Finding
) -> None:
    item, caps = replace(item, doubts=()), replace(caps, looks_first=True)
    start = decide(None, None, item, caps, NOW)
    assert start != Call(Kind.WRITE)
    after = decide(Kind.CHECK, saw, item, caps, NOW)
    assert after != Call(Kind.WRITE) or isinstance(saw, Absent)
    if isinstance(saw, Rejected):
        assert isinstance(after, Settle)
        assert after.state is State.FAILED


@settings(max_examples=250, deadline=None)
@given(items(0, tuple(SETTLED)), capabilities)
def test_what_a_later_item_has_changed_is_not_looked_at_again(item: Item, caps: Capabilities) -> None:
    decision = decide(None, None, replace(item, overtaken=True), replace(caps, reads_back=True), NOW)
    assert not isinstance(decision, Call)


@settings(max_examples=250, deadline=None)
@given(items(0, OPEN), capabilities, ends)
def test_success_is_told_on_the_providers_word_alone(
    item: Item, caps: Capabilities, end: tuple[Kind | None, Outcome | Finding | None]
) -> None:
    decision = decide(*end, item, caps, NOW)
    succeeds = isinstance(decision, Settle) and decision.state is State.SUCCEEDED
    assert succeeds == isinstance(end[1], Done | Found)


@settings(max_examples=250, deadline=None)
@cases
def test_every_wait_is_a_finite_number_of_seconds(
    item: Item, caps: Capabilities, end: tuple[Kind | None, Outcome | Finding | None]
) -> None:
    decision = decide(*end, item, caps, NOW)
    due_in = decision.due_in if isinstance(decision, Later | Park) else None
    if due_in is not None:
        assert 0 <= due_in < math.inf
        assert due_in <= 2 * 86_400


@settings(max_examples=50, deadline=None)
@cases
def test_the_same_arguments_give_the_same_answer(
    item: Item, caps: Capabilities, end: tuple[Kind | None, Outcome | Finding | None]
) -> None:
    assert decide(*end, item, caps, NOW) == decide(*end, replace(item), replace(caps), NOW)


@settings(max_examples=250, deadline=None)
@given(items(), capabilities, st.data())
def test_a_run_ends_whatever_the_provider_answers(item: Item, caps: Capabilities, data: st.DataObject) -> None:
    now, calls = NOW, 0
    decision: Decision = decide(None, None, item, caps, now)
    while isinstance(decision, Call):
        calls += 1
        assert calls <= MOST_CALLS
        begun_at = now
        now += timedelta(seconds=data.draw(st.sampled_from([0.0, 1.0, 12.5, 41.0, 60.0])))
        if decision.kind is Kind.CHECK:
            finding = data.draw(checked | st.just(Absent(begun_at)))
            decision = decide(Kind.CHECK, finding, item, caps, now)
        else:
            outcome = data.draw(written)
            if not isinstance(outcome, NotSent | Misconfigured):
                sent = begun_at + timedelta(seconds=caps.send_window)
                doubts = (*item.doubts, sent) if isinstance(outcome, Unknown) else item.doubts
                item = replace(item, writes=item.writes + 1, last_send=sent, doubts=doubts, state=State.RUNNING)
            decision = decide(Kind.WRITE, outcome, item, caps, now)
