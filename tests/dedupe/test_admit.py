"""Admit: one transaction, one intent a key, n asked = n exist."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from dedupe.admit import admit
from dedupe.engine import Engine
from dedupe.submission import Mismatch
from tests.dedupe.rows import ask, asking, at_once, count, linked, room, row, rows, run, wide
from tests.waiting import eventually

REFUSED = """UPDATE items SET state = 'failed', due_at = NULL, publish_at = NULL, error = jsonb_build_object(
    'code', CAST(:code AS text), 'message', 'm', 'retryable', true), settled_at = now() WHERE id = :id"""
WAITING = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'"""
BOOKED = """UPDATE items SET state = 'succeeded', result = '{"booking_id": "B-1"}', provider_id = 'B-1', due_at = NULL,
    publish_at = NULL, settled_at = now() WHERE id = :id"""


def fail(engine: Engine, item_id: int, code: str) -> None:
    run(engine, REFUSED, id=item_id, code=code)


def test_an_intent_is_stored_with_its_items_in_order(engine: Engine) -> None:
    admitted = ask(engine, room("double"), room("suite"), room("double"))
    ids = linked(engine, admitted.intent_id)
    assert not admitted.existed
    assert sorted(admitted.publish) == [(item_id, "bookings.pms") for item_id in sorted(ids)]
    stored = [row(engine, item_id) for item_id in ids]
    assert [one.request["room_type"] for one in stored] == ["double", "suite", "double"]
    assert [one.k for one in stored] == [0, 0, 1]
    assert all(one.state == "queued" and one.published == 1 for one in stored)
    assert len({one.key for one in stored}) == len({one.reference for one in stored}) == 3
    assert all(len(one.reference) == 20 for one in stored)


@pytest.mark.own_database
def test_admit_is_one_transaction(engine: Engine) -> None:
    """What fails at its very end leaves nothing of it."""
    ask(engine, room("single"), conversation="c-0")
    run(engine, "ALTER TABLE links ADD CONSTRAINT fail CHECK (position < 1)")
    with pytest.raises(DBAPIError, match="fail"):
        ask(engine, room(), room())
    assert (count(engine, "intents"), count(engine, "items"), count(engine, "conversations")) == (1, 1, 1)


def test_case_37_fifty_equal_requests_at_once_make_one_intent_and_fifty_equal_answers(engine: Engine) -> None:
    ask(engine, room(), conversation="c-0")
    with wide(engine, 50) as many:
        answers = at_once(50, lambda _: admit(many, asking(room("double"), room("suite"))))
    assert len({answer.intent_id for answer in answers}) == 1
    assert sorted(answer.existed for answer in answers) == [False] + [True] * 49
    assert (count(engine, "intents"), count(engine, "items")) == (2, 3)
    assert sum(len(answer.publish) for answer in answers) == 2


def test_fifty_equal_requests_under_a_header_key_make_one_intent(engine: Engine) -> None:
    ask(engine, room(), conversation="c-0")
    with wide(engine, 50) as many:
        answers = at_once(50, lambda _: admit(many, asking(room(), header="req-1")))
    assert len({answer.intent_id for answer in answers}) == 1
    assert count(engine, "items") == 2


def test_two_conversations_are_independent(engine: Engine) -> None:
    first, second = ask(engine, room(), conversation="c-1"), ask(engine, room(), conversation="c-2")
    assert first.intent_id != second.intent_id
    assert set(linked(engine, first.intent_id)).isdisjoint(linked(engine, second.intent_id))
    keys = [one.key for one in rows(engine, "SELECT key FROM items")]
    assert len(set(keys)) == 2


def test_one_conversation_does_not_wait_for_another(engine: Engine) -> None:
    ask(engine, room(), conversation="c-1")
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as other, other.begin():
        other.exec_driver_sql("SELECT 1 FROM conversations WHERE id = 'c-1' FOR UPDATE")
        assert not ask(engine, room(), conversation="c-2").existed


def test_as_many_rooms_exist_as_were_asked_for(engine: Engine) -> None:
    three = ask(engine, room(), room(), room())
    two = ask(engine, room(), room())
    one = ask(engine, room(), tool="create_booking")
    assert count(engine, "items") == 3
    ids = linked(engine, three.intent_id)
    assert set(linked(engine, two.intent_id)) < set(ids)
    assert set(linked(engine, one.intent_id)) < set(ids)
    assert two.publish == one.publish == []
    four = ask(engine, room(), room(), room(), room())
    assert len(four.publish) == 1
    assert set(ids) < set(linked(engine, four.intent_id))


def test_different_requests_of_one_conversation_at_once_make_no_room_too_many(engine: Engine) -> None:
    ask(engine, room(), conversation="c-0")
    with wide(engine, 20) as many:
        at_once(20, lambda index: admit(many, asking(*[room("suite")] * (index % 5 + 1), header=f"req-{index}")))
    made = rows(engine, "SELECT k FROM items WHERE conversation_id = 'c-1' ORDER BY k")
    assert [one.k for one in made] == [0, 1, 2, 3, 4]


def test_admits_of_one_conversation_go_one_after_the_other(engine: Engine) -> None:
    """All of them arrive while one is under way; without the queue each would open the same rooms."""
    ask(engine, room("single"))
    with wide(engine, 8) as many:
        at_once(8, lambda _: rows(many, "SELECT 1"))  # connected before the gate closes: a wait for it is bounded
        with ThreadPoolExecutor(8) as pool:
            with engine.connect().execution_options(isolation_level="READ COMMITTED") as gate, gate.begin():
                gate.execute(text("SELECT 1 FROM conversations FOR UPDATE"))
                asked = [
                    pool.submit(admit, many, asking(room("suite"), room("suite"), header=f"r-{n}")) for n in range(8)
                ]
                eventually(lambda: rows(engine, WAITING)[0][0] == 8)
            assert len({one.result(timeout=20).intent_id for one in asked}) == 8
    assert count(engine, "items") == 3


def test_the_suite_alone_binds_to_the_failed_suite_and_arms_it(engine: Engine) -> None:
    batch = ask(engine, room("double"), room("suite"))
    double, suite = linked(engine, batch.intent_id)
    run(engine, BOOKED, id=double)
    fail(engine, suite, "CONFLICT")
    run(
        engine,
        "UPDATE items SET writes = 2, failures = 3, expires_at = now() - interval '1 h' WHERE id = :id",
        id=suite,
    )
    before = row(engine, suite)
    again = ask(engine, room("suite"), tool="create_booking")
    assert linked(engine, again.intent_id) == [suite]
    assert again.publish == [(suite, "bookings.pms")]
    after = row(engine, suite)
    assert (after.state, after.error, after.writes, after.failures) == ("queued", None, 0, 0)
    assert (after.rev, after.key, after.reference) == (before.rev + 1, before.key, before.reference)
    alive = rows(engine, "SELECT expires_at > now() + interval '9 min' AS so FROM items WHERE id = :id", id=suite)
    assert alive[0].so
    assert row(engine, double).state == "succeeded"


@pytest.mark.parametrize("code", ["CONFLICT", "RATE_LIMITED", "UNAVAILABLE", "EXPIRED", "CANCELLED"])
def test_what_may_pass_is_armed_when_asked_again(engine: Engine, code: str) -> None:
    [item_id] = linked(engine, ask(engine, room()).intent_id)
    fail(engine, item_id, code)
    again = ask(engine, room())
    assert again.existed
    assert again.publish == [(item_id, "bookings.pms")]


@pytest.mark.parametrize("code", ["INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND"])
def test_what_was_refused_for_good_is_answered_from_the_record(engine: Engine, code: str) -> None:
    [item_id] = linked(engine, ask(engine, room()).intent_id)
    fail(engine, item_id, code)
    again = ask(engine, room())
    assert again.publish == []
    assert row(engine, item_id).state == "failed"


def test_other_values_are_a_mismatch_and_nothing_is_stored(engine: Engine) -> None:
    [item_id] = linked(engine, ask(engine, room()).intent_id)
    run(engine, BOOKED, id=item_id)
    before = row(engine, item_id)
    with pytest.raises(Mismatch) as caught:
        ask(engine, room(notes="late arrival"), room("suite"))
    told = {"state": "succeeded", "booking_id": "B-1", "differs": ["notes"]}
    assert (caught.value.kind, caught.value.existing) == ("item", told)
    assert (count(engine, "intents"), count(engine, "items"), count(engine, "links")) == (1, 1, 1)
    assert row(engine, item_id) == before


def test_a_failed_one_asked_again_with_other_values_takes_them_under_a_new_provider_key(engine: Engine) -> None:
    [item_id] = linked(engine, ask(engine, room()).intent_id)
    fail(engine, item_id, "CONFLICT")
    run(engine, "UPDATE items SET request_bytes = 'old', first_sent_at = now() WHERE id = :id", id=item_id)
    ask(engine, room(notes="late arrival"))
    armed = row(engine, item_id)
    assert (armed.request["notes"], armed.key_generation) == ("late arrival", 1)
    assert (armed.request_bytes, armed.first_sent_at) == (None, None)


def test_a_header_key_means_the_same_request_and_arms_nothing(engine: Engine) -> None:
    first = ask(engine, room(), header="req-1")
    [item_id] = linked(engine, first.intent_id)
    fail(engine, item_id, "CONFLICT")
    again = ask(engine, room(), header="req-1")
    assert (again.intent_id, again.existed, again.publish) == (first.intent_id, True, [])
    assert row(engine, item_id).state == "failed"


@pytest.mark.parametrize(
    "other", [{"conversation": "c-2"}, {"tool": "create_booking"}, {"rooms": ("suite",)}], ids=["talk", "tool", "room"]
)
def test_case_38_a_header_key_with_another_request_is_a_mismatch(engine: Engine, other: dict[str, str]) -> None:
    first = ask(engine, room(), header="req-1")
    how = {name: other[name] for name in other if name != "rooms"}
    with pytest.raises(Mismatch) as caught:
        ask(engine, room(*other.get("rooms", ())), header="req-1", **how)
    assert caught.value.kind == "intent"
    assert caught.value.existing["id"] == first.intent_id
    assert (count(engine, "intents"), count(engine, "items"), count(engine, "conversations")) == (1, 1, 1)


def test_a_header_key_and_a_derived_key_share_the_room_but_not_the_intent(engine: Engine) -> None:
    derived, header = ask(engine, room()), ask(engine, room(), header="req-1")
    assert derived.intent_id != header.intent_id
    assert linked(engine, derived.intent_id) == linked(engine, header.intent_id)


def test_asked_again_the_same_intent_keeps_its_places(engine: Engine) -> None:
    batch = ask(engine, room(), room(), room())
    places = linked(engine, batch.intent_id)
    run(engine, BOOKED, id=places[0])
    fail(engine, places[2], "CONFLICT")
    again = ask(engine, room(), room(), room())
    assert (again.intent_id, again.existed, again.publish) == (batch.intent_id, True, [(places[2], "bookings.pms")])
    assert linked(engine, batch.intent_id) == places
    assert count(engine, "items") == 3


def test_an_item_lives_as_long_as_its_longest_intent(engine: Engine) -> None:
    [item_id] = linked(engine, ask(engine, room(), lifetime=3600).intent_id)
    long = row(engine, item_id).expires_at
    ask(engine, room(), header="req-1", lifetime=60)
    assert row(engine, item_id).expires_at == long
    ask(engine, room(), header="req-2", lifetime=7200)
    assert row(engine, item_id).expires_at > long


def test_an_unknown_one_asked_again_stays_unknown(engine: Engine) -> None:
    [item_id] = linked(engine, ask(engine, room()).intent_id)
    run(engine, "UPDATE items SET state = 'unknown' WHERE id = :id", id=item_id)
    assert ask(engine, room()).publish == []
    assert row(engine, item_id).state == "unknown"
