"""What stands against a change or a cancellation: told as it is, kept for a person, or tried again later."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from booking.errors import ErrorCode, ToolError
from booking.states import State
from dedupe.pauses import list_pauses, resume
from tasks.write import run_item
from tests.changes.house import BEN, CANCEL, CHANGE, A, B, C, House, Wish
from tests.tasks.desk import SHORT, Desk

Houses = Callable[..., House]

TOOLS = {CHANGE: "change", CANCEL: "cancel"}
NOWHERE = "http://127.0.0.1:9"

both = pytest.mark.parametrize("tool", TOOLS)


def wished(house: House, tool: str, number: str, **how: Any) -> Wish:
    return house.ask(tool, number, B if tool == CHANGE else None, **how)


def error(house: House, wish: Wish) -> ToolError:
    found = house.answer(wish).error
    assert found is not None
    return found


# Somebody else has had a hand in it


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
@pytest.mark.parametrize("alteration", ALTERED, ids=lambda altered: next(iter(altered)))
def test_an_audit_of_what_was_told_as_done_changes_nothing_whatever_the_hotel_has_done_since(
    house: Houses, tool: str, alteration: dict[str, Any]
) -> None:
    at = house()
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
@pytest.mark.parametrize("alteration", ALTERED, ids=lambda altered: next(iter(altered)))
def test_an_audit_of_what_was_told_as_not_done_survives_what_the_hotel_has_done_since(
    house: Houses, tool: str, alteration: dict[str, Any]
) -> None:
    at = house("lookup-only")
    number = at.seed()
    at.desk.pms.fault("reset_before_commit", match={"operation": TOOLS[tool]}, times=1)
    wish = wished(at, tool, number, lifetime=30)
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


# It can't be looked at


UNSEEN: list[tuple[str, dict[str, Any]]] = [
    ("status", {"status": 503}),
    ("reset_before_commit", {}),
    ("html", {"status": 200}),
    ("rate_limited", {}),
]


@both
@pytest.mark.parametrize("fault", UNSEEN, ids=lambda case: case[0])
def test_what_can_not_be_looked_at_is_not_written_but_looked_at_again(
    house: Houses, tool: str, fault: tuple[str, dict[str, Any]]
) -> None:
    at = house()
    number = at.seed()
    kind, how = fault
    at.desk.pms.fault(kind, match={"operation": "get"}, times=2, **how)
    wish = wished(at, tool, number)
    for _ in range(2):
        assert (at.run(wish) if not at.attempts(wish) else at.later(wish, 10)).state is State.QUEUED
        assert set(at.operations()) == {"get"}
    assert at.later(wish, 10).state is State.SUCCEEDED
    assert at.operations() == ["get", "get", "get", TOOLS[tool]]


@both
def test_a_hotel_system_that_can_not_be_reached_is_tried_until_the_time_is_over(house: Houses, tool: str) -> None:
    at = house()
    number = at.seed()
    away = House(Desk.at(at.desk.engine, at.desk.pms, at.desk.redis, "keyed", url=NOWHERE))
    wish = wished(at, tool, number)
    assert away.run(wish).state is State.QUEUED
    assert away.later(wish, 10).state is State.QUEUED
    assert away.later(wish, 3600, expire=True).state is State.FAILED
    done = "changed" if tool == CHANGE else "cancelled"
    assert error(at, wish).message == f"The hotel system could not be reached in time; this was not {done}."
    assert at.letters(wish) == ["exhausted"]
    assert at.calls() == []
    assert wished(at, tool, number) == wish, "asked again"
    assert at.run(wish).state is State.SUCCEEDED


@both
@pytest.mark.parametrize("operation", ["get", "write"])
def test_our_own_credentials_refused_pause_the_hotel_system_and_are_never_told_as_not_allowed(
    house: Houses, tool: str, operation: str
) -> None:
    at = house()
    number = at.seed()
    refused = {"error": {"code": "unauthorized", "message": "who are you?"}}
    match = {"operation": TOOLS[tool] if operation == "write" else "get"}
    at.desk.pms.fault("status", status=401, body=refused, match=match, times=1)
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.QUEUED
    assert [pause.provider for pause in list_pauses(at.desk.engine)] == ["pms"]
    assert at.letters(wish) == ["misconfigured"]
    assert at.told(wish).error is None
    calls = len(at.calls())
    assert at.later(wish, 40).state is State.QUEUED
    assert len(at.calls()) == calls
    assert resume(at.desk.engine, "pms") == 1
    assert at.later(wish, 5).state is State.SUCCEEDED
    assert len([call for call in at.calls(TOOLS[tool]) if call["effect"]]) == 1


# A worker dies


class Killed(BaseException):
    """As if the process had ended there."""


def dies(house: House, wish: Wish, step: str, calls: int) -> None:
    """Run it with a worker that is gone at the `calls`-th such step."""
    left = calls

    def at(reached: str) -> None:
        nonlocal left
        left -= reached == step
        if reached == step and not left:
            raise Killed

    with pytest.raises(Killed):
        run_item(replace(house.desk.runtime, at=at), wish.item)


@both
@pytest.mark.parametrize("mode", ["keyed", "lookup-only"])
@pytest.mark.parametrize("sent", [True, False])
def test_case_39_after_a_workers_death_the_reservation_is_read_before_anybody_writes(
    house: Houses, tool: str, mode: str, sent: bool
) -> None:
    at = house(mode)
    number = at.seed()
    wish = wished(at, tool, number)
    dies(at, wish, "answered" if sent else "begun", 2)
    assert at.attempts(wish) == [("check", "absent"), ("write", None)]
    assert not run_item(at.desk.runtime, wish.item), "its lease still runs"
    at.desk.pms.clear_ledger()
    recovered = at.later(wish, 20)
    assert at.operations()[0] == "get"
    if sent:
        assert recovered.state is State.SUCCEEDED
        assert at.operations() == ["get"]
    elif mode == "keyed":
        assert recovered.state is State.SUCCEEDED
        assert at.operations() == ["get", TOOLS[tool]]
    else:
        assert recovered.state is State.QUEUED
        assert at.later(wish).state is State.SUCCEEDED
        assert at.operations() == ["get", "get", TOOLS[tool]]


@both
def test_a_worker_that_dies_while_it_looks_leaves_no_doubt(house: Houses, tool: str) -> None:
    at = house("lookup-only")
    number = at.seed()
    wish = wished(at, tool, number)
    dies(at, wish, "answered", 1)
    assert at.desk.item(wish.item).doubts == ()
    assert at.later(wish, 20).state is State.SUCCEEDED
    assert at.operations() == ["get", "get", TOOLS[tool]]
