"""One open wish a reservation: what comes meanwhile waits, from wherever it comes, and passes once it is known."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from booking.states import State
from dedupe.submission import Blocked
from tests.api.checks import refused
from tests.changes.house import ANNA, CANCEL, CHANGE, A, B, C, Dates, House, Wish
from tests.changes.talk import Talk
from tests.dedupe.rows import at_once, rows
from tests.tasks.desk import SHORT

Houses = Callable[..., House]

NAMED: dict[str, Any] = {"guest_name": ANNA["name"]}
WISHES: list[tuple[str, Dates | None]] = [(CHANGE, B), (CHANGE, C), (CANCEL, None)]


def arguments(number: str, dates: Dates | None) -> dict[str, Any]:
    target = {"check_in": dates[0], "check_out": dates[1]} if dates else {}
    return {"reservation_id": number, **target, **NAMED}


@pytest.mark.parametrize("own", [True, False], ids=["same conversation", "another"])
def test_what_comes_while_one_is_open_waits_and_passes_afterwards(talk: Talk, own: bool) -> None:
    for first, second in ((0, 1), (0, 2), (2, 0)):
        at = replace(talk, apart=f"{first}-{second}-")
        number, other = at.seed(), "c-77" if own else "c-other"
        tool, dates = WISHES[first]
        taken = at.tool(tool, **arguments(number, dates)).json()
        tool, dates = WISHES[second]
        response = at.tool(tool, other, **arguments(number, dates))
        error = refused(response, 409, "UNKNOWN_OUTCOME").tool_error
        assert error.message.startswith(f"An earlier request for {number} is not settled yet")
        assert not error.retryable
        # The one to poll is named where it is their own; another conversation's may be another guest's.
        assert (taken["id"] in error.message) == (taken["id"] in response.text) == own
        assert len(rows(at.api.engine, "SELECT FROM items WHERE subject = :number", number=number)) == 1
        assert at.work(taken)["outcome"] == "succeeded"
        later = at.done(tool, other, **arguments(number, dates))
        assert later["outcome"] == ("failed" if first == 2 else "succeeded")


def test_the_same_wish_again_is_the_same_intent_and_other_reservations_are_free(talk: Talk) -> None:
    number, other = talk.seed(), talk.seed()
    taken = talk.tool(CHANGE, **arguments(number, B)).json()
    again = talk.tool(CHANGE, **arguments(number, B))
    assert (again.status_code, again.json()["id"]) == (202, taken["id"])
    assert talk.change(other, B, **NAMED)["outcome"] == "succeeded"


def test_asking_on_in_vain_ends_the_conversation_and_not_the_others(talk: Talk) -> None:
    number = talk.seed()
    talk.tool(CHANGE, "c-first", **arguments(number, B))
    refused(talk.tool(CANCEL, **arguments(number, None)), 409, "UNKNOWN_OUTCOME")
    refused(talk.tool(CANCEL, **arguments(number, None)), 409, "STOPPED")
    refused(talk.tool(CANCEL, "c-2", **arguments(number, None)), 409, "UNKNOWN_OUTCOME")


def test_two_at_the_same_instant_over_http_are_one_taken_and_one_to_wait(talk: Talk) -> None:
    numbers = [talk.seed() for _ in range(6)]
    for number in numbers:

        def call(index: int, number: str = number) -> int:
            tool, dates = WISHES[index]
            return talk.tool(tool, f"c-{number}-{index}", **arguments(number, dates)).status_code

        assert sorted(at_once(3, call)) == [202, 409, 409]


def test_of_many_at_the_same_instant_exactly_one_is_taken(house: Houses) -> None:
    at = house()
    for _ in range(8):
        number = at.seed()

        def ask(index: int, number: str = number) -> Wish | None:
            tool, dates = WISHES[index % 3]
            try:
                return at.ask(tool, number, dates, conversation=f"c-{number}-{index}")
            except Blocked:
                return None

        [taken] = [wish for wish in at_once(6, ask) if wish]
        assert at.run(taken).state is State.SUCCEEDED


def blocked(house: House, wish: Wish, number: str, dates: Dates | None) -> None:
    """Nothing else is taken, neither where it was asked for, which is told what to poll, nor elsewhere."""
    for conversation in ("c-1", "c-2"):
        with pytest.raises(Blocked) as refusal:
            house.ask(CHANGE if dates else CANCEL, number, dates, conversation=conversation)
        assert (refusal.value.row, refusal.value.values["subject"]) == ("subject_in_doubt", number)
        assert (wish.intent in refusal.value.values["intent"]) == (conversation == "c-1")


def test_one_that_is_being_written_just_now_blocks(house: Houses) -> None:
    at = house()
    number = at.seed()
    at.desk.pms.fault("commit_then_timeout", match={"operation": "change"}, times=1)
    wish = at.change(number, B)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(at.run, wish)
        at.desk.pms.wait_held()
        try:
            blocked(at, wish, number, None)
        finally:
            at.desk.pms.release()
        assert running.result(timeout=20).state is State.SUCCEEDED
    assert at.run(at.cancel(number, conversation="c-2")).state is State.SUCCEEDED


def test_one_that_waits_for_quiet_time_and_one_that_is_unknown_block_until_they_are_known(house: Houses) -> None:
    at = house("blind", write_deadline=SHORT)
    number = at.seed()
    at.desk.pms.fault("hold_before_commit", match={"operation": "change"}, times=1)
    wish = at.change(number, B)
    assert at.run(wish).state is State.QUEUED
    blocked(at, wish, number, C)
    assert at.later(wish).state is State.UNKNOWN
    blocked(at, wish, number, C)
    blocked(at, wish, number, None)
    at.desk.pms.release()
    assert at.later(wish, 3600).state is State.SUCCEEDED
    at.moved(number, C, conversation="c-2")
    assert at.dates(number) == C


def test_one_for_a_person_blocks_too(house: Houses) -> None:
    at = house("lookup-only")
    number = at.seed()
    at.desk.pms.fault("reset_before_commit", match={"operation": "change"}, times=1)
    wish = at.change(number, B)
    at.run(wish)
    at.desk.pms.desk(number, check_in=C[0], check_out=C[1])
    assert at.later(wish).state is State.UNKNOWN
    blocked(at, wish, number, A)


def test_a_failed_wish_does_not_block(house: Houses) -> None:
    at = house()
    number = at.seed()
    at.desk.pms.set_rooms("BER", "double", 0, check_in=B[0], check_out=B[1])
    assert at.run(at.change(number, B)).state is State.FAILED
    at.moved(number, C)


def test_a_failed_wish_that_is_armed_again_waits_like_a_new_one(house: Houses) -> None:
    at = house()
    number = at.seed()
    at.desk.pms.set_rooms("BER", "double", 0, check_in=B[0], check_out=B[1])
    assert at.run(at.change(number, B)).state is State.FAILED
    wish = at.change(number, C)
    blocked(at, wish, number, B)
