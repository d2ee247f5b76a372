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

from booking.arguments import CancelReservation
from booking.settings import Guards, TenantSettings
from booking.states import State
from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.submission import Admitted, Blocked, Mismatch
from dedupe.tenants import create_tenant
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.wake import redis_client
from tests.dedupe.rows import CALLER, HOTELS, asking, linked, room, rows
from tests.identity.asking import alive
from tests.pms import Pms
from tests.tasks.desk import Desk

TYPES = ("double", "single", "suite")
GROUPS = st.lists(st.sampled_from(TYPES), min_size=1, max_size=4)
#: What becomes of the next create: its answer is lost after the booking was made, or before.
TROUBLE = st.sampled_from(["reset_after_commit", "reset_before_commit"])
OPEN = (
    """SELECT id FROM items WHERE conversation_id = :talk AND state IN ('queued', 'running', 'unknown') ORDER BY id"""
)

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
        self.meant: Counter[str] = Counter()
        self.added: Counter[str] = Counter()
        self.wishes = False
        self.calls = count(1)

    def ask(self, types: list[str], *, header: str | None = None, **changes: Any) -> Admitted | None:
        """None: it is refused for now, or stands for other values. `notes` are of the first room."""
        notes = {"notes": changes.pop("notes", None)}
        stays = [room(name, guest=self.guest, **(changes if at else changes | notes)) for at, name in enumerate(types)]
        tool = "create_booking" if len(types) == 1 and header is None else "book_rooms"
        try:
            return admit(self.desk.engine, asking(*stays, conversation=self.name, header=header, tool=tool))
        except (Blocked, Mismatch):
            return None

    @rule(types=GROUPS, single=st.booleans())
    def ask_for(self, types: list[str], single: bool) -> None:
        for group in [[name] for name in types] if single else [types]:
            if self.ask(group) is not None:
                self.meant |= Counter(group)

    @rule(types=GROUPS)
    def ask_with_a_wish(self, types: list[str]) -> None:
        self.wishes = True
        if self.ask(types, notes="a cot") is not None:
            self.meant |= Counter(types)

    @rule(types=GROUPS, key=st.sampled_from("ab"))
    def ask_with_a_key(self, types: list[str], key: str) -> None:
        """The same rooms in the same order are the same request."""
        if self.ask(types, header=f"{key} {' '.join(types)} {self.name}") is not None:
            self.meant |= Counter(types)

    @rule(name=st.sampled_from(TYPES), again=st.booleans())
    def ask_for_one_more(self, name: str, again: bool) -> None:
        header = None if again else f"one more {next(self.calls)} {self.name}"
        admitted = self.ask([name], header=header, additional=True)
        if admitted is not None and not admitted.existed:
            self.added[name] += 1

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

    @precondition(lambda self: bool(alive(self.pms)))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        booking = data.draw(st.sampled_from(self.pms.bookings(status="confirmed")))
        arguments = CancelReservation(reservation_id=booking["booking_id"], guest_name=self.guest)
        submission = submission_of(Asking(CALLER, self.name, HOTELS), TOOLS["cancel_reservation"], arguments, None, 600)
        [item] = linked(self.desk.engine, admit(self.desk.engine, submission).intent_id)
        self.desk.later(item)

    @invariant()
    def no_room_is_too_many(self) -> None:
        if hasattr(self, "meant"):
            assert alive(self.pms) <= self.meant + self.added

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
            assert self.meant <= alive(self.pms) <= self.meant + self.added
        states = rows(self.desk.engine, "SELECT state FROM items WHERE conversation_id = :talk", talk=self.name)
        assert {State(one.state) for one in states} <= {State.SUCCEEDED, State.SUPERSEDED, State.FAILED}


def test_no_sequence_of_askings_makes_more_rooms_than_were_meant(engine: Engine, pms: Pms, redis_url: str) -> None:
    create_tenant(engine, CALLER.tenant_id, TenantSettings(guards=Guards(same_call_failures=100, unavailable=100)))
    talk = type("TalkHere", (Talk,), {"desk": Desk.at(engine, pms, redis_client(redis_url), "keyed"), "pms": pms})
    few = settings(max_examples=20, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(talk, settings=few)
