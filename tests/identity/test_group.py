"""A group of four of which one room was sold out, asked for again in every way: nothing is booked twice."""

import random
from collections import Counter
from itertools import permutations

import pytest

from tests.api.serving import stay
from tests.dedupe.rows import at_once
from tests.guards.chat import Chat
from tests.identity.asking import (
    GROUP,
    Answer,
    alive,
    booking_ids,
    done,
    fixed_rooms,
    held,
    item_ids,
    made,
    rooms,
    states,
    submit,
)
from tests.pms import Pms

ORDERS = sorted(set(permutations(GROUP)))
FULL = Counter(GROUP)


def three_of_four(chat: Chat, pms: Pms) -> Answer:
    """The group asked for while there is no suite; then one comes free."""
    pms.set_rooms("BER", "suite", 0)
    first = chat.ask(*GROUP)
    assert (first["outcome"], first["succeeded"], first["failed"]) == ("partial", [0, 1, 2], [3])
    assert alive(pms) == FULL - Counter(["suite"])
    pms.set_rooms("BER", "suite", 5)
    return first


def all_four(pms: Pms) -> None:
    assert made(pms) == 4
    assert alive(pms) == FULL
    assert len(pms.effects()) == 4


@pytest.mark.parametrize("key", [None, "again"])
def test_the_suite_alone_is_the_one_that_was_missing(chat: Chat, pms: Pms, key: str | None) -> None:
    first = three_of_four(chat, pms)
    again = done(chat, rooms(chat, {"room_type": "suite"}, key=key))
    assert item_ids(again) == item_ids(first)[3:]
    assert again["outcome"] == "succeeded"
    whole = chat.look(first["id"])
    assert (whole["outcome"], sorted(map(str, booking_ids(whole)))) == ("succeeded", held(pms))
    all_four(pms)


@pytest.mark.parametrize("shared", [True, False], ids=["shared defaults", "complete rooms"])
def test_the_whole_group_again_is_the_same_intent_and_books_the_missing_one(chat: Chat, pms: Pms, shared: bool) -> None:
    first = three_of_four(chat, pms)
    ready = [{"room_type": name} for name in GROUP]
    again = done(chat, chat.call(*GROUP) if shared else rooms(chat, *ready))
    assert (again["id"], item_ids(again)) == (first["id"], item_ids(first))
    assert booking_ids(again)[:3] == booking_ids(first)[:3]
    assert sorted(map(str, booking_ids(again))) == held(pms)
    all_four(pms)


def test_every_order_of_the_rooms_names_the_bookings_that_exist(patient: Chat, pms: Pms) -> None:
    first = three_of_four(patient, pms)
    for order in ORDERS:
        answer = done(patient, rooms(patient, *({"room_type": name} for name in order)))
        assert sorted(item_ids(answer)) == sorted(item_ids(first))
        assert sorted(map(str, booking_ids(answer))) == held(pms)
        assert [item["result"]["room_type"] for item in answer["items"]] == list(order)
    all_four(pms)


def test_one_by_one_the_rooms_are_those_of_the_group(chat: Chat, pms: Pms) -> None:
    first = three_of_four(chat, pms)
    answers = [done(chat, submit(chat, "create_booking", stay(room_type=name))) for name in GROUP]
    assert [item_ids(answer)[0] for answer in answers] == [item_ids(first)[at] for at in (0, 0, 2, 3)]
    assert {booking_ids(answer)[0] for answer in answers} <= set(held(pms))
    all_four(pms)


def test_the_arguments_of_the_fix_line_book_the_missing_room_as_they_stand(chat: Chat, pms: Pms) -> None:
    first = three_of_four(chat, pms)
    ready = fixed_rooms(first)
    assert [room["room_type"] for room in ready] == ["suite"]
    for _ in range(2):
        again = done(chat, submit(chat, "book_rooms", {"rooms": ready}))
        assert (again["outcome"], item_ids(again)) == ("succeeded", item_ids(first)[3:])
    all_four(pms)


def test_two_that_were_missing_are_both_in_the_fix_line_and_nothing_else_is(chat: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "double", 0)
    first = chat.ask(*GROUP)
    assert first["failed"] == [0, 1]
    pms.set_rooms("BER", "double", 5)
    again = done(chat, submit(chat, "book_rooms", {"rooms": fixed_rooms(first)}))
    assert item_ids(again) == item_ids(first)[:2]
    all_four(pms)


WISHES: list[Answer] = [{"notes": "a cot"}, {"notes": "ground floor", "adults": 1}]


@pytest.mark.parametrize("tool", ["book_rooms", "create_booking"])
def test_identical_rooms_with_wishes_of_their_own_are_told_apart_by_them(chat: Chat, pms: Pms, tool: str) -> None:
    """Notes are no part of what makes it the same room; but whoever asks again for one means that one."""
    first = item_ids(done(chat, rooms(chat, *WISHES)))
    for order in ([0, 1], [1, 0]):
        if tool == "book_rooms":
            again = item_ids(done(chat, rooms(chat, *(WISHES[at] for at in order))))
        else:
            again = [item_ids(done(chat, submit(chat, tool, stay(**WISHES[at]))))[0] for at in order]
        assert again == [first[at] for at in order]
    assert made(pms) == 2


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_of_two_with_wishes_of_their_own_the_sold_out_one_is_booked_as_it_was_wished(
    chat: Chat, pms: Pms, order: list[int]
) -> None:
    pms.set_rooms("BER", "double", 1)
    first = done(chat, rooms(chat, *WISHES))
    pms.set_rooms("BER", "double", 1)
    again = done(chat, rooms(chat, *(WISHES[at] for at in order)))
    assert item_ids(again) == [item_ids(first)[at] for at in order]
    assert sorted(booking["notes"] for booking in pms.bookings()) == ["a cot", "ground floor"]
    assert made(pms) == 2


@pytest.mark.parametrize("tool", ["book_rooms", "create_booking"])
def test_of_identical_rooms_the_one_that_is_missing_is_meant_first(chat: Chat, pms: Pms, tool: str) -> None:
    pms.set_rooms("BER", "double", 1)
    first = chat.ask("double", "double")
    assert states(first) == ["succeeded", "failed"]
    pms.set_rooms("BER", "double", 1)
    asked = {"rooms": [stay()]} if tool == "book_rooms" else stay()
    again = done(chat, submit(chat, tool, asked))
    assert (again["outcome"], item_ids(again)) == ("succeeded", item_ids(first)[1:])
    assert item_ids(done(chat, rooms(chat, {}, key="own"))) == item_ids(first)[:1]
    assert made(pms) == 2


def test_as_many_exist_as_were_asked_for_at_most(chat: Chat, pms: Pms) -> None:
    two = chat.ask("double", "double")
    three = chat.ask("double", "double", "double")
    assert item_ids(three)[:2] == item_ids(two)
    assert made(pms) == 3
    again = chat.ask("double", "double")
    assert (again["id"], booking_ids(again)) == (two["id"], booking_ids(two))
    assert item_ids(chat.ask("double", "double", key="own")) == item_ids(two)
    assert made(pms) == 3


def test_fifty_askings_at_once_in_any_order_are_four_bookings_and_fifty_answers(chat: Chat, pms: Pms) -> None:
    orders = [random.Random(number).sample(GROUP, len(GROUP)) for number in range(50)]
    assert len({tuple(order) for order in orders}) == len(ORDERS)
    assert chat.put({"turn": 1}).status_code == 200, "the conversation is there: nobody waits for its first intent"
    responses = at_once(50, lambda index: chat.call(*orders[index]))
    assert {response.status_code for response in responses} == {202}
    answers = [response.json() for response in responses]
    assert len({answer["id"] for answer in answers}) == len(ORDERS)
    [items] = {tuple(sorted(item_ids(answer))) for answer in answers}
    assert all(states(answer) == ["queued"] * 4 for answer in answers)
    for item in items:
        chat.desk.run(item)
    for answer, order in zip(answers, orders, strict=True):
        told = chat.look(answer["id"])
        assert [item["result"]["room_type"] for item in told["items"]] == order
        assert sorted(map(str, booking_ids(told))) == held(pms)
    all_four(pms)
