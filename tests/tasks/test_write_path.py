"""One item, run against a hotel system that fails in every way: at most one booking, and the truth is told."""

from collections.abc import Callable
from typing import Any

import pytest

from booking.errors import ErrorCode
from booking.states import State
from dedupe.engine import Engine
from dedupe.pauses import list_pauses, resume
from tasks.write import run_item
from tests.dedupe.rows import ask, at_once, change, linked, room, rows
from tests.pms import Pms
from tests.tasks.desk import SHORT, Desk, seconds_until

Desks = Callable[..., Desk]


def test_a_booking_is_made_once_and_told_with_its_number(desk: Desks, pms: Pms) -> None:
    at = desk()
    item = at.ask(room("suite", notes="late arrival"))
    assert at.run(item).state is State.SUCCEEDED
    [booking] = pms.bookings()
    told = at.row(item)
    assert (told.provider_id, told.result["booking_id"], told.result["guest_name"]) == (
        booking["booking_id"],
        booking["booking_id"],
        "Ana Müller",
    )
    assert "reference" not in told.result
    assert at.attempts(item) == [("write", "done")]
    [call] = pms.ledger()
    assert (call["reference"], call["key"]) == (at.item(item).reference, at.item(item).provider_key)
    assert not run_item(at.runtime, item)
    assert at.rests(item)
    assert len(pms.ledger()) == 1


LOST_AFTER_COMMIT: list[tuple[str, dict[str, Any]]] = [
    ("commit_then_timeout", {}),
    ("reset_after_commit", {}),
    ("ok_with_error", {"when": "after"}),
    ("empty", {"status": 200}),
    ("empty", {"status": 201}),
    ("empty", {"status": 204}),
    ("html", {"status": 200, "when": "after"}),
    ("html", {"status": 502, "when": "after"}),
    ("truncated", {}),
    ("without_id", {}),
    ("status", {"status": 500, "when": "after"}),
    ("status", {"status": 503, "when": "after"}),
    ("status", {"status": 408, "when": "after"}),
    ("trickle", {"interval_ms": 200}),
    ("big", {}),
]
LOST_BEFORE_COMMIT: list[tuple[str, dict[str, Any]]] = [
    ("reset_before_commit", {}),
    ("status", {"status": 500}),
    ("status", {"status": 503}),
    ("ok_with_error", {}),
    ("html", {"status": 502}),
    ("html", {"status": 200}),
    ("empty", {"status": 200, "when": "before"}),
    ("truncated", {"when": "before"}),
]


def named(case: tuple[str, dict[str, Any]]) -> str:
    return " ".join([case[0], *(str(value) for value in case[1].values())])


@pytest.mark.parametrize("mode", ["keyed", "lookup-only"])
@pytest.mark.parametrize("fault", LOST_AFTER_COMMIT, ids=named)
def test_case_48_49_56_an_answer_lost_after_the_commit_is_found_by_reference_and_not_written_again(
    desk: Desks, pms: Pms, fault: tuple[str, dict[str, Any]], mode: str
) -> None:
    kind, how = fault
    at = desk(mode, **({"write_deadline": SHORT} if kind in ("commit_then_timeout", "trickle") else {}))
    pms.fault(kind, match={"operation": "create_booking"}, times=1, **how)
    item = at.ask()
    assert at.run(item).state is State.SUCCEEDED
    assert at.attempts(item) == [("write", "unknown"), ("check", "found")]
    assert [call["effect"] for call in at.writes()] == [True]
    assert at.row(item).provider_id == pms.bookings()[0]["booking_id"]
    assert at.letters(item) == []
    assert at.rests(item)


@pytest.mark.parametrize("fault", LOST_BEFORE_COMMIT, ids=named)
def test_case_49_56_what_was_lost_before_the_commit_is_written_again_with_the_same_key_and_bytes(
    desk: Desks, pms: Pms, engine: Engine, fault: tuple[str, dict[str, Any]]
) -> None:
    kind, how = fault
    at = desk()
    pms.fault(kind, match={"operation": "create_booking"}, times=1, **how)
    item = at.ask(room(notes="ü"))
    assert at.run(item).state is State.SUCCEEDED
    first, second = at.writes()
    assert [first["effect"], second["effect"]] == [False, True]
    assert first["key"] == second["key"] == at.item(item).provider_key
    assert first["body"] == second["body"]
    assert at.attempts(item) == [("write", "unknown"), ("check", "absent"), ("write", "done")]
    assert len(pms.bookings()) == 1


def test_two_sends_are_looked_at_once_more_after_five_minutes(desk: Desks, pms: Pms) -> None:
    at = desk()
    pms.fault("reset_before_commit", match={"operation": "create_booking"}, times=1)
    item = at.ask()
    told = at.run(item)
    assert seconds_until(told.due_at, told) == pytest.approx(300, abs=30)
    audited = at.later(item, 300)
    assert (audited.state, audited.due_at) == (State.SUCCEEDED, None)
    assert at.attempts(item)[-1] == ("check", "found")
    assert at.row(item).result == at.row(item).result | {"booking_id": "B-1001"}
    assert at.letters(item) == []


def test_an_outage_ends_as_a_failure_only_once_absence_is_proven(desk: Desks, pms: Pms) -> None:
    at = desk()
    pms.fault("status", status=503, match={"operation": "create_booking"})
    item = at.ask()
    waiting = at.run(item)
    assert waiting.state is State.QUEUED
    assert len(at.writes()) == 2
    assert waiting.last_send is not None
    assert seconds_until(waiting.due_at, waiting) == pytest.approx(
        seconds_until(waiting.last_send, waiting) + 30, abs=1
    )
    told = at.later(item)
    assert (told.state, at.code(item)) == (State.FAILED, ErrorCode.UNAVAILABLE)
    assert told.doubts == ()
    assert len(at.writes()) == 2
    assert pms.bookings() == []


def test_case_50_twenty_race_for_the_last_three_rooms_and_the_rest_is_told_and_not_retried(
    desk: Desks, pms: Pms, engine: Engine
) -> None:
    at = desk()
    pms.set_rooms("BER", "suite", 3)
    items = [at.ask(room("suite", guest=f"Guest {n}"), conversation=f"c-{n}") for n in range(20)]
    at_once(20, lambda index: run_item(at.runtime, items[index]))
    told = rows(engine, "SELECT state, error ->> 'code' AS code, due_at FROM items")
    assert sorted((one.state, one.code) for one in told) == [("failed", "CONFLICT")] * 17 + [("succeeded", None)] * 3
    assert all(one.due_at is None for one in told)
    assert len(pms.bookings()) == 3
    assert len(pms.ledger()) == 20


def test_after_a_refusal_the_same_room_asked_again_goes_out_under_a_new_key_and_the_same_reference(
    desk: Desks, pms: Pms, engine: Engine
) -> None:
    """The hotel system would replay its refusal under the old key for ever."""
    at = desk()
    pms.set_rooms("BER", "double", 0)
    item = at.ask()
    assert at.run(item).state is State.FAILED
    pms.set_rooms("BER", "double", 1)
    assert linked(engine, ask(engine, room()).intent_id) == [item]
    assert at.run(item).state is State.SUCCEEDED
    first, second = at.writes()
    assert first["key"] != second["key"]
    assert first["reference"] == second["reference"]


def test_a_refusal_that_comes_while_an_earlier_send_is_in_doubt_is_told_only_after_quiet_time(
    desk: Desks, pms: Pms
) -> None:
    at = desk()
    refusal = {"error": {"code": "sold_out", "message": "no room"}}
    pms.fault("reset_before_commit", match={"operation": "create_booking"}, times=1)
    pms.fault("status", status=409, body=refusal, match={"operation": "create_booking"})
    item = at.ask()
    waiting = at.run(item)
    assert (waiting.state, len(at.writes())) == (State.QUEUED, 2)
    assert waiting.refusal is not None
    told = at.later(item)
    assert (told.state, at.code(item), told.key_generation) == (State.FAILED, ErrorCode.CONFLICT, 1)
    assert len(at.writes()) == 2


def test_a_send_that_the_hotel_still_works_on_is_met_by_its_key_and_found_later(desk: Desks, pms: Pms) -> None:
    at = desk(write_deadline=SHORT)
    hold = pms.fault("hold_before_commit", match={"operation": "create_booking"}, times=1)
    item = at.ask()
    waiting = at.run(item)
    assert waiting.state is State.QUEUED
    assert [call["status"] for call in at.writes()] == [None, 409]  # key_in_progress
    pms.release(hold)
    assert at.later(item).state is State.SUCCEEDED
    assert len(pms.bookings()) == 1


def test_a_hotel_that_is_away_costs_no_write(desk: Desks, pms: Pms) -> None:
    at = desk(url="http://127.0.0.1:1")
    item = at.ask()
    told = at.run(item)
    assert (told.state, told.writes, told.failures, told.doubts) == (State.QUEUED, 0, 1, ())
    assert at.attempts(item) == [("write", "not_sent")]
    assert 0 < seconds_until(told.due_at, told) <= 2.1
    assert at.row(item).slow
    for _ in range(3):
        told = at.later(item)
    assert (told.state, told.writes, told.failures) == (State.QUEUED, 0, 4)
    back = desk()
    assert back.later(item).state is State.SUCCEEDED
    assert len(pms.bookings()) == 1


def test_a_hotel_that_stays_away_ends_as_a_failure_and_a_letter(desk: Desks, engine: Engine) -> None:
    at = desk(url="http://127.0.0.1:1")
    item = at.ask()
    at.run(item)
    told = at.later(item, 3600, expire=True)
    assert (told.state, at.code(item)) == (State.FAILED, ErrorCode.UNAVAILABLE)
    assert at.letters(item) == ["exhausted"]
    assert at.rests(item)
    assert ask(engine).publish == [(item, "bookings.pms")]


def test_a_hotel_that_takes_no_more_requests_is_obeyed_and_costs_no_write(desk: Desks, pms: Pms) -> None:
    at = desk()
    pms.fault("rate_limited", retry_after="70", match={"operation": "create_booking"}, times=1)
    item = at.ask()
    told = at.run(item)
    assert (told.state, told.writes, at.code(item)) == (State.QUEUED, 0, ErrorCode.RATE_LIMITED)
    assert seconds_until(told.due_at, told) > 55
    assert at.later(item, 70).state is State.SUCCEEDED
    assert len(pms.bookings()) == 1


@pytest.mark.parametrize("status", [302, 303, 307])
def test_a_redirected_write_may_have_happened_and_is_looked_up(desk: Desks, pms: Pms, status: int) -> None:
    at = desk()
    fault = {"location": f"{pms.url}/v1/bookings", "status": status, "when": "after"}
    pms.fault("redirect", match={"operation": "create_booking"}, times=1, **fault)
    item = at.ask()
    assert at.run(item).state is State.SUCCEEDED
    assert at.attempts(item) == [("write", "unknown"), ("check", "found")]
    assert len(pms.bookings()) == 1


def test_our_own_wrong_credentials_wait_for_a_person_and_are_not_told_as_a_refusal(desk: Desks, pms: Pms) -> None:
    at = desk()
    pms.fault("status", status=401, match={"operation": "create_booking"}, times=1)
    item = at.ask()
    told = at.run(item)
    assert (told.state, told.writes, at.letters(item)) == (State.QUEUED, 0, ["misconfigured"])
    assert at.code(item) is not ErrorCode.PERMISSION_DENIED
    assert [pause.provider for pause in list_pauses(at.engine)] == ["pms"]
    another = at.ask(room("single"))
    assert at.run(another).state is State.QUEUED
    assert at.attempts(another) == []
    assert resume(at.engine, "pms") == 2
    assert at.later(item, 30).state is State.SUCCEEDED
    assert at.letters(item) == []
    assert len(pms.bookings()) == 1


def test_nothing_is_sent_when_the_time_to_send_is_over(desk: Desks, pms: Pms) -> None:
    at = desk(send_window=0.0)
    item = at.ask()
    told = at.run(item)
    assert (told.state, told.writes, at.attempts(item)) == (State.QUEUED, 0, [("write", "not_sent")])
    assert pms.ledger() == []


def test_what_nobody_wants_any_more_is_not_written(desk: Desks, pms: Pms, engine: Engine) -> None:
    at = desk()
    expired, stopped = at.ask(conversation="c-1"), at.ask(conversation="c-2")
    change(engine, stopped, "stop_writes = true")
    assert at.later(expired, 3600, expire=True).state is State.FAILED
    assert (at.code(expired), at.letters(expired)) == (ErrorCode.EXPIRED, ["expired"])
    assert at.run(stopped).state is State.CANCELLED
    assert pms.ledger() == []


def test_an_item_of_another_release_waits_for_a_worker_that_knows_it(desk: Desks, pms: Pms, engine: Engine) -> None:
    at = desk()
    item = at.ask()
    for moved in ("effect = 'teleport'", "effect = 'booking', provider = 'moon'"):
        change(engine, item, moved)
        before = at.row(item)
        assert not run_item(at.runtime, item)
        assert at.row(item) == before
    assert pms.ledger() == []
