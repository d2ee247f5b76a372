"""The handoff tells what became of every kind of wish, in words that a guest understands."""

from typing import Any

from booking.conversation import conversation_answer, handoff_of
from booking.effects import Effect
from booking.errors import ToolError
from booking.results import ItemRow
from booking.states import State
from tests.booking.build import error_of

CALL = "A colleague will call you."


def row(id: int, effect: Effect, state: State, request: dict[str, Any], error: ToolError | None = None) -> ItemRow:
    numbers = {"booking_id": request.get("reservation_id", "B-1"), **request}
    result = {**numbers, "refund_id": "R-1"} if state is State.SUCCEEDED else None
    fields = {"position": 0, "key": "k", "attempts": 1, "slow": False}
    return ItemRow(id=id, effect=effect, state=state, request=request, result=result, error=error, **fields)


def of(number: str, **dates: str) -> dict[str, Any]:
    return {"reservation_id": number, **dates}


def test_a_moved_booking_is_owned_once_under_its_new_dates() -> None:
    rows = [
        row(1, Effect.BOOKING, State.SUCCEEDED, {"room_type": "double", "check_in": "2027-01-01"}),
        row(2, Effect.CHANGE, State.SUCCEEDED, of("B-1", check_in="2027-02-01")),
    ]
    assert handoff_of(rows) == f"1 room booked: B-1. {CALL}"
    [owned] = conversation_answer("c-1", rows).owned
    assert (owned.booking_id, owned.result["check_in"]) == ("B-1", "2027-02-01")


def test_a_cancelled_booking_is_not_owned_and_told_as_cancelled() -> None:
    rows = [
        row(1, Effect.BOOKING, State.SUPERSEDED, {"room_type": "double"}),
        row(2, Effect.CANCEL, State.SUCCEEDED, of("B-1")),
    ]
    assert handoff_of(rows) == f"B-1 is cancelled. {CALL}"
    assert conversation_answer("c-1", rows).owned == []


def test_what_failed_first_and_was_done_later_is_told_as_done() -> None:
    failed = error_of("not_found", what="Reservation B-1")
    rows = [
        row(1, Effect.CANCEL, State.FAILED, of("B-1"), failed),
        row(2, Effect.CANCEL, State.SUCCEEDED, of("B-1")),
        row(3, Effect.CANCEL, State.FAILED, of("B-2"), failed),
    ]
    assert handoff_of(rows) == f"B-1 is cancelled. The cancellation of B-2 was not possible: it was not found. {CALL}"


def test_waiting_and_failed_wishes_are_named_by_what_they_are_about() -> None:
    taken = error_of("dates_taken", reservation_id="B-1", check_in="2027-01-01", check_out="2027-01-02")
    rows = [
        row(1, Effect.BOOKING, State.UNKNOWN, {"room_type": "suite"}),
        row(2, Effect.CHANGE, State.FAILED, of("B-1"), taken),
        row(3, Effect.REFUND, State.QUEUED, {"amount": "50", "currency": "EUR"}),
    ]
    assert handoff_of(rows) == (
        "Nothing is booked yet. The suite and the refund of 50 EUR are being confirmed. "
        f"The change of B-1 was not possible: the hotel has no room then. {CALL}"
    )


def test_mails_to_other_guests_are_nothing_of_this_conversation() -> None:
    rows = [
        row(1, Effect.ARRIVALS, State.SUCCEEDED, {"property": "BER", "date": "2027-01-01"}),
        row(2, Effect.REMINDER, State.FAILED, of("B-7"), error_of("no_address", reservation_id="B-7", problem="none")),
    ]
    assert handoff_of(rows) == f"Nothing is booked yet. {CALL}"


def test_what_the_host_verified_is_not_shown_to_the_agent() -> None:
    request = {**of("B-1"), "verified": {"name": "Anna Moser", "email": "anna@hotel-demo.com"}}
    answer = conversation_answer("c-1", [row(1, Effect.CANCEL, State.FAILED, request, error_of("denied"))])
    assert "anna@" not in answer.model_dump_json()
