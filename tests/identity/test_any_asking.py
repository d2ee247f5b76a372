"""Whatever is asked, in whatever order, with whatever becomes of it: never more rooms than were meant."""

from collections import Counter
from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from booking.settings import Guards, TenantSettings
from booking.states import State
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.submission import Admitted, Blocked, Mismatch, Submission
from dedupe.tenants import create_tenant
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.wake import redis_client
from tasks.write import run_item
from tests.dedupe.rows import CALLER, HOTELS, asking, linked, room, rows, run
from tests.pms import Pms
from tests.tasks.desk import Desk

TYPES = ("double", "suite")
DATES = {"2027-03-05": "2027-03-07", "2027-04-05": "2027-04-08"}
KINDS = st.tuples(st.sampled_from(TYPES), st.sampled_from(sorted(DATES)))
GROUPS = st.lists(KINDS, min_size=1, max_size=4)
#: What becomes of the next create: its answer is lost after the booking was made, or before.
TROUBLE = st.sampled_from(["reset_after_commit", "reset_before_commit"])
OPEN = "SELECT id FROM items WHERE conversation_id = :talk AND state IN ('queued', 'running', 'unknown') ORDER BY id"

#: A room type and the day of arrival.
Kind = tuple[str, str]

numbers = count(1)


class Talk(RuleBasedStateMachine):
    """One conversation of one guest, who never means more rooms than were asked for at once, and one more each time."""

    desk: Desk
    pms: Pms

    @initialize()
    def begin(self) -> None:
        self.pms.reset()
        number = next(numbers)
        self.name, self.guest = f"c-{number}", f"Guest {number}"
        self.meant: Counter[Kind] = Counter()
        self.added: Counter[Kind] = Counter()
        self.wishes = False
        self.calls = count(1)

    def ask(self, kinds: list[Kind], *, header: str | None = None, **changes: Any) -> Admitted | None:
        """None: it is refused for now, or stands for other values. `changes` are of the first room."""
        dates = [{"check_in": day, "check_out": DATES[day]} for _, day in kinds]
        stays = [room(kind[0], guest=self.guest, **when) for kind, when in zip(kinds, dates, strict=True)]
        stays[0] = stays[0].model_copy(update=changes)
        tool = "create_booking" if len(kinds) == 1 and header is None else "book_rooms"
        return self.admit(asking(*stays, conversation=self.name, header=header, tool=tool))

    def admit(self, submission: Submission) -> Admitted | None:
        try:
            return admit(self.desk.engine, submission)
        except (Blocked, Mismatch):
            return None

    @rule(kinds=GROUPS, single=st.booleans())
    def ask_for(self, kinds: list[Kind], single: bool) -> None:
        for group in [[kind] for kind in kinds] if single else [kinds]:
            if self.ask(group) is not None:
                self.meant |= Counter(group)

    @rule(kinds=GROUPS)
    def ask_with_a_wish(self, kinds: list[Kind]) -> None:
        self.wishes = True
        if self.ask(kinds, notes="a cot") is not None:
            self.meant |= Counter(kinds)

    @rule(kinds=GROUPS, key=st.sampled_from("ab"))
    def ask_with_a_key(self, kinds: list[Kind], key: str) -> None:
        """The same rooms in the same order are the same request."""
        if self.ask(kinds, header=f"{key} {kinds} {self.name}") is not None:
            self.meant |= Counter(kinds)

    @rule(kind=KINDS, again=st.booleans())
    def ask_for_one_more(self, kind: Kind, again: bool) -> None:
        header = None if again else f"one more {next(self.calls)} {self.name}"
        admitted = self.ask([kind], header=header, additional=True)
        if admitted is not None and not admitted.existed:
            self.added[kind] += 1

    @rule(name=st.sampled_from(TYPES), free=st.sampled_from([0, 1, 9]))
    def so_many_are_free(self, name: str, free: int) -> None:
        self.pms.set_rooms("BER", name, free)

    @rule(kind=TROUBLE)
    def the_next_answer_is_lost(self, kind: str) -> None:
        self.pms.fault(kind, match={"operation": "create_booking"}, times=1)

    @rule()
    def work(self) -> None:
        for item in self.open():
            self.desk.later(item)

    def open(self) -> list[int]:
        return [one.id for one in rows(self.desk.engine, OPEN, talk=self.name)]

    def work_to_the_end(self) -> None:
        """A lost answer or two, and the look-ups after quiet time."""
        for _ in range(6):
            self.work()
        assert self.open() == []

    def change(self, data: st.DataObject, tool: str, **arguments: str) -> None:
        """The guest changes or cancels a booking. It may be refused, if an earlier change is open still."""
        booking = data.draw(st.sampled_from(self.pms.bookings(status="confirmed")))
        given = {"reservation_id": booking["booking_id"], "guest_name": self.guest, **arguments}
        asked = TOOLS[tool].arguments.model_validate(given)
        taken = self.admit(submission_of(Asking(CALLER, self.name, HOTELS), TOOLS[tool], asked, None, 600))
        if taken is not None:
            for item in linked(self.desk.engine, taken.intent_id):
                run_item(self.desk.runtime, item)

    @precondition(lambda self: bool(self.alive()))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.change(data, "cancel_reservation")

    @precondition(lambda self: bool(self.alive()))
    @rule(data=st.data(), day=st.sampled_from(sorted(DATES)))
    def move(self, data: st.DataObject, day: str) -> None:
        """What comes to other dates stands there beside what was meant for them."""
        before = self.alive()
        self.change(data, "change_reservation_dates", check_in=day, check_out=DATES[day])
        self.added += self.alive() - before

    def alive(self) -> Counter[Kind]:
        return Counter((one["room_type"], one["check_in"]) for one in self.pms.bookings(status="confirmed"))

    @invariant()
    def no_room_is_too_many(self) -> None:
        if hasattr(self, "meant"):
            assert self.alive() <= self.meant + self.added

    def teardown(self) -> None:
        """With rooms for all, what was meant exists, and asking for it in another order makes nothing new."""
        if not hasattr(self, "meant") or not self.meant:
            return
        self.pms.clear_faults()
        for name in TYPES:
            self.pms.set_rooms("BER", name, 9)
        self.work_to_the_end()
        whole = list(self.meant.elements())
        for order in (whole, whole[::-1]):
            if self.ask(order) is None:
                assert self.wishes
                return
            self.work_to_the_end()
            assert self.meant <= self.alive() <= self.meant + self.added
        states = rows(self.desk.engine, "SELECT state FROM items WHERE conversation_id = :talk", talk=self.name)
        assert {State(one.state) for one in states} <= {State.SUCCEEDED, State.SUPERSEDED, State.FAILED}


def test_no_sequence_of_askings_makes_more_rooms_than_were_meant(engine: Engine, pms: Pms, redis_url: str) -> None:
    # One secret for all keys: a booking that is moved gets its new ones from the tenant's row.
    create_tenant(engine, CALLER.tenant_id, TenantSettings(guards=Guards(same_call_failures=100, unavailable=100)))
    run(engine, "UPDATE tenants SET secret = :secret", secret=CALLER.secret)
    talk = type("TalkHere", (Talk,), {"desk": Desk.at(engine, pms, redis_client(redis_url), "keyed"), "pms": pms})
    few = settings(max_examples=20, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(talk, settings=few)
