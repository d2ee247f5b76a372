"""What the agent reads."""

import json
from typing import Any

import pytest

from booking.answers import POLL_AFTER_MS, SLOW, intent_answer
from booking.arguments import BookRooms
from booking.conversation import conversation_answer
from booking.effects import Effect
from booking.errors import ErrorCode, ToolError
from booking.results import IntentAnswer, IntentRow, ItemRow
from booking.rooms import MOST_NAMED
from booking.states import IntentOutcome, IntentState, State
from tests.booking.build import NOW, error_of, hotels, stay

SOLD_OUT = error_of("sold_out", room_type="suite", property="BER", check_in="2026-12-24", check_out="2026-12-26")
DENIED = error_of("denied")
WRONG = error_of("refused_argument", field="adults", problem="at most 1")


def item(position: int, state: State, error: ToolError | None = None, **changes: Any) -> ItemRow:
    result = {"booking_id": f"B-{position}"} if state in (State.SUCCEEDED, State.SUPERSEDED) else None
    room_type = "double" if position == 0 else "suite"
    request = stay(room_type=room_type, notes="spät “ok”").model_dump(mode="json", exclude_none=True)
    fields: dict[str, Any] = {
        "position": position,
        "id": 100 + position,
        "key": f"c-77:booking:{position}:0",
        "effect": Effect.BOOKING,
        "state": state,
        "result": result,
        "error": error,
        "attempts": 1,
        "slow": False,
        "request": request,
    }
    return ItemRow(**(fields | changes))


def answer(*items: ItemRow) -> IntentAnswer:
    row = IntentRow(
        id="int_1",
        tenant_id="demo",
        key="c-77:book_rooms:9f3a",
        tool="book_rooms",
        conversation_id="c-77",
        created_at=NOW,
        expires_at=NOW,
        items=list(items),
    )
    return intent_answer(row)


def ready_rooms(fix: str) -> list[dict[str, Any]]:
    """The arguments that a fix line holds."""
    rooms, _ = json.JSONDecoder().raw_decode(fix[fix.index("rooms=") + len("rooms=") :])
    assert isinstance(rooms, list)
    return rooms


def test_a_pending_intent_says_when_to_poll_and_nothing_else() -> None:
    told = answer(item(0, State.QUEUED), item(1, State.SUCCEEDED))
    assert (told.state, told.outcome, told.error, told.fix, told.notice) == (
        IntentState.PENDING,
        None,
        None,
        None,
        None,
    )
    assert told.poll_after_ms == POLL_AFTER_MS
    assert (told.pending, told.succeeded) == ([0], [1])


def test_a_done_intent_is_not_to_be_polled() -> None:
    told = answer(item(0, State.SUCCEEDED))
    assert (told.state, told.outcome, told.poll_after_ms) == (IntentState.DONE, IntentOutcome.SUCCEEDED, None)
    assert told.items[0].result == {"booking_id": "B-0"}


def test_every_item_is_in_exactly_one_list() -> None:
    states = [State.SUCCEEDED, State.FAILED, State.UNKNOWN, State.CANCELLED, State.QUEUED, State.RUNNING]
    told = answer(*(item(n, state) for n, state in enumerate(states)))
    lists = [told.succeeded, told.failed, told.unknown, told.cancelled, told.pending]
    assert lists == [[0], [1], [2], [3], [4, 5]]


@pytest.mark.parametrize("other", State)
def test_an_unknown_is_never_told_as_failed_or_succeeded(other: State) -> None:
    told = answer(item(0, State.UNKNOWN, SOLD_OUT, result={"booking_id": "B-0"}), item(1, other, SOLD_OUT))
    assert 0 not in told.failed + told.succeeded
    assert told.items[0].error == error_of("unknown_outcome")
    assert told.items[0].result is None
    assert told.outcome not in (IntentOutcome.SUCCEEDED, IntentOutcome.FAILED)


@pytest.mark.parametrize("others", [[], [State.SUCCEEDED], [State.FAILED], [State.SUCCEEDED, State.UNKNOWN]])
def test_an_intent_whose_rest_is_unknown_says_do_not_book_again(others: list[State]) -> None:
    told = answer(item(0, State.UNKNOWN), *(item(n + 1, state, SOLD_OUT) for n, state in enumerate(others)))
    assert told.error == error_of("unknown_outcome")
    assert told.fix == error_of("unknown_outcome").fix


def test_a_failed_intent_tells_the_first_failure() -> None:
    told = answer(item(0, State.FAILED, SOLD_OUT), item(1, State.FAILED, DENIED))
    assert (told.outcome, told.error, told.fix) == (IntentOutcome.FAILED, SOLD_OUT, SOLD_OUT.fix)


def test_a_failure_without_an_error_is_still_answered() -> None:
    assert answer(item(0, State.CANCELLED)).error is None


def test_what_was_superseded_is_neither_owned_nor_failed() -> None:
    told = answer(item(0, State.SUPERSEDED))
    assert (told.outcome, told.error) == (IntentOutcome.SUCCEEDED, None)
    assert told.succeeded + told.failed + told.unknown == []
    assert told.items[0].result is None


def test_a_pending_item_hides_the_error_of_an_earlier_try() -> None:
    assert answer(item(0, State.QUEUED, error_of("unavailable"))).items[0].error is None


def test_slowness_is_told_while_it_lasts() -> None:
    assert answer(item(0, State.QUEUED, slow=True)).notice == SLOW.format(system="hotel system")
    assert answer(item(0, State.UNKNOWN, slow=True)).notice is None
    assert answer(item(0, State.SUCCEEDED, slow=True)).notice is None


# Some of a batch.


def test_a_partial_failure_holds_ready_arguments_for_the_missing_rooms_only() -> None:
    told = answer(
        item(0, State.SUCCEEDED), item(1, State.FAILED, SOLD_OUT), item(2, State.CANCELLED, error_of("cancelled"))
    )
    assert told.error is not None
    assert told.error.code is ErrorCode.PARTIAL_FAILURE
    assert told.error.message.startswith("1 of 3 rooms are booked: B-0. Not booked: suite (CONFLICT: No suite is free")
    assert "rooms=" not in (told.error.fix or ""), "sent once"
    assert told.error.retryable
    assert told.fix is not None
    assert told.fix.startswith("Retry only the 2 suite rooms: book_rooms with rooms=")
    assert told.fix.endswith("; 1 room is booked: B-0. Or search again and offer other room types or dates.")
    again = BookRooms.model_validate({"rooms": ready_rooms(told.fix)}, context=hotels())
    asked = stay(room_type="suite", notes="spät “ok”")
    assert [room.model_dump() for room in again.rooms] == [asked.model_dump()] * 2


@pytest.mark.parametrize("error", [WRONG, DENIED, error_of("not_found", what="The rate plan")])
def test_what_is_refused_for_good_is_not_offered_again(error: ToolError) -> None:
    told = answer(item(0, State.SUCCEEDED), item(1, State.FAILED, SOLD_OUT), item(2, State.FAILED, error))
    assert told.fix is not None
    assert len(ready_rooms(told.fix)) == 1
    assert told.error is not None
    assert error.message in told.error.message


def test_where_nothing_may_pass_nothing_is_offered_again() -> None:
    told = answer(item(0, State.SUCCEEDED), item(1, State.FAILED, DENIED))
    assert told.fix == "Do not ask again for what was not booked; 1 rooms are booked already: B-0."
    assert told.error is not None
    assert (told.error.code, told.error.retryable) == (ErrorCode.PARTIAL_FAILURE, False)
    assert told.error.fix == told.fix


def test_an_unknown_room_is_not_in_the_arguments_to_retry() -> None:
    told = answer(item(0, State.SUCCEEDED), item(1, State.FAILED, SOLD_OUT), item(2, State.UNKNOWN))
    assert told.fix is not None
    assert len(ready_rooms(told.fix)) == 1
    assert told.error is not None
    assert "B-2" not in told.error.message
    assert (told.failed, told.unknown) == ([1], [2])


FAMILY = stay(room_type="family").model_dump(mode="json", exclude_none=True)


@pytest.mark.parametrize("error", [SOLD_OUT, DENIED])
def test_an_unknown_room_beside_a_failed_one_is_named_as_being_confirmed(error: ToolError) -> None:
    told = answer(item(0, State.SUCCEEDED), item(1, State.FAILED, error), item(2, State.UNKNOWN, request=FAMILY))
    assert told.error is not None
    assert told.error.message == (
        "1 of 3 rooms are booked: B-0; being confirmed: family — do not book it again. "
        f"Not booked: suite ({error.code}: {error.message})."
    )
    assert ": B-0; being confirmed: family — do not book it again." in (told.fix or "")


def test_a_room_undone_since_beside_an_unknown_one_is_no_failure() -> None:
    assert answer(item(0, State.SUPERSEDED), item(1, State.UNKNOWN)).error == error_of("unknown_outcome")


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_a_large_batch_names_the_first_and_how_many_more(state: State) -> None:
    lost = error_of("cancelled") if state is State.CANCELLED else SOLD_OUT
    told = answer(*(item(n, State.SUCCEEDED if n < 400 else state, lost) for n in range(1000)))
    assert told.fix is not None
    assert told.error is not None
    assert len(ready_rooms(told.fix)) == MOST_NAMED
    assert "], then for 580 more of the positions in failed and cancelled; 400 rooms are booked: " in told.fix
    assert "B-19, and 380 more." in told.fix
    assert f"600 times suite ({lost.code}" in told.error.message
    assert len(told.fix) < 8000
    assert len(told.error.model_dump_json()) < 1000


def test_a_batch_of_exactly_as_many_as_are_named_is_whole() -> None:
    told = answer(item(0, State.SUCCEEDED), *(item(n + 1, State.FAILED, SOLD_OUT) for n in range(MOST_NAMED)))
    assert len(ready_rooms(told.fix or "")) == MOST_NAMED
    assert "more" not in (told.fix or "")


# A conversation.


def test_a_conversation_lists_what_is_owned_lost_and_open() -> None:
    states = [State.SUCCEEDED, State.FAILED, State.UNKNOWN, State.CANCELLED, State.QUEUED, State.SUPERSEDED]
    told = conversation_answer("c-77", [item(n, state, SOLD_OUT) for n, state in enumerate(states)])
    assert [owned.booking_id for owned in told.owned] == ["B-0"]
    assert [missing.item_id for missing in told.failed] == [101, 103]
    assert [missing.item_id for missing in told.open] == [102, 104]
    assert [missing.error and missing.error.code for missing in told.open] == [ErrorCode.UNKNOWN_OUTCOME, None]
