"""What an agent is told of changes and cancellations over HTTP: old wishes, what is owned, failures in their words."""

from typing import Any

import pytest

from tests.api.checks import refused
from tests.changes.house import ANNA, CANCEL, CHANGE, A, B, C, Dates
from tests.changes.talk import Talk, told
from tests.tasks.desk import Desk

NAMED: dict[str, Any] = {"guest_name": ANNA["name"]}
NOWHERE = "http://127.0.0.1:9"
#: What would be said of another effect.
FOREIGN = ("booked", "refund", "payment system", "mail server")


def sold_out(talk: Talk, dates: Dates, rooms: int = 0) -> None:
    talk.desk.pms.set_rooms("BER", "double", rooms, check_in=dates[0], check_out=dates[1])


def failed_change(talk: Talk, number: str) -> dict[str, Any]:
    """A change to B that failed; there is a room again."""
    sold_out(talk, B)
    intent = talk.change(number, B, **NAMED)
    assert told(intent)["code"] == "CONFLICT"
    sold_out(talk, B, 1)
    return intent


def test_a_retry_of_an_older_change_is_refused_after_a_later_one_and_a_fresh_wish_is_not(talk: Talk) -> None:
    number = talk.seed()
    stale = failed_change(talk, number)
    assert talk.change(number, C, **NAMED)["outcome"] == "succeeded"
    calls = len(talk.desk.pms.ledger())
    response = talk.api.http.post(f"/v1/intents/{stale['id']}/retry")
    error = refused(response, 409, "CONFLICT").tool_error
    assert error.message == f"{number} has been changed by a later request since; this older one is not carried out."
    assert error.fix == "Ask the guest what they want now, and ask for that anew."
    assert len(talk.desk.pms.ledger()) == calls
    fresh = talk.change(number, B, **NAMED)
    assert (fresh["id"], fresh["outcome"]) == (stale["id"], "succeeded")
    assert fresh["items"][0]["id"] != stale["items"][0]["id"]
    [booking] = talk.desk.pms.bookings(booking_id=number)
    assert booking["check_in"] == B[0]


def test_a_retry_without_a_later_change_carries_it_out(talk: Talk) -> None:
    number = talk.seed()
    stale = failed_change(talk, number)
    response = talk.api.http.post(f"/v1/intents/{stale['id']}/retry")
    assert response.status_code == 202
    assert talk.work(response.json())["outcome"] == "succeeded"


def test_a_stale_header_key_is_answered_from_the_record_and_says_so(talk: Talk) -> None:
    number = talk.seed()
    asked = {"reservation_id": number, "check_in": B[0], "check_out": B[1], **NAMED}
    first = talk.done(CHANGE, key="k-1", **asked)
    assert talk.change(number, C, **NAMED)["outcome"] == "succeeded"
    again = talk.tool(CHANGE, key="k-1", **asked)
    assert (again.status_code, again.json()["id"]) == (202, first["id"])
    assert again.headers["idempotent-replayed"] == "true"
    assert (again.json()["outcome"], again.json()["items"][0]["state"]) == ("succeeded", "superseded")
    [booking] = talk.desk.pms.bookings(booking_id=number)
    assert booking["check_in"] == C[0]
    refused(talk.tool(CANCEL, key="k-1", reservation_id=number, **NAMED), 422)
    refused(talk.tool(CHANGE, "c-2", key="k-1", **asked), 422)


def test_the_conversation_owns_the_new_dates_and_after_a_cancellation_nothing(talk: Talk) -> None:
    booked = talk.ask("double", check_in=A[0], check_out=A[1])
    number = booked["items"][0]["result"]["booking_id"]
    assert talk.change(number, B, **NAMED)["outcome"] == "succeeded"
    [owned] = talk.conversation()["owned"]
    assert (owned["booking_id"], owned["result"]["check_in"], owned["result"]["check_out"]) == (number, *B)
    assert talk.look(booked["id"])["items"][0]["result"]["check_in"] == B[0]
    assert talk.cancelled(number, **NAMED)["outcome"] == "succeeded"
    after = talk.conversation()
    assert (after["owned"], after["failed"], after["open"]) == ([], [], [])
    assert after["handoff"] == f"{number} is cancelled. A colleague will call you."
    assert talk.look(booked["id"])["items"][0]["state"] == "superseded"
    again = talk.ask("double", check_in=A[0], check_out=A[1])
    assert again["items"][0]["result"]["booking_id"] != number
    assert "1 room booked" in talk.conversation()["handoff"]


# Words


@pytest.mark.parametrize(("tool", "done"), [(CHANGE, "changed"), (CANCEL, "cancelled")])
def test_failures_are_told_in_the_words_of_what_was_asked_for(talk: Talk, tool: str, done: str) -> None:
    seen = [_away(talk, tool), _expired(talk, tool), _throttled(talk, tool), _unknown(talk, tool)]
    assert [error["message"] for error in seen] == [
        f"The hotel system could not be reached in time; this was not {done}.",
        f"This was not {done} in time and will not be any more.",
        f"The hotel system is taking no more requests for now; this was not {done}.",
        f"It is not yet known whether this was {done}; it is being confirmed.",
    ]
    assert [error["fix"] for error in seen] == [
        f"Tell the guest that it was not {done}. It may be asked for again later.",
        "If the guest still wants it, ask for it again.",
        f"Tell the guest that it was not {done}. It may be asked for again later.",
        "Do not ask for it again and promise nothing. The result will follow.",
    ]
    for error in seen:
        assert not any(word in str(error) for word in FOREIGN)


def _asked(talk: Talk, tool: str, conversation: str) -> dict[str, Any]:
    target = {"check_in": B[0], "check_out": B[1]} if tool == CHANGE else {}
    response = talk.tool(tool, conversation, reservation_id=talk.seed(), **target, **NAMED)
    assert response.status_code == 202
    intent: dict[str, Any] = response.json()
    return intent


def _away(talk: Talk, tool: str) -> dict[str, Any]:
    intent = _asked(talk, tool, "c-away")
    away = Desk.at(talk.desk.engine, talk.desk.pms, talk.desk.redis, "keyed", url=NOWHERE)
    away.run(intent["items"][0]["id"])
    away.later(intent["items"][0]["id"], 3600, expire=True)
    return told(talk.look(intent["id"]))


def _expired(talk: Talk, tool: str) -> dict[str, Any]:
    intent = _asked(talk, tool, "c-late")
    talk.desk.later(intent["items"][0]["id"], 3600, expire=True)
    return told(talk.look(intent["id"]))


def _throttled(talk: Talk, tool: str) -> dict[str, Any]:
    intent = _asked(talk, tool, "c-throttled")
    talk.desk.pms.fault("rate_limited", match={"operation": "get"}, times=1)
    talk.desk.run(intent["items"][0]["id"])
    talk.desk.later(intent["items"][0]["id"], 3600, expire=True)
    return told(talk.look(intent["id"]))


def _unknown(talk: Talk, tool: str) -> dict[str, Any]:
    intent = _asked(talk, tool, "c-unknown")
    operation = "change" if tool == CHANGE else "cancel"
    talk.desk.pms.fault("reset_before_commit", match={"operation": operation}, times=1)
    talk.desk.pms.fault("status", status=503, match={"operation": "get"}, skip=1)
    talk.desk.run(intent["items"][0]["id"])
    talk.desk.later(intent["items"][0]["id"], 90)
    talk.desk.pms.clear_faults()
    return told(talk.look(intent["id"]))


def test_the_handoff_names_what_was_not_possible(talk: Talk) -> None:
    number, other = talk.seed(), talk.seed()
    failed_change(talk, number)
    talk.tool(CANCEL, reservation_id=other, **NAMED)
    assert talk.conversation()["handoff"] == (
        f"The cancellation of {other} is being confirmed. The change of {number} was not possible: "
        "the hotel has no room then. A colleague will call you."
    )


def test_wrong_dates_are_told_with_what_is_allowed(talk: Talk) -> None:
    number = talk.seed()
    for dates, said in (
        ((B[1], B[0]), "check_out: must be after check_in"),
        (("2020-01-01", "2020-01-02"), "check_in: must not be in the past"),
    ):
        asked = {"reservation_id": number, "check_in": dates[0], "check_out": dates[1], **NAMED}
        assert refused(talk.tool(CHANGE, **asked), 422).tool_error.message.startswith(said)
