"""What was undone may be asked for again: it is booked again, once, and nothing brings back what was before."""

import pytest

from booking.states import State
from tasks.write import run_item
from tests.api.serving import stay
from tests.dedupe.rows import rows, seen
from tests.guards.chat import Chat
from tests.identity.asking import (
    Answer,
    alive,
    booking_ids,
    cancelled,
    done,
    ended,
    held,
    item_ids,
    made,
    rooms,
    states,
    stay_on,
    submit,
)
from tests.pms import Pms

CREATE = {"operation": "create_booking"}


def owned(chat: Chat) -> list[str]:
    return [one["booking_id"] for one in chat.conversation()["owned"]]


def key_of(answer: Answer) -> str:
    key: str = answer["items"][0]["key"]
    return key


def test_cancelled_and_asked_for_again_it_is_booked_again_each_time(chat: Chat, pms: Pms) -> None:
    answers = [chat.ask("double")]
    for _ in range(2):
        cancelled(chat, str(booking_ids(answers[-1])[0]))
        assert (owned(chat), held(pms)) == ([], [])
        answers.append(chat.ask("double"))
        assert [answers[-1]["outcome"], owned(chat)] == ["succeeded", held(pms)]
        assert chat.ask("double")["items"] == answers[-1]["items"]
    assert made(pms) == 3
    assert [key_of(answer).rpartition(":")[2] for answer in answers] == ["0", "1", "2"]
    assert len({key_of(answer).rpartition(":")[0] for answer in answers}) == 1
    assert len({call["reference"] for call in pms.effects(operation="create_booking")}) == 3
    assert len({call["key"] for call in pms.effects(operation="create_booking")}) == 3
    kept = [seen(chat.api.engine, *item_ids(answer)).state for answer in answers]
    assert kept == [State.SUPERSEDED, State.SUPERSEDED, State.SUCCEEDED]
    assert {answer["id"] for answer in answers} == {answers[0]["id"]}


def test_in_other_words_it_is_booked_again_and_the_first_intent_still_says_that_it_succeeded(
    chat: Chat, pms: Pms
) -> None:
    first = chat.ask("double")
    cancelled(chat, str(booking_ids(first)[0]))
    again = done(chat, rooms(chat, {}))
    assert (again["outcome"], booking_ids(again)) == ("succeeded", held(pms))
    told = chat.look(first["id"])
    assert (told["state"], told["outcome"], told["error"]) == ("done", "succeeded", None)
    assert (states(told), told["succeeded"], booking_ids(told)) == (["superseded"], [], [None])
    assert owned(chat) == held(pms)
    assert made(pms) == 2


@pytest.mark.parametrize(("which", "key"), [(0, None), (1, "again")])
def test_of_two_identical_rooms_the_cancelled_one_is_booked_again(
    chat: Chat, pms: Pms, which: int, key: str | None
) -> None:
    first = chat.ask("double", "double")
    cancelled(chat, str(booking_ids(first)[which]))
    assert done(chat, rooms(chat, {}))["items"][0]["id"] == item_ids(first)[1 - which], "one is asked for, one is there"
    again = chat.ask("double", "double", key=key)
    assert again["outcome"] == "succeeded"
    assert set(item_ids(again)) & set(item_ids(first)) == {item_ids(first)[1 - which]}
    assert sorted(map(str, booking_ids(again))) == held(pms) == sorted(owned(chat))
    assert (made(pms), alive(pms)["double"]) == (3, 2)
    # And the next one, whichever that is.
    cancelled(chat, held(pms)[0])
    chat.ask("double", "double")
    done(chat, rooms(chat, {}, {}))
    assert (made(pms), alive(pms)["double"]) == (4, 2)
    known = [one.key for one in rows(chat.api.engine, "SELECT key FROM items WHERE effect = 'booking'")]
    assert len(known) == len(set(known)) == 4


def test_its_audit_or_a_late_message_brings_nothing_back(chat: Chat, pms: Pms) -> None:
    pms.fault("reset_before_commit", match=CREATE, times=1)
    first = chat.ask("double")
    [item] = item_ids(first)
    assert seen(chat.api.engine, item).due_at is not None, "two sends: it is looked at once more"
    cancelled(chat, str(booking_ids(first)[0]))
    again = chat.ask("double")
    run_item(chat.desk.runtime, item)
    assert chat.desk.later(item, 300).state is State.SUPERSEDED
    assert chat.desk.rests(item)
    assert chat.desk.letters(item) == []
    assert chat.look(again["id"])["items"] == again["items"]
    assert owned(chat) == held(pms) == booking_ids(again)
    assert made(pms) == 2


def test_a_second_booking_that_turns_up_late_is_told_to_a_person_and_not_owned(chat: Chat, pms: Pms) -> None:
    pms.fault("reset_before_commit", match=CREATE, times=1)
    [item] = item_ids(chat.ask("double"))
    reference = seen(chat.api.engine, item).reference
    cancelled(chat, held(pms)[0])
    guest = {"name": "Anna Moser", "email": "anna.moser@example.com"}
    late = pms.seed("BER", "double", **stay_on(0, 2), guests=[guest], reference=reference)
    again = chat.ask("double")
    assert chat.desk.later(item, 300).state is State.SUPERSEDED
    assert chat.desk.letters(item) == ["duplicate"]
    assert owned(chat) == booking_ids(again) != late


def test_while_nobody_knows_whether_it_is_cancelled_it_is_still_the_one_that_is_booked(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    pms.fault("reset_after_commit", match={"operation": "cancel"})
    pms.fault("status", status=503, match={"operation": "get"}, skip=1)
    asked = cancelling(chat, str(booking_ids(first)[0]))
    chat.desk.run(*item_ids(asked))
    assert states(chat.look(asked["id"])) == ["queued"]
    assert chat.ask("double")["items"] == first["items"]
    pms.clear_faults()
    assert chat.desk.later(*item_ids(asked)).state is State.SUCCEEDED
    assert chat.ask("double")["outcome"] == "succeeded"
    assert (made(pms), alive(pms)["double"]) == (2, 1)


def cancelling(chat: Chat, booking_id: str) -> Answer:
    arguments = {"reservation_id": booking_id, "email": "anna.moser@example.com"}
    answer: Answer = submit(chat, "cancel_reservation", arguments).json()
    return answer


def test_cancelled_at_the_desk_and_then_by_the_agent_it_may_be_booked_again(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    [number] = held(pms)
    pms.desk(number, status="cancelled")
    assert chat.ask("double")["items"] == first["items"], "nobody has told us"
    cancelled(chat, number)
    assert len(pms.ledger(operation="cancel")) == 0
    assert booking_ids(chat.ask("double")) == held(pms) != [number]
    assert made(pms) == 2


def test_in_another_conversation_it_may_be_cancelled_too(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    arguments = {"reservation_id": booking_ids(first)[0], "email": "anna.moser@example.com"}
    done(chat, submit(chat, "cancel_reservation", arguments, conversation="c-78"))
    assert owned(chat) == []
    assert chat.ask("double")["outcome"] == "succeeded"
    assert made(pms) == 2


def test_moved_to_other_dates_it_is_met_under_these_and_not_booked_again(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    [number] = held(pms)
    assert ended(chat, "change_reservation_dates", number, **stay_on(5, 8))["outcome"] == "succeeded"
    told = chat.look(first["id"])
    assert (told["outcome"], told["items"][0]["result"]) == ("succeeded", told["items"][0]["result"] | stay_on(5, 8))
    for again in (
        done(chat, submit(chat, "create_booking", stay(**stay_on(5, 8)))),
        done(chat, submit(chat, "create_booking", stay(**stay_on(5, 8)), key="own")),
        done(chat, rooms(chat, stay_on(5, 8))),
    ):
        assert (states(again), item_ids(again), booking_ids(again)) == (["succeeded"], item_ids(first), [number])
    assert made(pms) == 1
    [one] = chat.conversation()["owned"]
    assert one["result"] | stay_on(5, 8) == one["result"]
    both = done(chat, rooms(chat, stay_on(5, 8), stay_on(5, 8)))
    assert (item_ids(both)[0], both["outcome"], made(pms)) == (item_ids(first)[0], "succeeded", 2)


def test_the_dates_that_it_was_moved_away_from_may_be_booked_again_once(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    [number] = held(pms)
    ended(chat, "change_reservation_dates", number, **stay_on(5, 8))
    again = chat.ask("double")
    assert item_ids(again) != item_ids(first)
    assert [key_of(first), key_of(again)] == [key_of(first), f"{key_of(first)[:-2]}:1"]
    assert done(chat, rooms(chat, {}))["items"] == again["items"]
    assert (made(pms), sorted(owned(chat))) == (2, held(pms))
    # Moved back, it stands beside the other; two are there, and a third is asked for.
    ended(chat, "change_reservation_dates", number, **stay_on(0, 2))
    two = done(chat, rooms(chat, {}, {}))
    assert (sorted(item_ids(two)), made(pms)) == (sorted(item_ids(first) + item_ids(again)), 2)
    assert chat.ask("double", "double", "double")["outcome"] == "succeeded"
    assert made(pms) == 3
    cancelled(chat, number)
    assert chat.ask("double", "double", "double")["outcome"] == "succeeded"
    assert (made(pms), alive(pms)) == (4, {"double": 3})
    assert done(chat, rooms(chat, stay_on(5, 8)))["outcome"] == "succeeded", "nothing lives there any more"
    assert made(pms) == 5


def test_dates_moved_there_and_back_and_there_again_are_moved_each_time(chat: Chat, pms: Pms) -> None:
    first = chat.ask("double")
    [number] = held(pms)
    for turn in range(4):
        dates = stay_on(0, 2) if turn % 2 else stay_on(5, 8)
        answers = [ended(chat, "change_reservation_dates", number, **dates) for _ in range(2)]
        assert [answer["outcome"] for answer in answers] == ["succeeded", "succeeded"]
        assert item_ids(answers[0]) == item_ids(answers[1])
        [booking] = pms.bookings()
        assert booking | dates == booking
        assert chat.look(first["id"])["items"][0]["result"] | dates == chat.look(first["id"])["items"][0]["result"]
    assert len(pms.effects(operation="change")) == 4
    assert made(pms) == 1
