"""`decide` against a small world with a clock: a provider that knows the truth, runs, crashes, cancels and expiry.

The promise, for every provider that keeps what it declares: at most one effect, and what was told as not done never
happened and never will.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.capabilities import Capabilities
from booking.errors import ToolError
from booking.outcomes import Absent, Done, Finding, Found, Misconfigured, NotSent, Outcome, Rejected, Unknown
from booking.states import Kind, State
from dedupe.items import Item
from tasks.decide import decide
from tasks.decisions import Call, Later, Park, Settle
from tests.tasks.build import ALL, NOW, SOLD_OUT_VALUES, an_item, seconds

REFUSED = Rejected("sold_out", "HTTP 409 sold_out", SOLD_OUT_VALUES)
FATES = ["done", "lost", "late", "late", "refused", "not sent", "misconfigured", "crash"]
SIGHTS = ["looks", "looks", "looks", "looks", "nothing", "throttled", "misconfigured"]
SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])


@dataclass
class World:
    """The truth: when each effect becomes visible, and until when the key of the first send is remembered."""

    caps: Capabilities
    data: st.DataObject
    now: datetime = NOW
    effects: list[datetime] = field(default_factory=list)
    key_until: datetime | None = None
    refused_under_key: bool = False

    def passes(self, most: float) -> None:
        self.now += seconds(most * self.data.draw(SHARES))

    def commit(self, arrived: datetime, fate: str, sent_until: datetime) -> None:
        """The request has arrived; whether and when it has its effect."""
        keyed = self.caps.honours_key("booking")
        if keyed and self.key_until is not None and arrived < self.key_until:
            return  # the same request again: no second effect, the first one stands
        if keyed:
            self.key_until = arrived + self.caps.key_life
        if fate == "late":
            hidden = (self.caps.idle_timeout + self.caps.settle_time).total_seconds()
            self.effects.append(sent_until + seconds(hidden * self.data.draw(SHARES)))
        elif fate == "done":
            self.effects.append(self.now)

    def write(self, fate: str, sent_until: datetime) -> Outcome:
        if fate == "not sent":
            return NotSent("connection refused")
        if fate == "misconfigured":
            return Misconfigured("HTTP 401")
        arrived = self.now + (sent_until - self.now) * self.data.draw(SHARES)
        again = self.key_until is not None and arrived < self.key_until
        self.commit(arrived, fate, sent_until)
        self.passes(self.caps.write_deadline)
        if fate == "done":
            # Under a known key the provider repeats its first answer, or says that it is still at work.
            return Done({"booking_id": "B-1"}) if not again or self.visible() else Unknown("key in progress")
        if fate == "refused":
            return REFUSED if not again else Unknown("key in progress")
        return Unknown("deadline passed")

    def visible(self) -> bool:
        return any(moment <= self.now for moment in self.effects)

    def check(self) -> Finding:
        begun_at = self.now
        # Where absence is not provable, a look-up may miss what is there for as long as it likes.
        there = self.visible() and (self.caps.absence_provable or self.data.draw(st.booleans()))
        sight = self.data.draw(st.sampled_from(SIGHTS))
        self.passes(self.caps.read_deadline)
        match sight:
            case "nothing":
                return Unknown("HTTP 503")
            case "throttled":
                return NotSent("HTTP 429", retry_after=1.0)
            case "misconfigured":
                return Misconfigured("HTTP 401")
            case _:
                return Found({"booking_id": "B-1"}, begun_at, "B-1") if there else Absent(begun_at)


def one_run(world: World, item: Item) -> tuple[Item, Settle | None]:
    """What `tasks.write` does with an item, up to a crash; the item as the database has it afterwards."""
    decision = decide(None, None, item, world.caps, world.now)
    while isinstance(decision, Call):
        if decision.absent:
            item = replace(item, doubts=())
        world.passes(world.caps.connect_deadline)
        if decision.kind is Kind.CHECK:
            decision = decide(Kind.CHECK, world.check(), item, world.caps, world.now)
            continue
        sent_until = world.now + seconds(world.caps.send_window)
        marked = counted(item, world.now, sent_until)
        fate = world.data.draw(st.sampled_from(FATES))
        outcome = world.write("late" if fate == "crash" else fate, sent_until)
        if fate == "crash":
            world.now = sent_until + seconds(world.caps.write_deadline)
            return marked, None
        if not isinstance(outcome, NotSent | Misconfigured):
            item = marked if isinstance(outcome, Unknown) else replace(marked, doubts=item.doubts)
        decision = decide(Kind.WRITE, outcome, item, world.caps, world.now)
    return moved(world, item, decision)


def counted(item: Item, mark: datetime, sent_until: datetime) -> Item:
    return replace(
        item,
        state=State.RUNNING,
        writes=item.writes + 1,
        first_sent_at=item.first_sent_at or mark,
        doubted_at=item.doubted_at or mark,
        last_send=sent_until,
        doubts=(*item.doubts, sent_until),
    )


def moved(world: World, item: Item, decision: Settle | Later | Park) -> tuple[Item, Settle | None]:
    if isinstance(decision, Settle):
        return replace(item, state=decision.state, error=decision.error), decision
    refusal: ToolError | None = item.refusal
    state = State.UNKNOWN
    if isinstance(decision, Later):
        refusal, state = decision.refusal or refusal, decision.state
    world.now += timedelta(seconds=decision.due_in or 600.0)
    world.passes(20.0)  # until a worker is free
    return replace(item, state=state, refusal=refusal, rev=item.rev + 1, failures=item.failures + 1), None


@pytest.mark.parametrize("caps", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("key_life", [20.0, 86_400.0])
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_at_most_one_effect_and_nothing_happens_that_was_told_as_not_done(
    caps: Capabilities, key_life: float, data: st.DataObject
) -> None:
    # A slow connect, so that a key's end is often near.
    world = World(replace(caps, key_life=seconds(key_life), connect_deadline=8.0), data)
    item = an_item(expires_at=NOW + seconds(data.draw(st.sampled_from([5.0, 60.0, 600.0]))))
    for _ in range(12):
        if data.draw(st.integers(0, 7)) == 0:
            item = replace(item, stop_writes=True)
        item, told = one_run(world, item)
        assert len(world.effects) <= 1
        if told is not None:
            assert (told.state is State.SUCCEEDED) == bool(world.effects)
            return


@pytest.mark.parametrize("caps", ALL.values(), ids=ALL.keys())
def test_the_world_can_catch_a_decision_that_writes_twice(caps: Capabilities) -> None:
    """Two sends without a look-up in between make two effects, unless a key protects."""
    effects = 0

    @settings(max_examples=1, deadline=None, database=None)
    @given(data=st.data())
    def twice(data: st.DataObject) -> None:
        nonlocal effects
        world = World(caps, data)
        for _ in range(2):
            world.write("late", world.now + seconds(3))
        effects = len(world.effects)

    twice()
    assert effects == (1 if caps.honours_key("booking") else 2)
