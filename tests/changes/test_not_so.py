"""What stands against a change or a cancellation: told as it is, or kept for a person."""

from collections.abc import Callable
from typing import Any

import pytest

from booking.errors import ErrorCode, ToolError
from booking.states import State
from tests.changes.house import BEN, CANCEL, CHANGE, A, B, C, House, Wish
from tests.tasks.desk import SHORT

Houses = Callable[..., House]

TOOLS = {CHANGE: "change", CANCEL: "cancel"}

both = pytest.mark.parametrize("tool", TOOLS)


def wished(house: House, tool: str, number: str, **how: Any) -> Wish:
    return house.ask(tool, number, B if tool == CHANGE else None, **how)


def error(house: House, wish: Wish) -> ToolError:
    found = house.answer(wish).error
    assert found is not None
    return found


@pytest.mark.parametrize("mode", ["lookup-only", "blind"])
def test_a_third_value_after_a_lost_write_is_for_a_person(house: Houses, mode: str) -> None:
    at = house(mode)
    number = at.seed()
    at.desk.pms.fault("reset_before_commit", match={"operation": "change"}, times=1)
    wish = at.change(number, B)
    assert at.run(wish).state is State.QUEUED
    at.desk.pms.desk(number, check_in=C[0], check_out=C[1])
    assert at.later(wish).state is State.UNKNOWN
    assert at.letters(wish) == ["mismatch"]
    assert at.dates(number) == C
    assert error(at, wish).message == "It is not yet known whether this was changed; it is being confirmed."
    assert at.desk.rests(wish.item)
    assert len(at.calls("change")) == 1


@pytest.mark.parametrize("committed", [True, False])
def test_a_third_value_is_seen_even_where_the_first_look_back_failed(house: Houses, committed: bool) -> None:
    """A key would let the change be sent again; but the front desk's word came later than ours."""
    at = house()
    number = at.seed()
    at.desk.pms.fault(
        "reset_after_commit" if committed else "reset_before_commit", match={"operation": "change"}, times=1
    )
    at.desk.pms.fault("status", status=503, match={"operation": "get"}, skip=1, times=1)
    wish = at.change(number, B)
    assert at.run(wish).state is State.QUEUED
    at.desk.pms.desk(number, check_in=C[0], check_out=C[1])
    assert at.later(wish).state is State.UNKNOWN
    assert (at.letters(wish), at.dates(number)) == (["mismatch"], C)
    assert len(at.calls("change")) == 1


def test_the_front_desks_move_before_the_first_write_is_no_obstacle(house: Houses) -> None:
    at = house()
    number = at.seed()
    wish = at.change(number, B)
    at.desk.pms.desk(number, check_in=C[0], check_out=C[1])
    assert at.run(wish).state is State.SUCCEEDED
    assert at.dates(number) == B


def test_a_change_in_doubt_of_a_reservation_cancelled_since_is_for_a_person(house: Houses) -> None:
    at = house("lookup-only")
    number = at.seed()
    at.desk.pms.fault("reset_before_commit", match={"operation": "change"}, times=1)
    wish = at.change(number, B)
    at.run(wish)
    at.desk.pms.desk(number, status="cancelled")
    assert at.later(wish).state is State.UNKNOWN
    assert at.letters(wish) == ["mismatch"]
    assert len(at.calls("change")) == 1


@both
def test_a_reservation_in_doubt_that_is_not_shown_any_more_is_for_a_person(house: Houses, tool: str) -> None:
    at = house("lookup-only")
    number = at.seed()
    at.desk.pms.fault("reset_before_commit", match={"operation": TOOLS[tool]}, times=1)
    gone = {"error": {"code": "not_found", "message": "no such booking"}}
    at.desk.pms.fault("status", status=404, body=gone, match={"operation": "get"}, skip=1)
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.UNKNOWN
    assert at.letters(wish) == ["mismatch"]
    assert len(at.calls(TOOLS[tool])) == 1


ALTERED: list[dict[str, Any]] = [
    {"status": "cancelled"},
    {"guest": BEN},
    {"check_in": C[0], "check_out": C[1]},
]


@both
def test_an_audit_of_what_was_told_as_done_changes_nothing_whatever_the_hotel_has_done_since(
    house: Houses, tool: str
) -> None:
    at = house()
    for alteration in ALTERED:
        number = at.seed()
        at.desk.pms.fault("reset_before_commit", match={"operation": TOOLS[tool]}, times=1)
        wish = wished(at, tool, number)
        assert at.run(wish).state is State.SUCCEEDED
        told = at.told(wish)
        at.desk.pms.desk(number, **alteration)
        audited = at.later(wish, 300)
        assert (audited.state, audited.due_at) == (State.SUCCEEDED, None)
        assert at.told(wish) == told.model_copy(update={"attempts": told.attempts + 1})
        assert at.letters(wish) == []


@both
def test_an_audit_of_what_was_told_as_not_done_survives_what_the_hotel_has_done_since(house: Houses, tool: str) -> None:
    at = house("lookup-only")
    for alteration in ALTERED:
        number = at.seed()
        at.desk.pms.fault("reset_before_commit", match={"operation": TOOLS[tool]}, times=1)
        wish = wished(at, tool, number, lifetime=30, conversation=f"c-{number}")
        at.run(wish)
        assert at.later(wish, expire=True).state is State.FAILED
        at.desk.pms.desk(number, **alteration)
        at.later(wish, 300)
        so = at.status(number) == "cancelled" and tool == CANCEL
        assert at.desk.item(wish.item).state is (State.SUCCEEDED if so else State.FAILED)
        assert at.desk.rests(wish.item)


def test_a_late_commit_of_what_was_told_as_not_done_is_told_to_the_host_and_to_a_person(house: Houses) -> None:
    at = house("lookup-only", write_deadline=SHORT)
    number = at.seed()
    at.desk.pms.fault("hold_before_commit", match={"operation": "change"}, times=1)
    wish = at.change(number, B, lifetime=30)
    at.run(wish)
    assert at.later(wish, expire=True).state is State.FAILED
    at.desk.pms.release()
    assert at.later(wish, 300).state is State.SUCCEEDED
    assert at.letters(wish) == ["late_success"]


# The hotel system refuses


def test_an_unknown_number_is_told_as_not_found(house: Houses) -> None:
    at = house()
    wish = at.change("B-77", B)
    assert at.run(wish).state is State.FAILED
    told = error(at, wish)
    assert (told.code, told.message) == (ErrorCode.NOT_FOUND, "Reservation B-77 was not found.")
    assert told.fix == "Ask the guest for the number; never guess it."
    assert at.operations() == ["get"]


def test_sold_out_dates_are_told_and_may_be_asked_for_again_when_rooms_are_free(house: Houses) -> None:
    at = house()
    number = at.seed()
    at.desk.pms.set_rooms("BER", "double", 0, check_in=B[0], check_out=B[1])
    wish = at.change(number, B)
    assert at.run(wish).state is State.FAILED
    told = error(at, wish)
    assert (told.code, told.retryable) == (ErrorCode.CONFLICT, True)
    assert told.message == f"{number} can't be moved to {B[0]} to {B[1]}: no room of its type is free."
    assert at.dates(number) == A
    at.desk.pms.set_rooms("BER", "double", 1, check_in=B[0], check_out=B[1])
    assert at.change(number, B) == wish
    assert at.run(wish).state is State.SUCCEEDED
    first, second = at.calls("change")
    assert first["key"] != second["key"], "the refusal is kept under the first"
    assert at.dates(number) == B


def test_a_cancelled_reservation_can_not_be_moved_until_it_is_revived(house: Houses) -> None:
    at = house()
    number = at.seed()
    at.desk.pms.desk(number, status="cancelled")
    wish = at.change(number, B)
    assert at.run(wish).state is State.FAILED
    told = error(at, wish)
    assert (told.code, told.message) == (
        ErrorCode.CONFLICT,
        f"{number} is cancelled, so its dates can't be changed.",
    )
    assert at.calls("change") == []
    at.desk.pms.desk(number, status="confirmed")
    assert at.change(number, B) == wish
    assert at.run(wish).state is State.SUCCEEDED


def test_one_that_is_cancelled_between_look_and_write_is_told_alike(house: Houses) -> None:
    at = house()
    number = at.seed()
    refused = {"error": {"code": "cancelled", "message": "is cancelled"}}
    at.desk.pms.fault("status", status=409, body=refused, match={"operation": "change"}, times=1)
    wish = at.change(number, B)
    assert at.run(wish).state is State.FAILED
    assert error(at, wish).message == f"{number} is cancelled, so its dates can't be changed."


@both
def test_the_hotel_systems_own_no_is_told_like_no_such_number(house: Houses, tool: str) -> None:
    at = house()
    number = at.seed()
    forbidden = {"error": {"code": "forbidden", "message": "not yours"}}
    at.desk.pms.fault("status", status=403, body=forbidden, match={"operation": TOOLS[tool]}, times=1)
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.FAILED
    told = error(at, wish)
    assert (told.code, told.message) == (ErrorCode.NOT_FOUND, f"Reservation {number} was not found.")
