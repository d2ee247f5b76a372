"""Settle: the attempt is closed by whoever saw it; the item is moved by its holder, or by a proof."""

import json

import pytest

from booking.states import DeadLetter, State
from dedupe.engine import Engine
from dedupe.items import Closing, Move
from dedupe.settle import close, settle_unbegun
from tests.booking.build import error_of
from tests.dedupe.calls import booked, doubted, end, end_unknown, failed, later, start_check, start_write, written
from tests.dedupe.rows import ask, at_once, attempts, letters, linked, one_item, pass_time, row, rows, seen, wide


def test_a_success_is_recorded_with_its_proof_and_wakes_all_who_ask(engine: Engine) -> None:
    item = one_item(engine)
    also = ask(engine, tool="create_booking").intent_id
    settled = end(engine, item, written(engine, item), "done", booked("B-7"))
    after = row(engine, item.id)
    assert (after.state, after.provider_id, after.result) == ("succeeded", "B-7", {"booking_id": "B-7"})
    assert (after.token, after.lease_until, after.due_at, after.publish_at) == (None, None, None, None)
    assert after.settled_at is not None
    assert attempts(engine, item.id) == [("write", "done")]
    assert settled.moved
    assert len(settled.wake) == 2
    assert also in settled.wake
    assert letters(engine, item.id) == []


def test_case_22_a_late_failure_does_not_overwrite_what_another_worker_found(engine: Engine) -> None:
    item = one_item(engine)
    zombie = written(engine, item)
    pass_time(engine, item.id, 3600)
    found = start_check(engine, seen(engine, item.id))
    end(engine, seen(engine, item.id), found, "found", booked("B-1"))
    before = row(engine, item.id)
    assert not end(engine, item, zombie, "rejected", failed("denied")).moved
    assert row(engine, item.id) == before
    assert attempts(engine, item.id) == [("write", "rejected"), ("check", "found")]


def test_a_late_failure_does_not_move_what_another_worker_still_runs(engine: Engine) -> None:
    item = one_item(engine)
    zombie = written(engine, item)
    pass_time(engine, item.id, 3600)
    start_check(engine, seen(engine, item.id))
    before = row(engine, item.id)
    assert not end(engine, item, zombie, "unknown", doubted()).moved
    assert row(engine, item.id) == before
    assert letters(engine, item.id) == []


@pytest.mark.parametrize("told", ["failed", "cancelled"])
def test_a_proof_wins_over_what_was_told_and_both_host_and_person_hear_of_it(engine: Engine, told: str) -> None:
    item = one_item(engine)
    zombie = written(engine, item)
    pass_time(engine, item.id, 3600)
    check = start_check(engine, seen(engine, item.id))
    move = Move(State(told), error=error_of("unavailable"))
    assert end(engine, seen(engine, item.id), check, "absent", move, absent=True).moved
    late = end(engine, item, zombie, "done", booked("B-1"))
    after = row(engine, item.id)
    assert late.moved
    assert (after.state, after.provider_id, after.error) == ("succeeded", "B-1", None)
    assert letters(engine, item.id) == ["late_success"]
    [event] = rows(engine, "SELECT kind, detail FROM events")
    assert (event.kind, event.detail) == ("late_success", {"from": told, "to": "succeeded"})


def test_a_proof_from_a_run_that_lost_its_claim_settles_at_once(engine: Engine) -> None:
    item = one_item(engine)
    zombie = written(engine, item)
    pass_time(engine, item.id, 3600)
    check = start_check(engine, seen(engine, item.id))
    assert end(engine, item, zombie, "done", booked("B-1")).moved
    assert not end(engine, item, check, "unknown", doubted()).moved
    assert seen(engine, item.id).state is State.SUCCEEDED
    assert letters(engine, item.id) == []


def test_a_second_success_with_another_id_is_kept_as_a_dead_letter_and_the_first_stays(engine: Engine) -> None:
    item = one_item(engine)
    zombie = written(engine, item)
    pass_time(engine, item.id, 3600)
    check = start_check(engine, seen(engine, item.id))
    end(engine, item, check, "found", booked("B-1"))
    end(engine, item, zombie, "done", booked("B-2"))
    after = row(engine, item.id)
    assert (after.provider_id, after.result) == ("B-1", {"booking_id": "B-1"})
    [letter] = rows(engine, "SELECT reason, detail FROM dead_letters")
    assert letter.reason == "duplicate"
    assert "B-1" in letter.detail
    assert "B-2" in letter.detail


def test_the_same_success_twice_is_no_duplicate(engine: Engine) -> None:
    item = one_item(engine)
    zombie = written(engine, item)
    pass_time(engine, item.id, 3600)
    check = start_check(engine, seen(engine, item.id))
    end(engine, item, check, "found", booked("B-1"))
    before = row(engine, item.id)
    assert not end(engine, item, zombie, "done", booked("B-1")).moved
    assert row(engine, item.id) == before
    assert letters(engine, item.id) == []


def test_of_two_contradicting_successes_at_once_one_wins_and_the_other_is_a_letter(engine: Engine) -> None:
    item = one_item(engine)
    first = written(engine, item)
    second = start_write(engine, item, first)
    with wide(engine, 2) as pair:
        ended = at_once(2, lambda index: end(pair, item, (first, second)[index], "done", booked(f"B-{index}")))
    assert sorted(one.moved for one in ended) == [False, True]
    assert letters(engine, item.id) == ["duplicate"]
    assert row(engine, item.id).provider_id == f"B-{[one.moved for one in ended].index(True)}"


def test_an_audit_of_a_success_that_finds_nothing_changes_nothing(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "done", Move(State.SUCCEEDED, due_in=0, proof=booked().proof))
    before = row(engine, item.id)
    audit = start_check(engine, seen(engine, item.id))
    end(engine, seen(engine, item.id), audit, "absent", Move(State.SUCCEEDED))
    after = row(engine, item.id)
    kept = ("state", "result", "provider_id", "error", "settled_at")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
    assert after.due_at is None


def test_an_audit_does_not_undo_that_the_agent_asked_again_meanwhile(engine: Engine) -> None:
    item = end_unknown(engine, one_item(engine))
    end(engine, item, start_check(engine, item), "absent", failed(due_in=0), absent=True)
    told = seen(engine, item.id)
    audit = start_check(engine, told)
    assert ask(engine).publish == [(item.id, "bookings.pms")]
    end(engine, told, audit, "absent", Move(State.FAILED, error=told.error))
    armed = seen(engine, item.id)
    assert armed.state is State.QUEUED
    assert armed.due_at is not None
    assert start_write(engine, armed) is not None


def test_a_superseded_success_keeps_its_result_and_state(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "done", Move(State.SUCCEEDED, due_in=0, proof=booked("B-1").proof))
    with engine.connect() as connection:
        connection.exec_driver_sql("UPDATE items SET state = 'superseded'")
    audit = start_check(engine, seen(engine, item.id))
    end(engine, seen(engine, item.id), audit, "absent", Move(State.SUPERSEDED))
    after = row(engine, item.id)
    assert (after.state, after.provider_id, after.result) == ("superseded", "B-1", {"booking_id": "B-1"})
    assert after.settled_at is not None


def test_a_second_success_of_a_superseded_one_waits_for_a_person(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    end(engine, item, start_write(engine, item, begun), "done", booked("B-1"))
    with engine.connect() as connection:
        connection.exec_driver_sql("UPDATE items SET state = 'superseded'")
    end(engine, item, begun, "done", booked("B-2"))
    assert letters(engine, item.id) == ["duplicate"]
    assert (row(engine, item.id).state, row(engine, item.id).provider_id) == ("superseded", "B-1")


def test_absence_closes_open_and_unknown_writes_and_nothing_else(engine: Engine) -> None:
    item = one_item(engine)
    first = written(engine, item)
    close(engine, item, first, Closing("unknown"))
    second = start_write(engine, item, first)
    check = start_check(engine, item, second)
    end(engine, item, check, "absent", failed(), absent=True)
    assert attempts(engine, item.id) == [("write", "absent"), ("write", "absent"), ("check", "absent")]
    assert seen(engine, item.id).doubts == ()


def test_a_refused_write_is_not_rewritten_by_absence(engine: Engine) -> None:
    item = one_item(engine)
    first = written(engine, item)
    close(engine, item, first, Closing("rejected", "HTTP 409"))
    check = start_check(engine, item, first)
    end(engine, item, check, "absent", failed(), absent=True)
    assert attempts(engine, item.id) == [("write", "rejected"), ("check", "absent")]


def test_a_closed_attempt_is_not_closed_again(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    end(engine, item, begun, "done", booked())
    end(engine, item, begun, "unknown", later())
    assert attempts(engine, item.id) == [("write", "done")]


def test_a_write_that_was_not_sent_is_not_counted(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "not_sent", later(uncount=True, told_nothing=True))
    after = seen(engine, item.id)
    assert (after.writes, after.failures, after.state) == (0, 1, State.QUEUED)
    assert after.doubted_at is None
    assert 59 < (after.due_at - after.now).total_seconds() <= 60 if after.due_at else False


def test_a_refusal_opens_a_new_generation_and_forgets_the_bytes(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "rejected", failed("denied", raise_generation=True))
    after = seen(engine, item.id)
    assert (after.key_generation, after.request_bytes, after.first_sent_at) == (1, None, None)
    assert after.reference == item.reference
    assert after.provider_key != item.provider_key


def test_a_verdict_closes_the_letter_that_waited_for_it_and_is_told(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "unknown", doubted(due_in=0))
    assert letters(engine, item.id) == ["unknown_outcome"]
    parked = seen(engine, item.id)
    end(engine, parked, start_check(engine, parked), "found", booked())
    assert letters(engine, item.id) == []
    [event] = rows(engine, "SELECT kind, detail FROM events")
    assert (event.kind, event.detail) == ("verdict", {"from": "unknown", "to": "succeeded"})


def test_the_same_trouble_waits_for_a_person_once(engine: Engine) -> None:
    item = one_item(engine)
    end(engine, item, written(engine, item), "unknown", doubted(due_in=0))
    for _ in range(3):
        again = seen(engine, item.id)
        end(engine, again, start_check(engine, again), "unknown", doubted(due_in=0))
    assert letters(engine, item.id) == ["unknown_outcome"]
    assert rows(engine, "SELECT kind FROM events") == []


def test_doubt_is_dated_from_its_beginning(engine: Engine) -> None:
    item = end_unknown(engine, one_item(engine))
    since = item.doubted_at
    end(engine, item, start_check(engine, item), "unknown", later(0, in_doubt=True, told_nothing=True))
    assert seen(engine, item.id).doubted_at == since


def test_what_failed_before_its_mark_leaves_a_closed_attempt(engine: Engine) -> None:
    item = one_item(engine)
    moved = settle_unbegun(
        engine, item, None, "write", Closing("not_sent", "refused"), later(told_nothing=True, slow=True)
    )
    after = row(engine, item.id)
    assert moved.moved
    assert attempts(engine, item.id) == [("write", "not_sent")]
    assert (after.attempts, after.writes, after.failures, after.slow) == (1, 0, 1, True)


def test_what_failed_before_its_mark_moves_nothing_that_somebody_else_holds_or_moved(engine: Engine) -> None:
    item = one_item(engine)
    begun = written(engine, item)
    before = row(engine, item.id)
    assert not settle_unbegun(engine, item, None, "write", Closing("not_sent"), later()).moved
    assert not settle_unbegun(engine, seen(engine, item.id), None, "write", None, failed()).moved
    assert row(engine, item.id) == before
    assert settle_unbegun(engine, item, begun, "check", Closing("not_sent"), later(in_doubt=True)).moved
    assert attempts(engine, item.id) == [("write", None), ("check", "not_sent")]


def test_an_item_given_up_without_a_call_gets_its_letter(engine: Engine) -> None:
    item = one_item(engine)
    move = failed("expired", letters=((DeadLetter.EXPIRED, "too late"),))
    assert settle_unbegun(engine, item, None, "write", None, move).wake == tuple(
        one.id for one in rows(engine, "SELECT id FROM intents")
    )
    assert letters(engine, item.id) == ["expired"]
    assert attempts(engine, item.id) == []
    assert json.dumps(row(engine, item.id).error).count("EXPIRED") == 1
    assert linked(engine, rows(engine, "SELECT id FROM intents")[0].id) == [item.id]
