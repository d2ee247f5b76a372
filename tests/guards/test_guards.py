"""A conversation whose calls keep failing is stopped, whatever the model does; a person or a new turn lets it go on."""

import json
from functools import partial
from typing import Any

import pytest

from dedupe.conversations import before_read
from dedupe.engine import Engine
from dedupe.guards import note_failed_call, note_failures, note_intents
from dedupe.submission import Stopped
from tests.api.work import refuse
from tests.dedupe.rows import at_once, count, rows, run, wide
from tests.guards.chat import Chat
from tests.pms import Pms


def sold_out(pms: Pms, *room_types: str) -> None:
    for name in room_types:
        pms.set_rooms("BER", name, 0)


def reason(chat: Chat, name: str = "c-77") -> str | None:
    stop = chat.conversation(name)["stop"]
    return stop and str(stop["reason"])


def guards(chat: Chat, **numbers: int) -> None:
    settings = json.dumps({"guards": numbers})
    run(chat.api.engine, "UPDATE tenants SET settings = CAST(:settings AS jsonb)", settings=settings)


def test_the_same_call_failing_twice_stops_and_the_third_is_refused(chat: Chat, pms: Pms) -> None:
    sold_out(pms, "suite")
    assert chat.ask("double")["outcome"] == "succeeded"
    first = chat.ask("suite")
    assert (first["error"]["code"], first["stop"], first["handoff"]) == ("CONFLICT", None, None)
    second = chat.ask("suite")
    assert second["stop"]["reason"] == "same_call"
    [booking] = pms.bookings()
    told = (
        f"1 room booked: {booking['booking_id']}. The suite could not be booked: sold out. A colleague will call you."
    )
    assert second["handoff"] == told
    calls = len(pms.ledger())
    third = chat.stopped("suite")
    assert third.handoff == told
    assert third.tool_error.message == (
        "This conversation is stopped: the same call has failed too often. No further call is taken."
    )
    assert third.tool_error.fix == f'Stop calling tools, hand off to a person, and tell the guest: "{told}"'
    assert not third.tool_error.retryable
    chat.stopped("single")  # other calls, too
    assert len(pms.ledger()) == calls
    assert chat.ask("family", conversation="c-78")["outcome"] == "succeeded"


def test_an_answer_from_the_record_counts(chat: Chat, pms: Pms) -> None:
    first = chat.ask("igloo")
    assert first["outcome"] == "failed"
    assert first["stop"] is None
    again = chat.call("igloo")
    assert again.status_code == 202
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["stop"]["reason"] == "same_call"
    chat.stopped("igloo")
    assert len(pms.ledger(operation="create_booking")) == 1


def test_other_header_keys_for_the_same_call_do_not_get_around_it(chat: Chat) -> None:
    chat.ask("igloo", key="k-1")
    assert chat.call("igloo", key="k-2").json()["stop"]["reason"] == "same_call"


def test_repeats_with_the_same_header_key_do_not_count_and_are_answered_from_a_stopped_conversation(
    chat: Chat, pms: Pms
) -> None:
    first = chat.ask("igloo", key="order-17")
    for _ in range(5):
        assert chat.call("igloo", key="order-17").json()["stop"] is None
    assert count(chat.api.engine, "failures") == 1
    chat.call("igloo")
    again = chat.call("igloo", key="order-17")
    assert (again.status_code, again.json()["id"]) == (202, first["id"])
    assert again.json()["stop"]["reason"] == "same_call"
    chat.stopped("igloo", key="order-18")


def test_three_calls_that_are_unavailable_stop(chat: Chat) -> None:
    for room_type in ("double", "suite"):
        told = chat.ask(room_type, away=True)
        assert (told["error"]["code"], told["stop"]) == ("UNAVAILABLE", None)
    third = chat.ask("single", away=True)
    assert third["stop"]["reason"] == "unavailable"
    assert third["handoff"] == (
        "Nothing is booked yet. The double, the suite and the single could not be booked: "
        "the hotel system can't be reached. A colleague will call you."
    )
    assert "the hotel system was unavailable too often" in chat.stopped().tool_error.message


def test_different_calls_that_fail_otherwise_do_not_stop(chat: Chat, pms: Pms) -> None:
    types = ("double", "suite", "single", "family")
    sold_out(pms, *types)
    for room_type in types:
        assert chat.ask(room_type)["error"]["code"] == "CONFLICT"
    assert reason(chat) is None


def test_a_batch_of_forty_rooms_is_one_call_and_fails_if_some_fail(chat: Chat, pms: Pms) -> None:
    sold_out(pms, "suite")
    rooms = ["suite"] * 39 + ["double"]
    first = chat.ask(*rooms)
    assert (first["outcome"], len(first["failed"]), first["stop"]) == ("partial", 39, None)
    assert count(chat.api.engine, "failures") == 1
    second = chat.ask(*rooms)
    assert second["stop"]["reason"] == "same_call"
    assert count(chat.api.engine, "failures") == 2
    assert second["handoff"].endswith("39 suite rooms could not be booked: sold out. A colleague will call you.")


def test_a_tenant_raises_the_numbers(chat: Chat, pms: Pms) -> None:
    guards(chat, same_call_failures=4, unavailable=5)
    sold_out(pms, "suite")
    for _ in range(3):
        assert chat.ask("suite")["stop"] is None
    assert chat.ask("suite")["stop"]["reason"] == "same_call"
    for number in range(1, 5):
        guest = {"name": f"Guest {number}", "email": "guest@example.com"}
        assert chat.ask("double", away=True, conversation="c-78", guest=guest)["stop"] is None
    assert chat.ask("double", away=True, conversation="c-78")["stop"]["reason"] == "unavailable"


def test_the_hosts_new_turn_lifts_the_stop_and_forgets(chat: Chat, pms: Pms) -> None:
    sold_out(pms, "suite")
    assert chat.put({"turn": 1}).status_code == 200
    chat.ask("suite")
    chat.ask("suite")
    assert chat.put({"turn": 1}).json()["stop"]["reason"] == "same_call", "the same turn again"
    chat.stopped("suite")
    lifted = chat.put({"turn": 2}).json()
    assert (lifted["stop"], lifted["turn"]) == (None, 2)
    assert chat.ask("suite")["stop"] is None
    assert chat.put({"turn": 1}).json()["turn"] == 2, "a late request of the host"
    assert chat.ask("suite")["stop"]["reason"] == "same_call"


def test_operations_lift_with_a_reason_which_is_kept(chat: Chat, pms: Pms) -> None:
    sold_out(pms, "suite")
    chat.ask("suite")
    chat.ask("suite")
    for scope in ("agent", "host"):
        assert chat.lift({"reason": "mine"}, scope=scope).status_code == 403
    for body in ({}, {"reason": ""}, {"reason": 1}, {"reason": "x", "more": 1}):
        assert chat.lift(body).status_code == 422
    assert chat.lift({"reason": "x"}, "c-none").status_code == 404
    assert reason(chat) == "same_call"
    lifted = chat.lift({"reason": "the guest called"})
    assert (lifted.status_code, lifted.json()["stop"]) == (200, None)
    assert chat.ask("suite")["stop"] is None
    assert chat.lift({"reason": "nothing to lift"}).status_code == 200
    kinds = [(event["kind"], event["reason"]) for event in chat.events()["events"]]
    assert kinds == [("stopped", "same_call"), ("lifted", "the guest called")]


def test_the_handoff_is_what_the_hotel_holds_and_names_what_is_in_doubt(chat: Chat, pms: Pms) -> None:
    sold_out(pms, "suite")
    chat.ask("double", "double", "single")
    chat.ask("suite")
    doubtful = chat.call("family").json()["items"][0]["id"]
    pms.fault("status", match={"operation": "create_booking"}, status=500)
    pms.fault("status", match={"operation": "find"}, status=500)
    chat.desk.run(doubtful)
    pms.clear_faults()
    chat.ask("suite")  # known not to exist: asking again is no new booking beside the doubtful one
    held = sorted(booking["booking_id"] for booking in pms.bookings())
    told = chat.stopped().handoff or ""
    assert told == (
        f"3 rooms booked: {', '.join(held)}. The family is being confirmed. "
        "The suite could not be booked: sold out. A colleague will call you."
    )
    assert chat.conversation()["handoff"] == told
    assert "Moser" not in told
    # What was accepted before goes on.
    assert chat.desk.later(doubtful).state.value == "succeeded"
    assert "4 rooms booked" in (chat.stopped().handoff or "")


def test_a_failure_is_counted_before_it_is_told_even_if_the_worker_died_before(chat: Chat) -> None:
    for _ in range(2):
        answer = chat.call("suite").json()
        refuse(chat.api.engine, answer["items"][0]["id"], "unavailable")  # settled, and then the worker was gone
        assert answer["stop"] is None
        told = chat.look(answer["id"])
    assert told["stop"]["reason"] == "same_call"


def test_a_failure_that_nobody_polled_counts_when_it_is_asked_again(chat: Chat) -> None:
    for _ in range(2):
        refuse(chat.api.engine, chat.call("suite").json()["items"][0]["id"], "unavailable")
    chat.stopped("suite")
    assert count(chat.api.engine, "failures") == 2
    assert [one.state for one in rows(chat.api.engine, "SELECT state FROM items")] == ["failed"], "not armed again"


def test_each_failure_counts_once_and_none_is_lost_however_many_count_at_once(chat: Chat, engine: Engine) -> None:
    items = [chat.call(name).json()["items"][0]["id"] for name in ("double", "suite", "single")]
    for item in items:
        refuse(engine, item, "unavailable")
    with wide(engine, 12) as many:
        at_once(12, lambda index: note_failures(many, items[index % 3]))
    assert count(engine, "failures") == 3
    assert reason(chat) == "unavailable"


def test_two_that_count_at_once_see_each_other(chat: Chat, engine: Engine) -> None:
    guards(chat, unavailable=2)
    with wide(engine, 2) as many:
        for number in range(25):
            name = f"c-{number}"
            asked = [chat.call(room_type, conversation=name).json() for room_type in ("double", "suite")]
            for intent in asked:
                refuse(engine, intent["items"][0]["id"], "unavailable")
            ids = [intent["id"] for intent in asked]
            at_once(2, partial(count_one, many, ids))
            assert reason(chat, name) == "unavailable"


def count_one(engine: Engine, ids: list[str], index: int) -> None:
    note_intents(engine, [ids[index]])


def test_a_failure_counts_though_nobody_polls(chat: Chat) -> None:
    for room_type in ("double", "suite", "single"):
        item = chat.call(room_type).json()["items"][0]["id"]
        chat.away.run(item)
        chat.away.later(item, 3600, expire=True)
    assert "unavailable" in chat.stopped().tool_error.message


def test_a_failed_read_counts_and_a_stop_refuses_reads(chat: Chat, engine: Engine) -> None:
    tenant = chat.api.tenant.id
    before_read(engine, tenant, "c-new", "pms")
    assert note_failed_call(engine, tenant, "c-new", "search:1", unavailable=True) is None
    assert note_failed_call(engine, tenant, "c-new", "search:2", unavailable=False) is None
    before_read(engine, tenant, "c-new", "pms")
    stop = note_failed_call(engine, tenant, "c-new", "search:1", unavailable=True)
    assert stop is not None
    with pytest.raises(Stopped):
        before_read(engine, tenant, "c-new", "pms")
    assert chat.stopped(conversation="c-new").handoff == "Nothing is booked yet. A colleague will call you."
    before_read(engine, "other", "c-new", "pms")


def test_what_was_cancelled_has_not_failed(chat: Chat) -> None:
    for _ in range(3):
        answer = chat.call("suite").json()
        assert chat.cancel(answer["id"]).json()["outcome"] == "failed"
    assert count(chat.api.engine, "failures") == 0


GUEST = {"name": "Anna Moser", "email": "anna.moser@example.com"}


def test_the_host_names_the_verified_guest_and_only_the_name_is_shown(chat: Chat) -> None:
    shown = chat.put({"guest": GUEST})
    assert shown.status_code == 200
    assert shown.json()["guest"] == {"name": "Anna Moser"}
    assert "example.com" not in shown.text
    assert chat.put({"turn": 3}).json()["guest"] == {"name": "Anna Moser"}, "left out, it stays"
    assert chat.conversation()["turn"] == 3
    assert chat.put({"guest": None}).json()["guest"] is None
    assert chat.put({}, "c-new").json()["owned"] == []


@pytest.mark.parametrize("scope", ["agent", "ops"])
def test_a_model_can_not_name_the_guest(chat: Chat, scope: str) -> None:
    assert chat.put({"guest": GUEST}, scope=scope).status_code == 403


WRONG: list[tuple[Any, str]] = [
    ({"guest": {"name": "Anna"}}, "guest.email"),
    ({"guest": {**GUEST, "email": "anna"}}, "guest.email"),
    ({"guest": {**GUEST, "vip": True}}, "guest.vip"),
    ({"turn": -1}, "turn"),
    ({"turn": 2**53}, "turn"),
    ({"turn": True}, "turn"),
    ({"turn": "1"}, "turn"),
    ({"turns": 1}, "turns"),
]


@pytest.mark.parametrize(("body", "field"), WRONG)
def test_a_wrong_field_is_named(chat: Chat, body: Any, field: str) -> None:
    response = chat.put(body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field
    assert chat.put({"turn": 1}, "-").status_code == 422
