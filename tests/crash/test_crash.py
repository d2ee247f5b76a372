"""kill -9 at every step, and a broker that forgets: exactly one booking each, and the truth is told."""

import signal

import pytest

from tests.crash.drama import DEATHS, FLUSHED, Drama
from tests.crash.house import House
from tests.dedupe.rows import row, rows
from tests.waiting import eventually

pytestmark = pytest.mark.timeout(300)
NAMES = [name for name, _, _ in DEATHS]


@pytest.mark.parametrize("name", NAMES)
def test_a_worker_killed_at_any_step_leaves_exactly_one_booking_and_the_truth(
    house: House, drama: Drama, name: str
) -> None:
    item = drama.items[name]
    assert drama.codes[name] == -signal.SIGKILL
    assert house.state(item) == "succeeded"
    assert len(house.effects(item)) == 1
    assert house.told(item) == house.effects(item)


@pytest.mark.parametrize(
    ("name", "state", "attempts", "effects"),
    [
        ("connected", "queued", [], 0),
        ("begun", "running", [("write", None)], 0),
        ("answered", "running", [("write", None)], 1),
        ("settled", "succeeded", [("write", "done")], 1),
        ("begun-careful", "running", [("write", None)], 0),
        ("answered-careful", "running", [("write", None)], 1),
    ],
)
def test_each_death_was_where_it_is_said_to_be(
    drama: Drama, name: str, state: str, attempts: list[tuple[str, str | None]], effects: int
) -> None:
    assert drama.after_death[name] == (state, attempts, effects)


@pytest.mark.parametrize("name", ["begun", "begun-careful"])
def test_case_39_crash_between_claim_and_call(house: House, drama: Drama, name: str) -> None:
    """It resumes: the mark is in doubt, so the hotel system is asked first."""
    calls = house.calls(drama.items[name])
    assert calls[0] == "find"
    assert calls.count("create_booking") == 1


@pytest.mark.parametrize("name", ["answered", "answered-careful"])
def test_case_39_crash_between_commit_and_record(house: House, drama: Drama, name: str) -> None:
    """It is verified at the hotel system, not sent again."""
    calls = house.calls(drama.items[name])
    assert calls[0] == "create_booking"
    assert set(calls[1:]) == {"find"}
    assert ("check", "found") in house.attempts(drama.items[name])


@pytest.mark.parametrize("name", ["connected", "settled"])
def test_a_death_outside_of_the_mark_costs_no_look_up(house: House, drama: Drama, name: str) -> None:
    assert house.calls(drama.items[name]) == ["create_booking"]


def test_case_28_same_key_right_after_a_kill_answers_clearly_and_progresses(house: House, drama: Drama) -> None:
    asked = drama.asked_again
    assert asked.existed
    assert asked.publish == []
    assert drama.after_death["begun"][0] == "running"
    linked = rows(house.engine, "SELECT item_id FROM links WHERE intent_id = :id", id=asked.intent_id)
    assert [one.item_id for one in linked] == [drama.items["begun"]]
    assert house.state(drama.items["begun"]) == "succeeded"


def test_case_13_flushed_broker_is_refilled(house: House, drama: Drama) -> None:
    references = {house.item(item).reference for item in drama.flushed}
    booked = [one["reference"] for one in house.pms.bookings() if one["reference"] in references]
    assert len(booked) == len(set(booked)) == FLUSHED
    assert all(house.state(item) == "succeeded" for item in drama.flushed)


def test_case_22_a_worker_frozen_beyond_its_lease_overwrites_nothing(house: House, drama: Drama) -> None:
    item = drama.frozen
    eventually(lambda: house.attempts(item)[0][1] is not None, within=30)
    assert house.attempts(item)[:2] == [("write", house.attempts(item)[0][1]), ("check", "found")]
    assert row(house.engine, item) == drama.frozen_row
    assert len(house.effects(item)) == 1
    assert house.told(item) == house.effects(item)
    assert house.calls(item).count("create_booking") == 1


def test_a_worker_told_to_stop_ends_its_call_takes_no_other_and_leaves_in_order(house: House, drama: Drama) -> None:
    assert drama.drained_code == 0
    assert house.attempts(drama.drained) == [("write", "done")]
    assert house.calls(drama.drained) == ["create_booking"]
    assert house.state(drama.left) == "succeeded"
    assert len(house.effects(drama.left)) == 1


def test_the_survivors_lived_through_all_this(drama: Drama) -> None:
    assert drama.worker.alive
    assert drama.caretaker.alive
