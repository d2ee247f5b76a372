"""In doubt: what a look-up proves and when, and what is left to a person."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from booking.errors import ErrorCode
from booking.states import State
from dedupe.engine import Engine
from dedupe.relay import take_due
from tests.dedupe.rows import ask, linked, rows
from tests.pms import Pms
from tests.tasks.desk import SHORT, Desk, seconds_until
from tests.waiting import eventually

Desks = Callable[..., Desk]
CREATE = {"operation": "create_booking"}


def test_nothing_found_before_quiet_time_is_not_believed(desk: Desks, pms: Pms) -> None:
    at = desk("lookup-only")
    pms.fault("reset_before_commit", match=CREATE, times=1)
    item = at.ask()
    told = at.run(item)
    assert (told.state, told.writes, len(told.doubts)) == (State.QUEUED, 1, 1)
    assert at.attempts(item) == [("write", "unknown"), ("check", "absent")]
    assert told.last_send is not None
    # idle_timeout 10 s and settle_time 20 s beyond the last moment at which a byte could leave.
    assert seconds_until(told.due_at, told) == pytest.approx(seconds_until(told.last_send, told) + 30, abs=1)
    assert len(at.writes()) == 1


def test_looked_at_too_early_again_it_still_waits(desk: Desks, pms: Pms) -> None:
    at = desk("lookup-only")
    pms.fault("reset_before_commit", match=CREATE, times=1)
    item = at.ask()
    at.run(item)
    assert at.later(item, 20).state is State.QUEUED
    assert len(at.writes()) == 1


def test_case_48_a_commit_after_our_timeout_is_found_and_never_booked_a_second_time(desk: Desks, pms: Pms) -> None:
    at = desk("lookup-only", write_deadline=SHORT)
    hold = pms.fault("hold_before_commit", match=CREATE, times=1)
    item = at.ask()
    assert at.run(item).state is State.QUEUED
    assert at.attempts(item) == [("write", "unknown"), ("check", "absent")]
    pms.release(hold)
    eventually(pms.bookings)
    assert at.later(item).state is State.SUCCEEDED
    assert len(at.writes()) == 1
    assert len(pms.bookings()) == 1


def test_absence_after_quiet_time_lets_it_be_written_once_more(desk: Desks, pms: Pms) -> None:
    at = desk("lookup-only")
    pms.fault("reset_before_commit", match=CREATE, times=1)
    item = at.ask()
    at.run(item)
    told = at.later(item)
    assert (told.state, told.doubts) == (State.SUCCEEDED, ())
    first, second = at.writes()
    assert (first["key"], second["key"]) == (None, None)
    assert first["body"] == second["body"]
    assert len(pms.bookings()) == 1
    assert at.attempts(item)[:2] == [("write", "absent"), ("check", "absent")]


def test_absence_after_quiet_time_and_out_of_time_is_a_failure_that_is_looked_at_once_more(
    desk: Desks, pms: Pms
) -> None:
    at = desk("lookup-only")
    pms.fault("reset_before_commit", match=CREATE, times=1)
    item = at.ask()
    at.run(item)
    told = at.later(item, 3600, expire=True)
    assert (told.state, at.code(item), told.doubts) == (State.FAILED, ErrorCode.EXPIRED, ())
    assert len(at.writes()) == 1
    assert seconds_until(told.due_at, told) == pytest.approx(300, abs=2)
    assert at.later(item, 300).state is State.FAILED
    assert at.rests(item)


def test_a_booking_that_appears_after_it_was_told_as_failed_is_owned_up_to(
    desk: Desks, pms: Pms, engine: Engine
) -> None:
    """The hotel system took longer than it declared."""
    at = desk("lookup-only", write_deadline=SHORT)
    hold = pms.fault("hold_before_commit", match=CREATE, times=1)
    item = at.ask()
    at.run(item)
    assert at.later(item, 3600, expire=True).state is State.FAILED
    pms.release(hold)
    eventually(pms.bookings)
    told = at.later(item, 300)
    assert (told.state, told.error) == (State.SUCCEEDED, None)
    assert at.letters(item) == ["late_success"]
    assert [one.kind for one in rows(engine, "SELECT kind FROM events")] == ["late_success"]


def test_where_absence_proves_nothing_a_person_is_asked_and_nothing_written(
    desk: Desks, pms: Pms, engine: Engine
) -> None:
    at = desk("lookup-only", absence_provable=False)
    pms.fault("reset_before_commit", match=CREATE, times=1)
    item = at.ask()
    at.run(item)
    told = at.later(item)
    assert (told.state, at.letters(item), len(told.doubts)) == (State.UNKNOWN, ["unknown_outcome"], 1)
    assert ask(engine).publish == []
    assert at.later(item, 3600).state is State.UNKNOWN
    assert len(at.writes()) == 1


def test_without_a_key_a_look_up_that_tells_nothing_is_repeated_and_not_the_write(desk: Desks, pms: Pms) -> None:
    at = desk("lookup-only")
    pms.fault("reset_after_commit", match=CREATE, times=1)
    pms.fault("status", status=503, match={"operation": "find"}, times=1)
    item = at.ask()
    told = at.run(item)
    assert seconds_until(told.due_at, told) == pytest.approx(5, abs=0.5)
    assert at.later(item, 5).state is State.SUCCEEDED
    assert len(at.writes()) == 1


def test_under_a_live_key_the_write_itself_is_the_look_up_where_looking_up_told_nothing(desk: Desks, pms: Pms) -> None:
    at = desk()
    pms.fault("reset_after_commit", match=CREATE, times=1)
    pms.fault("status", status=503, match={"operation": "find"})
    item = at.ask()
    at.run(item)
    assert at.later(item, 5).state is State.SUCCEEDED
    first, second = at.writes()
    assert (first["key"], first["body"], first["effect"], second["effect"]) == (
        second["key"],
        second["body"],
        True,
        False,
    )
    assert len(pms.bookings()) == 1


def test_a_doubt_of_a_minute_is_shown_as_unknown_and_looked_up_until_it_is_solved(
    desk: Desks, pms: Pms, engine: Engine
) -> None:
    at = desk("lookup-only")
    pms.fault("reset_after_commit", match=CREATE, times=1)
    pms.fault("status", status=503, match={"operation": "find"})
    item = at.ask()
    at.run(item)
    told = at.later(item, 61)
    assert (told.state, at.letters(item)) == (State.UNKNOWN, ["unknown_outcome"])
    assert seconds_until(told.due_at, told) == pytest.approx(300, abs=2)
    assert at.later(item, 700).state is State.UNKNOWN
    pms.clear_faults()
    told = at.later(item, 1000)
    assert (told.state, at.letters(item)) == (State.SUCCEEDED, [])
    assert [one.kind for one in rows(engine, "SELECT kind FROM events")] == ["verdict"]
    assert len(at.writes()) == 1


@pytest.mark.parametrize("fault", ["reset_after_commit", "reset_before_commit"])
def test_a_blind_write_in_doubt_waits_for_a_person_and_is_never_written_again(
    desk: Desks, pms: Pms, engine: Engine, fault: str
) -> None:
    at = desk("blind")
    pms.fault(fault, match=CREATE, times=1)
    item = at.ask()
    told = at.run(item)
    assert (told.state, told.due_at, at.letters(item)) == (State.UNKNOWN, None, ["unknown_outcome"])
    assert at.rests(item)
    assert take_due(engine, ["bookings.pms"], 10) == []
    assert ask(engine).publish == []
    assert ask(engine, header="again").publish == []
    assert len(pms.ledger()) == 1


def test_a_blind_booking_that_works_needs_nobody(desk: Desks, pms: Pms) -> None:
    at = desk("blind")
    item = at.ask()
    assert at.run(item).state is State.SUCCEEDED
    assert at.rests(item)
    assert len(pms.ledger()) == 1


def test_duplicates_found_are_told_to_a_person_and_the_guest_hears_of_one(desk: Desks, pms: Pms) -> None:
    at = desk(write_deadline=SHORT)
    pms.fault("duplicate", match=CREATE, times=1)
    pms.fault("latency", ms=3_600_000, when="after", match=CREATE, times=1)
    item = at.ask()
    assert at.run(item).state is State.SUCCEEDED
    pms.release()
    assert len(pms.bookings()) == 2
    assert at.row(item).provider_id == "B-1001"
    assert at.letters(item) == ["duplicate"]


def test_what_is_found_cancelled_is_a_mismatch_for_a_person(desk: Desks, pms: Pms) -> None:
    at = desk(write_deadline=5.0)
    pms.fault("reset_after_commit", match=CREATE, times=1)
    hold = pms.fault("hold_before_commit", match={"operation": "find"}, times=1)
    item = at.ask()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(at.run, item)
        pms.wait_held()
        httpx.post(f"{pms.url}/v1/bookings/B-1001/cancel").raise_for_status()
        pms.release(hold)
        told = running.result(timeout=20)
    assert (told.state, at.letters(item)) == (State.UNKNOWN, ["mismatch"])
    assert len(at.writes()) == 1


@pytest.mark.parametrize(
    "confirmed",
    [{"check_in": "2027-03-06"}, {"room_type": "single"}, {"guest": {"name": "Bo Chen"}}, {"property": "AKL"}],
    ids=lambda change: next(iter(change)),
)
def test_a_confirmation_of_something_else_is_no_success(desk: Desks, pms: Pms, confirmed: dict[str, str]) -> None:
    """The answer lies, the look-up tells the truth."""
    at = desk()
    item = at.ask()
    lie = {"booking_id": "B-1001", "reference": at.item(item).reference, "status": "confirmed", **confirmed}
    pms.fault("status", status=201, body=lie, when="after", match=CREATE, times=1)
    assert at.run(item).state is State.SUCCEEDED
    assert at.attempts(item) == [("write", "unknown"), ("check", "found")]
    assert at.row(item).result["check_in"] == "2027-03-05"


def test_the_foreign_booking_under_our_reference_is_never_given_to_the_guest(desk: Desks, pms: Pms) -> None:
    at = desk()
    item = at.ask()
    foreign = json.loads(at.runtime.providers["pms"].booking_body(at.item(item).request, at.item(item).reference))
    foreign["guest"]["name"] = "Bo Chen"
    httpx.post(f"{pms.url}/v1/bookings", json=foreign).raise_for_status()
    pms.fault("reset_before_commit", match=CREATE, times=1)
    told = at.run(item)
    assert (told.state, at.letters(item), at.row(item).result) == (State.UNKNOWN, ["mismatch"], None)
    assert linked(at.engine, ask(at.engine).intent_id) == [item]
