"""Trying again is never in its own way: what holds a room's place lets the same room pass."""

from booking.states import State
from tests.dedupe.rows import count, seen
from tests.guards.chat import Chat
from tests.identity.asking import booking_ids, done, held, item_ids, made, rooms, states
from tests.pms import Pms

CREATE = {"operation": "create_booking"}


def test_case_30_refused_twice_the_third_attempt_books_and_nothing_is_in_its_way(chat: Chat, pms: Pms) -> None:
    first = chat.call("double").json()
    [item] = item_ids(first)
    chat.away.run(item)
    chat.away.later(item, 5)
    assert chat.desk.attempts(item) == [("write", "not_sent"), ("write", "not_sent")]
    for response in (chat.call("double"), chat.call("double", key="own"), rooms(chat, {})):
        assert response.status_code == 202, "asked again while it is tried"
        assert (item_ids(response.json()), states(response.json())) == ([item], ["queued"])
    assert chat.call("suite").status_code == 202, "another room of the same guest"
    assert chat.desk.later(item, 10).state is State.SUCCEEDED
    assert chat.desk.attempts(item)[2:] == [("write", "done")]
    told = chat.look(first["id"])
    assert (told["outcome"], booking_ids(told)) == ("succeeded", held(pms))
    assert (made(pms), count(chat.api.engine, "items")) == (1, 2)


def test_case_30_two_answers_that_tell_nothing_and_the_third_attempt_books(chat: Chat, pms: Pms) -> None:
    """Both writes of the first asking end as 503; known by then not to be booked, it is asked for again."""
    pms.fault("status", match=CREATE, status=503, times=2)
    first = chat.call("double").json()
    [item] = item_ids(first)
    chat.desk.run(item)
    assert states(chat.call("double").json()) == ["queued"], "it is looked up before anything is told"
    assert chat.desk.later(item).state is State.FAILED
    again = done(chat, chat.call("double"))
    assert (again["outcome"], item_ids(again), booking_ids(again)) == ("succeeded", [item], held(pms))
    assert [call["effect"] for call in pms.ledger(operation="create_booking")] == [False, False, True]
    assert len({call["reference"] for call in pms.ledger(operation="create_booking")}) == 1
    assert seen(chat.api.engine, item).doubts == ()


def test_asked_again_with_other_values_it_goes_out_under_another_key(chat: Chat, pms: Pms) -> None:
    """The hotel system may have kept the first key, with the first request."""
    pms.fault("status", match=CREATE, status=503, times=2)
    [item] = item_ids(chat.call("double").json())
    chat.desk.run(item)
    assert chat.desk.later(item).state is State.FAILED
    assert item_ids(chat.ask("double", notes="late")) == [item]
    first, second, third = pms.ledger(operation="create_booking")
    assert first["key"] == second["key"] != third["key"]
    assert third["body"]["notes"] == "late"
    assert made(pms) == 1
