"""Wishes about one reservation one after the other: the last one stands, and an old one never comes back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from booking.conversation import ConversationAnswer, conversation_answer
from booking.states import IntentOutcome, State
from dedupe.items import Item
from dedupe.read import read_conversation
from tasks.write import run_item, run_message
from tests.changes.house import ANNA, A, B, C, Dates, House, Wish
from tests.dedupe.rows import CALLER, ask, linked, room
from tests.tasks.desk import SHORT

Houses = Callable[..., House]


def booked(house: House, dates: Dates = A) -> tuple[int, str]:
    """A booking of Anna's that was made here: its item, and its number."""
    stay = room(guest=ANNA["name"], check_in=dates[0], check_out=dates[1])
    admitted = ask(house.desk.engine, stay, conversation="c-1")
    [item] = linked(house.desk.engine, admitted.intent_id)
    for new, _ in admitted.publish:
        assert house.desk.run(new).state is State.SUCCEEDED
    return item, str(house.desk.row(item).provider_id)


def conversation(house: House, name: str = "c-1") -> ConversationAnswer:
    return conversation_answer(name, read_conversation(house.desk.engine, CALLER.tenant_id, name).rows)


def owned(house: House, name: str = "c-1") -> list[tuple[Any, ...]]:
    """What the guest is told to own: numbers with their dates."""
    return [
        (one.booking_id, one.result["check_in"], one.result["check_out"]) for one in conversation(house, name).owned
    ]


def state(house: House, wish: Wish) -> State:
    return house.desk.item(wish.item).state


def test_there_and_back_and_there_again_ends_there(house: Houses) -> None:
    at = house()
    number = at.seed()
    to_b, to_a, again = (at.moved(number, dates) for dates in (B, A, B))
    assert at.dates(number) == B
    writes = at.calls("change")
    assert [write["effect"] for write in writes] == [True, True, True]
    assert len({write["key"] for write in writes}) == 3
    assert again.intent == to_b.intent
    assert len({to_b.item, to_a.item, again.item}) == 3
    assert [state(at, wish) for wish in (to_b, to_a, again)] == [State.SUPERSEDED, State.SUPERSEDED, State.SUCCEEDED]
    told = at.told(again).result
    assert told is not None
    assert (told["check_in"], told["check_out"]) == B
    assert at.answer(to_a).outcome is IntentOutcome.SUCCEEDED, "it was so then"
    at.moved(number, A)
    assert at.dates(number) == A
    assert len({write["key"] for write in at.calls("change")}) == 4


def test_the_same_change_asked_twice_is_one(house: Houses) -> None:
    at = house()
    number = at.seed()
    wish = at.moved(number, B)
    assert at.change(number, B) == wish
    assert not run_item(at.desk.runtime, wish.item)
    by_mail = at.moved(number, B, email=ANNA["email"])
    elsewhere = at.moved(number, B, conversation="c-2")
    assert len({wish.item, by_mail.item, elsewhere.item}) == 3
    assert [call["effect"] for call in at.calls("change")] == [True]
    assert [state(at, one) for one in (wish, by_mail, elsewhere)] == [State.SUCCEEDED] * 3


def refused(house: House, number: str, dates: Dates, **how: Any) -> Wish:
    """A change that failed because no room was free then. There is one again."""
    house.desk.pms.set_rooms("BER", "double", 0, check_in=dates[0], check_out=dates[1])
    wish = house.change(number, dates, **how)
    assert house.run(wish).state is State.FAILED
    house.desk.pms.set_rooms("BER", "double", 1, check_in=dates[0], check_out=dates[1])
    return wish


def test_a_failed_change_does_not_come_back_after_a_later_one_but_a_fresh_wish_does(house: Houses) -> None:
    at = house()
    number = at.seed()
    stale = refused(at, number, B)
    at.moved(number, C)
    run_message(at.desk.runtime, stale.item, "bookings.pms")
    assert at.desk.rests(stale.item)
    assert at.dates(number) == C
    fresh = at.moved(number, B)
    assert (fresh.intent, fresh.item == stale.item) == (stale.intent, False)
    assert at.dates(number) == B


def test_a_failed_change_without_a_later_one_runs_again_as_the_same(house: Houses) -> None:
    at = house()
    number = at.seed()
    stale = refused(at, number, B)
    refused(at, number, C)
    assert at.change(number, B) == stale
    assert at.run(stale).state is State.SUCCEEDED


@pytest.mark.parametrize("succeeded", [True, False])
def test_a_header_key_that_comes_again_late_is_answered_from_the_record(house: Houses, succeeded: bool) -> None:
    at = house()
    number = at.seed()
    stale = at.moved(number, B, header="k-1") if succeeded else refused(at, number, B, header="k-1")
    at.moved(number, C)
    calls = len(at.calls())
    assert at.change(number, B, header="k-1") == stale
    assert not run_item(at.desk.runtime, stale.item)
    assert at.desk.rests(stale.item)
    outcome = at.answer(stale).outcome
    assert outcome is (IntentOutcome.SUCCEEDED if succeeded else IntentOutcome.FAILED)
    assert (len(at.calls()), at.dates(number)) == (calls, C)


# What the guest owns


def test_after_a_change_the_booking_and_what_is_owned_have_the_new_dates(house: Houses) -> None:
    at = house()
    item, number = booked(at)
    assert owned(at) == [(number, *A)]
    at.moved(number, B, conversation="c-2")
    result = at.desk.row(item).result
    assert (result["check_in"], result["check_out"], result["booking_id"]) == (*B, number)
    assert owned(at) == owned(at, "c-2") == [(number, *B)]
    assert conversation(at).handoff == f"1 room booked: {number}. A colleague will call you."
    at.moved(number, C)
    assert owned(at) == [(number, *C)]
    assert owned(at, "c-2") == [], "that change is overtaken; whose it is now, the other conversation knows"


def test_after_a_cancellation_nothing_is_owned_and_the_handoff_says_so(house: Houses) -> None:
    at = house()
    item, number = booked(at)
    change = at.moved(number, B, conversation="c-2")
    cancel = at.cancel(number)
    assert at.run(cancel).state is State.SUCCEEDED
    assert [at.desk.item(one).state for one in (item, change.item)] == [State.SUPERSEDED] * 2
    assert owned(at) == owned(at, "c-2") == []
    assert conversation(at).handoff == f"{number} is cancelled. A colleague will call you."


def test_what_was_cancelled_is_booked_again_as_another_and_cancelled_again(house: Houses) -> None:
    at = house()
    first, number = booked(at)
    assert at.run(at.cancel(number)).state is State.SUCCEEDED
    second, other = booked(at)
    assert (first != second, number != other) == (True, True)
    assert at.desk.item(first).reference != at.desk.item(second).reference
    assert owned(at) == [(other, *A)]
    assert (at.status(number), at.status(other)) == ("cancelled", "confirmed")
    assert at.run(at.cancel(other)).state is State.SUCCEEDED
    assert [booking["status"] for booking in at.desk.pms.bookings()] == ["cancelled", "cancelled"]


def test_a_moved_booking_is_met_under_its_new_dates_and_the_old_ones_are_free(house: Houses) -> None:
    at = house()
    first = booked(at)
    at.moved(first[1], B)
    assert booked(at, B) == first
    second = booked(at)
    assert second[1] != first[1]
    assert owned(at) == [(first[1], *B), (second[1], *A)]
    at.moved(first[1], A)
    assert booked(at) in (first, second)
    assert at.run(at.cancel(first[1])).state is State.SUCCEEDED
    assert booked(at) == second
    assert sorted(booking["status"] for booking in at.desk.pms.bookings()) == ["cancelled", "confirmed"]


def test_a_change_of_another_reservation_undoes_nothing_here(house: Houses) -> None:
    at = house()
    item, number = booked(at)
    wish = at.moved(number, B)
    other = at.seed(A)
    at.moved(other, C)
    assert at.run(at.cancel(other)).state is State.SUCCEEDED
    assert [at.desk.item(one).state for one in (item, wish.item)] == [State.SUCCEEDED] * 2
    assert owned(at) == [(number, *B)]


def test_a_change_in_vain_undoes_nothing(house: Houses) -> None:
    at = house()
    item, number = booked(at)
    wish = at.moved(number, B)
    refused(at, number, C)
    assert [at.desk.item(one).state for one in (item, wish.item)] == [State.SUCCEEDED] * 2
    assert owned(at) == [(number, *B)]


# An audit of the wish before, which stalls while the next one is fulfilled


@contextmanager
def audit_stalls(house: House, wish: Wish) -> Iterator[Callable[[], Item]]:
    """An audit that has seen the reservation, and hears the answer when what is given is called."""
    with ThreadPoolExecutor(1) as pool:
        rule = house.desk.pms.fault("commit_then_timeout", match={"operation": "get"}, times=1)
        running = pool.submit(house.later, wish, 300)
        house.desk.pms.wait_held()

        def end() -> Item:
            house.desk.pms.release(rule)
            return running.result(timeout=20)

        try:
            yield end
        finally:
            house.desk.pms.release()


def test_a_stalled_audit_of_an_older_change_undoes_no_newer_one(house: Houses) -> None:
    at = house()
    item, number = booked(at)
    at.desk.pms.fault("reset_before_commit", match={"operation": "change"}, times=1)
    older = at.moved(number, B)
    with audit_stalls(at, older) as end:
        newer = at.moved(number, C)
        end()
    assert (state(at, older), state(at, newer)) == (State.SUPERSEDED, State.SUCCEEDED)
    assert at.desk.row(item).result["check_in"] == C[0]
    assert owned(at) == [(number, *C)]


def test_an_older_change_that_failed_is_not_proven_by_a_newer_one_of_the_same(house: Houses) -> None:
    at = house("lookup-only")
    number = at.seed()
    at.desk.pms.fault("reset_before_commit", match={"operation": "change"}, times=1)
    older = at.change(number, B, lifetime=30)
    at.run(older)
    assert at.later(older, expire=True).state is State.FAILED
    at.moved(number, B, conversation="c-2")
    calls = len(at.calls())
    assert at.later(older, 300).state is State.FAILED
    assert (len(at.calls()), at.letters(older)) == (calls, [])
    assert at.desk.rests(older.item)


def test_late_proof_of_an_older_change_is_told_and_undoes_no_newer_one(house: Houses) -> None:
    at = house("lookup-only", write_deadline=SHORT)
    item, number = booked(at)
    at.desk.pms.fault("hold_before_commit", match={"operation": "change"}, times=1)
    older = at.change(number, B, lifetime=30)
    at.run(older)
    assert at.later(older, expire=True).state is State.FAILED
    at.desk.pms.release()  # long after all that the hotel system has declared
    with audit_stalls(at, older) as end:
        newer = at.moved(number, C)
        end()
    assert at.letters(older) == ["late_success"]
    assert (at.dates(number), state(at, newer)) == (C, State.SUCCEEDED)
    assert at.desk.row(item).result["check_in"] == C[0]
    assert owned(at) == [(number, *C)]
