"""While a booking is in doubt, its guest gets no other for the same nights: that would be the second."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from booking.states import Kind, State
from dedupe.begin import begin
from dedupe.items import Closing, Move
from dedupe.settle import close, settle_unbegun
from tests.api.checks import refused
from tests.api.serving import stay
from tests.api.work import start
from tests.conftest import make_tenant
from tests.dedupe.rows import count, pass_time, run, seen
from tests.guards.chat import Chat
from tests.identity.asking import Answer, blocked, booking_ids, done, item_ids, made, rooms, states, stay_on, submit
from tests.pms import Pms
from tests.tasks.desk import QUIET, Desk

CREATE = {"operation": "create_booking"}
FIND = {"operation": "find"}


def in_doubt(chat: Chat, pms: Pms, worker: Desk, *, shown: bool) -> Answer:
    """A double that the hotel has booked without our hearing of it. `shown`: long enough to be told as unknown."""
    pms.fault("commit_then_timeout", match=CREATE, times=1)
    pms.fault("status", match=FIND, status=503)
    asked: Answer = chat.call("double").json()
    [item] = item_ids(asked)
    worker.run(item)
    if shown:
        worker.later(item, 61)
    told = chat.look(asked["id"])
    assert states(told) == ["unknown" if shown else "queued"]
    assert made(pms) == 1
    return told


@pytest.fixture(params=[True, False], ids=["unknown", "not yet shown"])
def doubtful(request: pytest.FixtureRequest, patient: Chat, pms: Pms, keyless: Desk) -> Answer:
    return in_doubt(patient, pms, keyless, shown=request.param)


def anna(name: str) -> dict[str, dict[str, str]]:
    return {"guest": {"name": name, "email": "anna.moser@example.com"}}


ESCAPES: list[dict[str, Any]] = [
    {"room_type": "suite"},
    {"room_type": "suite", "property": "AKL"},
    stay_on(1, 3),
    stay_on(-1, 1),
    stay_on(-3, 5),
    {"room_type": "single", **anna("ANNA MOSER")},
    {"room_type": "single", **anna("  anna \u00a0 moser ")},
    {"room_type": "single", **anna("\uff21\uff4e\uff4e\uff41 \uff2d\uff4f\uff53\uff45\uff52")},
    {"room_type": "single", **anna("Anna\u200b Moser")},
    {"room_type": "suite", "guest": {"name": "Anna Moser", "email": "other@example.com"}},
]


def test_nothing_new_is_booked_for_the_same_guest_and_overlapping_nights(patient: Chat, doubtful: Answer) -> None:
    chat = patient
    for escape in ESCAPES:
        for conversation in ("c-77", "c-78"):
            problem = blocked(submit(chat, "create_booking", stay(**escape), conversation=conversation))
            # Which one to poll is told to those whose it is.
            assert (f"(intent {doubtful['id']}: poll it)" in problem.tool_error.message) == (conversation == "c-77")
            assert (doubtful["id"] in problem.model_dump_json()) == (conversation == "c-77")
            assert "not yet known whether an earlier request" in problem.tool_error.message, escape
            assert "until it is known" in (problem.tool_error.fix or "")
            assert not problem.tool_error.retryable
    blocked(submit(chat, "create_booking", stay(), conversation="c-78"))
    blocked(submit(chat, "create_booking", stay(room_type="suite"), key="own"))
    blocked(rooms(chat, {}, {}))
    blocked(rooms(chat, {"room_type": "suite", **stay_on(10, 12)}, {"room_type": "suite"}))
    assert count(chat.api.engine, "items") == count(chat.api.engine, "intents") == 1


def test_what_is_known_or_does_not_overlap_or_is_of_somebody_else_passes(
    patient: Chat, doubtful: Answer, pms: Pms
) -> None:
    chat = patient
    for again in (chat.call("double"), chat.call("double", key="own"), rooms(chat, {})):
        assert again.status_code == 202
        assert (item_ids(again.json()), states(again.json())) == (item_ids(doubtful), states(doubtful))
    for other in (stay_on(2, 4), stay_on(-2, 0), anna("Hanna Moser"), anna("AnnaMoser")):
        assert submit(chat, "create_booking", stay(**other)).status_code == 202, other
    stranger = make_tenant(chat.api.engine, "other").agent
    run(chat.api.engine, "UPDATE tenants SET secret = (SELECT secret FROM tenants WHERE id = 'demo')")
    assert submit(chat, "create_booking", stay(room_type="suite"), by=stranger).status_code == 202
    assert rooms(chat, {}, {"room_type": "single"}, by=stranger).status_code == 202
    assert made(pms) == 1


def test_a_failed_room_that_is_known_may_run_again(patient: Chat, pms: Pms, keyless: Desk) -> None:
    chat = patient
    pms.set_rooms("BER", "suite", 0)
    failed = chat.ask("suite")
    in_doubt(chat, pms, keyless, shown=True)
    blocked(chat.call("single"))
    pms.set_rooms("BER", "suite", 1)
    again = done(chat, rooms(chat, {"room_type": "suite"}))
    assert (again["outcome"], item_ids(again)) == ("succeeded", item_ids(failed))


def test_once_it_is_known_to_be_booked_the_next_room_passes(patient: Chat, pms: Pms, keyless: Desk) -> None:
    chat = patient
    doubtful = in_doubt(chat, pms, keyless, shown=True)
    pms.clear_faults()
    [item] = item_ids(doubtful)
    assert keyless.later(item, 1000).state == "succeeded"
    assert chat.ask("suite")["outcome"] == "succeeded"
    assert made(pms) == 2
    assert booking_ids(chat.look(doubtful["id"])) == ["B-1001"]


def test_once_it_is_known_not_to_be_booked_the_next_room_passes(patient: Chat, pms: Pms, keyless: Desk) -> None:
    chat = patient
    pms.fault("reset_before_commit", match=CREATE)
    asked = chat.call("double").json()
    [item] = item_ids(asked)
    keyless.run(item)
    blocked(chat.call("suite"))
    assert keyless.later(item, 3600, expire=True).state == "failed"
    pms.clear_faults()
    assert chat.ask("suite")["outcome"] == "succeeded"
    assert made(pms) == 1


def test_rooms_may_be_asked_for_side_by_side_while_a_living_worker_writes(chat: Chat, pms: Pms) -> None:
    first = chat.call("double").json()
    pms.fault("hold_before_commit", match=CREATE, times=1)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(chat.desk.run, *item_ids(first))
        pms.wait_held()
        assert states(chat.look(first["id"])) == ["running"]
        try:
            others = [chat.call("suite"), chat.call("single", conversation="c-78"), rooms(chat, {}, {})]
        finally:
            pms.release()
        writing.result(timeout=20)
    assert [response.status_code for response in others] == [202] * 3
    assert chat.look(first["id"])["outcome"] == "succeeded"


def test_a_write_whose_worker_has_died_is_in_doubt(patient: Chat) -> None:
    """The mark is there, and nobody who could tell how it ends."""
    chat = patient
    first = chat.call("double").json()
    [item] = item_ids(first)
    start(chat.api.engine, item)
    assert chat.call("suite").status_code == 202
    pass_time(chat.api.engine, item, QUIET)
    assert first["id"] in blocked(chat.call("single")).tool_error.message


def test_what_is_shown_as_unknown_blocks_though_its_write_is_proven_absent(
    patient: Chat, pms: Pms, keyless: Desk
) -> None:
    """It waits to be written once more; the agent has been told not to book anything else."""
    chat, engine = patient, patient.api.engine
    doubtful = in_doubt(chat, pms, keyless, shown=True)
    item = seen(engine, *item_ids(doubtful))
    begun = begin(engine, item, Kind.CHECK, held=None, lease=15, send_window=3)
    assert begun is not None
    close(engine, item, begun, Closing("absent", absent=True))
    assert settle_unbegun(engine, item, begun, "write", None, Move(State.UNKNOWN, due_in=5)).moved  # held back
    assert keyless.item(item.id).doubts == ()
    blocked(chat.call("suite"))
    blocked(chat.call("suite", "single"))


def test_a_model_that_goes_on_asking_is_stopped(chat: Chat, pms: Pms, keyless: Desk) -> None:
    in_doubt(chat, pms, keyless, shown=True)
    blocked(chat.call("suite"))
    problem = refused(chat.call("suite"), 409, "STOPPED")
    assert problem.handoff == "Nothing is booked yet. The double is being confirmed. A colleague will call you."
    refused(chat.call("single"), 409, "STOPPED")
    assert count(chat.api.engine, "items") == 1
    assert made(pms) == 1
