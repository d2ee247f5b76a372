"""A key of the caller's own means the same HTTP request; without one the agent asks again."""

import pytest

from booking.errors import MAY_PASS
from tests.api.checks import refused
from tests.api.serving import stay
from tests.api.work import lose, refuse
from tests.booking.build import error_of
from tests.dedupe.rows import count
from tests.guards.chat import Chat
from tests.identity.asking import alive, booking_ids, done, held, item_ids, made, rooms, states, submit
from tests.pms import Pms

#: Why an item can have failed: rows of the table of errors.
ROWS = (
    "sold_out",
    "price_changed",
    "rate_limited",
    "unavailable",
    "expired",
    "cancelled",
    "refused_argument",
    "not_found",
    "denied",
)
VALUES = dict.fromkeys(("room_type", "property", "check_in", "check_out", "field", "problem", "what", "price"), "x")


def test_the_same_key_and_body_is_the_same_intent_as_it_is_now(chat: Chat, pms: Pms) -> None:
    first = chat.call("double", key="order-17")
    again = chat.call("double", key="order-17")
    assert "idempotent-replayed" not in first.headers
    assert (again.headers["idempotent-replayed"], again.json()) == ("true", first.json())
    assert states(again.json()) == ["queued"]
    told = chat.work(first.json())
    over = chat.call("double", key="order-17")
    assert (over.status_code, over.headers["idempotent-replayed"], over.json()) == (202, "true", told)
    problem = refused(chat.call("suite", key="order-17"), 422)
    assert first.json()["id"] in problem.tool_error.message
    refused(chat.call("double", key="order-17", notes="late"), 422)
    assert made(pms) == 1


def test_two_keys_for_the_same_body_are_two_intents_and_one_booking(chat: Chat, pms: Pms) -> None:
    one, two = chat.call("double", key="order-17").json(), chat.call("double", key="order-18").json()
    assert one["id"] != two["id"]
    assert item_ids(one) == item_ids(two)
    assert booking_ids(chat.work(one)) == booking_ids(chat.look(two["id"])) != [None]
    assert (made(pms), count(chat.api.engine, "items")) == (1, 1)


def test_with_a_key_and_without_one_it_is_one_booking(chat: Chat, pms: Pms) -> None:
    for room_type, keys in {"double": (None, "order-17"), "single": ("order-18", None)}.items():
        one, two = (chat.ask(room_type, key=key) for key in keys)
        assert one["id"] != two["id"]
        assert booking_ids(one) == booking_ids(two) != [None]
    three = chat.ask("double", "suite", key="order-19")
    assert booking_ids(three)[0] in held(pms)
    assert alive(pms) == {"double": 1, "single": 1, "suite": 1}


def test_asked_again_what_may_pass_runs_again_and_a_key_of_ones_own_repeats_the_answer(patient: Chat) -> None:
    chat = patient
    for row in ROWS:
        passes = error_of(row, **VALUES).code in MAY_PASS
        first = chat.call("double", key=f"order {row}", conversation=f"c-{row}").json()
        [item] = item_ids(first)
        refuse(chat.api.engine, item, row, **VALUES)
        replayed = chat.call("double", key=f"order {row}", conversation=f"c-{row}")
        assert (replayed.headers["idempotent-replayed"], states(replayed.json())) == ("true", ["failed"])
        again = chat.call("double", conversation=f"c-{row}")
        assert (item_ids(again.json()), states(again.json())) == ([item], ["queued" if passes else "failed"]), row
        if not passes:
            assert again.json()["error"]["code"] == replayed.json()["error"]["code"]
            assert states(rooms(chat, {}, conversation=f"c-{row}").json()) == ["failed"]


def test_another_key_asks_anew_and_runs_it_again(chat: Chat) -> None:
    first = chat.call("double", key="order-17").json()
    [item] = item_ids(first)
    refuse(chat.api.engine, item, "unavailable")
    other = chat.call("double", key="order-18").json()
    assert (item_ids(other), states(other)) == (item_ids(first), ["queued"])
    assert states(chat.call("double", key="order-17").json()) == ["queued"], "the first intent shows it as it is"


@pytest.mark.parametrize("in_batch", [False, True])
def test_refused_for_good_it_runs_again_with_corrected_values(chat: Chat, pms: Pms, in_batch: bool) -> None:
    """The hotel's form does not take the address; the guest has another one."""
    refusal = {"error": {"code": "invalid", "message": "not a deliverable address", "field": "guest.email"}}
    pms.fault("status", status=422, body=refusal, match={"operation": "create_booking"}, times=1)
    wrong, right = ({"name": "Anna Moser", "email": f"anna@{host}.example.com"} for host in ("old", "new"))
    first = chat.ask("double", guest=wrong)
    assert (first["outcome"], first["error"]["code"]) == ("failed", "INVALID_ARGUMENT")
    again = done(chat, rooms(chat, {"guest": right})) if in_batch else chat.ask("double", guest=right)
    assert (again["outcome"], item_ids(again)) == ("succeeded", item_ids(first))
    assert [booking["guest"]["email"] for booking in pms.bookings()] == [right["email"]]
    one, two = pms.ledger(operation="create_booking")
    assert (one["reference"], one["key"] == two["key"]) == (two["reference"], False)
    assert made(pms) == 1


def test_of_two_identical_rooms_the_refused_one_takes_the_correction(chat: Chat, pms: Pms) -> None:
    """One of the doubles was to sleep three. The other is booked and stays as it is."""
    first = done(chat, rooms(chat, {"notes": "by the lift"}, {"adults": 3}))
    assert states(first) == ["succeeded", "failed"]
    assert first["items"][1]["error"]["code"] == "INVALID_ARGUMENT"
    again = done(chat, submit(chat, "create_booking", stay(children=0)))
    assert (again["outcome"], item_ids(again)) == ("succeeded", item_ids(first)[1:])
    assert [booking["notes"] for booking in pms.bookings()] == ["by the lift", None]
    refused(submit(chat, "create_booking", stay(notes="by the stairs")), 422)
    assert made(pms) == 2


def test_what_is_unknown_stays_unknown_however_it_is_asked_for(patient: Chat) -> None:
    chat = patient
    first = chat.call("double", key="order-17").json()
    lose(chat.api.engine, *item_ids(first))
    before = chat.desk.row(item_ids(first)[0])
    for response in (chat.call("double"), chat.call("double", key="order-17"), chat.call("double", key="order-18")):
        answer = response.json()
        assert (response.status_code, answer["outcome"], answer["error"]["code"]) == (202, "unknown", "UNKNOWN_OUTCOME")
        assert (item_ids(answer), states(answer)) == (item_ids(first), ["unknown"])
    refused(chat.call("double", notes="late"), 422)
    after = chat.desk.row(item_ids(first)[0])
    assert (after.rev, after.due_at, after.writes) == (before.rev, before.due_at, before.writes)


def test_a_booking_that_is_pending_or_there_takes_no_other_values(chat: Chat, pms: Pms) -> None:
    first = chat.call("double").json()
    for state in ("queued", "succeeded"):
        for key in (None, "order-17"):
            problem = refused(chat.call("double", notes="late", key=key), 422)
            assert f"another notes; it is {state}" in problem.tool_error.message
        if state == "queued":
            chat.desk.run(*item_ids(first))
    assert pms.bookings()[0]["notes"] is None
