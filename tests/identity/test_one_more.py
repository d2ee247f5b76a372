"""`additional`: one room more than there are, if there are any, and each such call once."""

from typing import Any

import pytest

from tests.api.serving import stay
from tests.api.work import lose
from tests.dedupe.rows import rows, seen
from tests.guards.chat import Chat
from tests.identity.asking import alive, blocked, booking_ids, cancelled, done, item_ids, made, more, rooms, submit
from tests.pms import Pms

ONE_MORE = {"additional": True}


def test_one_more_beside_what_is_booked_is_booked_once_however_often_the_call_is_repeated(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    second = done(chat, more(chat))
    assert item_ids(second) != item_ids(first)
    for _ in range(2):
        again = more(chat)
        assert again.headers["idempotent-replayed"] == "true"
        assert (again.json()["id"], item_ids(again.json())) == (second["id"], item_ids(second))
    assert made(pms) == 2
    assert booking_ids(chat.ask("double")) == booking_ids(first)
    assert made(pms) == 2


def test_with_a_key_of_its_own_it_is_again_one_more(chat: Chat, pms: Pms) -> None:
    chat.ask("double")
    asked = [done(chat, more(chat, key=key)) for key in (None, "third", "fourth")]
    assert made(pms) == 4
    again = done(chat, more(chat, key="third"))
    assert (again["id"], item_ids(again)) == (asked[1]["id"], item_ids(asked[1]))
    assert made(pms) == 4


def test_in_a_batch_it_is_one_more_too(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    batch: list[dict[str, Any]] = [{}, ONE_MORE, {"room_type": "suite"}]
    second = done(chat, rooms(chat, *batch))
    assert item_ids(second)[0] == item_ids(first)[0]
    assert alive(pms) == {"double": 2, "suite": 1}
    assert item_ids(done(chat, rooms(chat, *batch))) == item_ids(second)
    two_more = done(chat, rooms(chat, ONE_MORE, ONE_MORE))
    assert len(set(item_ids(two_more) + item_ids(second))) == 5
    assert alive(pms) == {"double": 4, "suite": 1}


def test_while_the_one_before_is_pending_it_is_refused_and_names_what_to_wait_for(patient: Chat, pms: Pms) -> None:
    chat = patient
    first = chat.call("double").json()
    problem = blocked(more(chat))
    assert (first["id"] in problem.tool_error.message, problem.tool_error.retryable) == (True, False)
    assert "queued" in problem.tool_error.message
    chat.work(first)
    second = more(chat).json()
    problem = blocked(more(chat, key="third"))
    assert second["id"] in problem.tool_error.message
    assert more(chat).json()["id"] == second["id"], "the same call is answered"
    chat.work(second)
    done(chat, more(chat, key="third"))
    assert made(pms) == 3


def test_while_the_one_before_is_unknown_it_is_refused(chat: Chat) -> None:
    first = chat.call("double").json()
    lose(chat.api.engine, item_ids(first)[0])
    problem = blocked(more(chat))
    assert first["id"] in problem.tool_error.message
    assert "unknown" in problem.tool_error.message
    assert len(rows(chat.api.engine, "SELECT FROM items")) == 1


def test_without_one_before_there_is_nothing_it_could_be_in_addition_to(patient: Chat, pms: Pms) -> None:
    chat = patient
    for response in (more(chat), rooms(chat, {}, ONE_MORE), rooms(chat, ONE_MORE, {}), rooms(chat, ONE_MORE)):
        problem = blocked(response, "INVALID_ARGUMENT", 422)
        assert problem.tool_error.fix == "Ask without additional."
    pms.set_rooms("BER", "double", 0)
    assert chat.ask("double")["outcome"] == "failed"
    pms.set_rooms("BER", "double", 5)
    blocked(more(chat), "INVALID_ARGUMENT", 422)
    blocked(rooms(chat, {}, ONE_MORE), "INVALID_ARGUMENT", 422)
    chat.ask("suite")
    blocked(more(chat), "INVALID_ARGUMENT", 422)
    booked = chat.ask("double")
    cancelled(chat, str(booking_ids(booked)[0]))
    blocked(more(chat), "INVALID_ARGUMENT", 422)
    assert alive(pms) == {"suite": 1}


def test_it_is_no_value_of_the_room(chat: Chat, pms: Pms) -> None:
    """Two rooms, of which one was asked for as one more, are the two rooms of a group."""
    first, second = chat.ask("double"), done(chat, more(chat))
    both = chat.ask("double", "double")
    assert item_ids(both) == item_ids(first) + item_ids(second)
    [one, other] = (seen(chat.api.engine, item) for item in item_ids(both))
    assert one.request == other.request
    assert "additional" not in one.request
    assert made(pms) == 2
    assert all("additional" not in call["body"] for call in pms.ledger(operation="create_booking"))


@pytest.mark.parametrize("key", [None, "again"])
def test_one_more_that_was_sold_out_is_the_one_that_is_asked_for_again(patient: Chat, pms: Pms, key: str) -> None:
    chat = patient
    chat.ask("double")
    pms.set_rooms("BER", "double", 0)
    failed = done(chat, more(chat))
    assert failed["outcome"] == "failed"
    pms.set_rooms("BER", "double", 5)
    again = done(chat, more(chat, key=key))
    assert (again["outcome"], item_ids(again)) == ("succeeded", item_ids(failed))
    # Asked for in other words, the two that exist are meant: no third one waits to be tried again.
    chat.ask("double", "double")
    done(chat, rooms(chat, {}))
    done(chat, submit(chat, "create_booking", stay()))
    assert made(pms) == 2


def test_a_sold_out_one_takes_the_place_of_one_more_in_the_same_batch(patient: Chat, pms: Pms) -> None:
    chat = patient
    pms.set_rooms("BER", "double", 1)
    assert chat.ask("double", "double")["outcome"] == "partial"
    pms.set_rooms("BER", "double", 5)
    both = done(chat, rooms(chat, {}, ONE_MORE))
    assert both["outcome"] == "succeeded"
    assert made(pms) == 2
