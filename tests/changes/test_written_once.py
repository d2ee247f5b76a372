"""A change or a cancellation: looked at before, written once, read back where the answer got lost."""

from collections.abc import Callable
from typing import Any

import pytest

from booking.errors import ErrorCode
from booking.states import State
from tests.changes.house import CANCEL, CHANGE, A, B, House, Wish
from tests.tasks.desk import SHORT, seconds_until

Houses = Callable[..., House]

MODES = ["keyed", "lookup-only", "blind"]
TOOLS = {CHANGE: "change", CANCEL: "cancel"}

both = pytest.mark.parametrize("tool", TOOLS)
all_modes = pytest.mark.parametrize("mode", MODES)

LOST_AFTER_COMMIT: list[tuple[str, dict[str, Any]]] = [
    ("commit_then_timeout", {}),
    ("reset_after_commit", {}),
    ("ok_with_error", {"when": "after"}),
    ("empty", {"status": 204}),
    ("html", {"status": 502, "when": "after"}),
    ("status", {"status": 503, "when": "after"}),
]
#: With a key or without one, the reservation is read; a few ways of losing the answer are enough without.
LOST = [(fault, "keyed") for fault in LOST_AFTER_COMMIT] + [
    (fault, mode) for fault in LOST_AFTER_COMMIT[:2] for mode in ("lookup-only", "blind")
]
LOST_BEFORE_COMMIT: list[tuple[str, dict[str, Any]]] = [
    ("reset_before_commit", {}),
    ("html", {"status": 200}),
]


def named(case: tuple[str, dict[str, Any]]) -> str:
    return " ".join([case[0], *(str(value) for value in case[1].values())])


def wished(house: House, tool: str, number: str) -> Wish:
    return house.ask(tool, number, B if tool == CHANGE else None)


def is_so(house: House, tool: str, number: str) -> bool:
    return house.dates(number) == B if tool == CHANGE else house.status(number) == "cancelled"


@all_modes
@both
def test_it_is_looked_at_and_then_written_once(house: Houses, mode: str, tool: str) -> None:
    at = house(mode)
    number = at.seed()
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.SUCCEEDED
    assert is_so(at, tool, number)
    assert at.operations() == ["get", TOOLS[tool]]
    [write] = at.calls(TOOLS[tool])
    assert write["effect"]
    assert write["key"] == (at.desk.item(wish.item).provider_key if mode == "keyed" else None)
    assert at.attempts(wish) == [("check", "absent"), ("write", "done")]
    result = at.told(wish).result
    assert result is not None
    assert result == {
        "booking_id": number,
        "status": "confirmed" if tool == CHANGE else "cancelled",
        "property": "BER",
        "room_type": "double",
        "check_in": (B if tool == CHANGE else A)[0],
        "check_out": (B if tool == CHANGE else A)[1],
        "guest_name": "Anna Moser",
    }
    assert at.letters(wish) == []
    assert at.desk.rests(wish.item)


@both
def test_what_is_so_already_is_a_success_without_a_write(house: Houses, tool: str) -> None:
    at = house()
    number = at.seed(B)
    if tool == CANCEL:
        at.desk.pms.desk(number, status="cancelled")
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.SUCCEEDED
    assert at.operations() == ["get"]
    told = at.told(wish)
    assert told.result is not None
    assert (told.result["booking_id"], told.attempts) == (number, 1)
    assert at.desk.rests(wish.item)


@both
@pytest.mark.parametrize(("fault", "mode"), LOST, ids=lambda case: named(case) if isinstance(case, tuple) else case)
def test_case_48_49_an_answer_lost_after_the_commit_is_read_off_the_reservation(
    house: Houses, fault: tuple[str, dict[str, Any]], tool: str, mode: str
) -> None:
    kind, how = fault
    at = house(mode, **({"write_deadline": SHORT} if kind == "commit_then_timeout" else {}))
    number = at.seed()
    at.desk.pms.fault(kind, match={"operation": TOOLS[tool]}, times=1, **how)
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.SUCCEEDED
    assert at.attempts(wish) == [("check", "absent"), ("write", "unknown"), ("check", "found")]
    assert [call["effect"] for call in at.calls(TOOLS[tool])] == [True]
    assert is_so(at, tool, number)
    assert at.letters(wish) == []
    assert at.desk.rests(wish.item)


@both
@pytest.mark.parametrize("fault", LOST_BEFORE_COMMIT, ids=named)
def test_with_a_key_what_was_lost_before_the_commit_is_written_again_in_the_same_run(
    house: Houses, fault: tuple[str, dict[str, Any]], tool: str
) -> None:
    kind, how = fault
    at = house()
    number = at.seed()
    at.desk.pms.fault(kind, match={"operation": TOOLS[tool]}, times=1, **how)
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.SUCCEEDED
    assert at.operations() == ["get", TOOLS[tool], "get", TOOLS[tool]]
    first, second = at.calls(TOOLS[tool])
    assert (first["effect"], second["effect"]) == (False, True)
    assert first["key"] == second["key"] is not None
    assert first["body"] == second["body"]
    assert is_so(at, tool, number)


@both
@pytest.mark.parametrize("fault", LOST_BEFORE_COMMIT, ids=named)
def test_without_a_key_it_is_written_again_after_quiet_time_alone(
    house: Houses, fault: tuple[str, dict[str, Any]], tool: str
) -> None:
    kind, how = fault
    at = house("lookup-only")
    number = at.seed()
    at.desk.pms.fault(kind, match={"operation": TOOLS[tool]}, times=1, **how)
    wish = wished(at, tool, number)
    waiting = at.run(wish)
    assert waiting.state is State.QUEUED
    assert waiting.last_send is not None
    quiet = seconds_until(waiting.last_send, waiting) + 30
    assert seconds_until(waiting.due_at, waiting) == pytest.approx(quiet, abs=1)
    assert len(at.calls(TOOLS[tool])) == 1
    assert at.later(wish).state is State.SUCCEEDED
    assert [call["effect"] for call in at.calls(TOOLS[tool])] == [False, True]
    assert at.attempts(wish)[-2:] == [("check", "absent"), ("write", "done")]
    assert is_so(at, tool, number)


@pytest.mark.parametrize("mode", ["keyed", "lookup-only"])
@both
def test_after_two_writes_that_did_nothing_it_is_told_as_not_done_and_looked_at_once_more(
    house: Houses, mode: str, tool: str
) -> None:
    at = house(mode)
    number = at.seed()
    at.desk.pms.fault("status", status=503, match={"operation": TOOLS[tool]})
    wish = wished(at, tool, number)
    at.run(wish)
    while at.desk.item(wish.item).state is not State.FAILED:
        at.later(wish)
    assert at.desk.item(wish.item).state is State.FAILED
    assert at.desk.code(wish.item) is ErrorCode.UNAVAILABLE
    assert len(at.calls(TOOLS[tool])) == 2
    assert not is_so(at, tool, number)
    audited = at.later(wish, 300)
    assert (audited.state, audited.due_at) == (State.FAILED, None)
    assert len(at.calls(TOOLS[tool])) == 2
    assert at.letters(wish) == []


@both
def test_where_nothing_proves_absence_it_is_unknown_and_never_written_again(house: Houses, tool: str) -> None:
    at = house("blind")
    number = at.seed()
    rule = at.desk.pms.fault("hold_before_commit", match={"operation": TOOLS[tool]}, times=1)
    at = House(at.desk.at(at.desk.engine, at.desk.pms, at.desk.redis, "blind", write_deadline=SHORT))
    wish = wished(at, tool, number)
    assert at.run(wish).state is State.QUEUED
    told = at.later(wish)
    assert (told.state, at.letters(wish)) == (State.UNKNOWN, ["unknown_outcome"])
    assert at.told(wish).error is not None
    assert len(at.calls(TOOLS[tool])) == 1
    at.desk.pms.release(rule)
    assert at.later(wish, 3600).state is State.SUCCEEDED
    assert at.letters(wish) == []
    assert len(at.calls(TOOLS[tool])) == 1


@pytest.mark.parametrize("mode", ["keyed", "lookup-only"])
@both
def test_a_commit_after_our_timeout_is_found_and_not_repeated(house: Houses, mode: str, tool: str) -> None:
    at = house(mode, write_deadline=SHORT)
    number = at.seed()
    at.desk.pms.fault("hold_before_commit", match={"operation": TOOLS[tool]}, times=1)
    wish = wished(at, tool, number)
    waiting = at.run(wish)
    assert waiting.state is State.QUEUED
    assert not is_so(at, tool, number)
    assert at.desk.pms.release() == 1
    assert at.later(wish).state is State.SUCCEEDED
    assert is_so(at, tool, number)
    assert [call["effect"] for call in at.calls(TOOLS[tool])].count(True) == 1
    assert at.letters(wish) == []
