"""The fix line for rooms: what can be asked for again is ready to use, at the price that it has now."""

import json
import re
from typing import Any

from booking.errors import ToolError
from booking.results import IntentAnswer
from booking.states import State
from tests.booking.build import error_of
from tests.booking.test_results import SOLD_OUT, answer, item

DEARER = error_of("price_changed", price="420.00 EUR")
WRONG = error_of("refused_argument", field="room_type", problem="must be one of double, suite")


def ready(told: IntentAnswer) -> list[dict[str, Any]]:
    """The arguments in the fix line, as a model would copy them."""
    found = re.search(r"book_rooms with rooms=(\[.*\]);", told.fix or "")
    assert found, told.fix
    rooms: list[dict[str, Any]] = json.loads(found[1])
    return rooms


def told(error: ToolError) -> IntentAnswer:
    return answer(item(0, State.SUCCEEDED), item(1, State.FAILED, error))


def test_a_dearer_room_is_offered_at_its_new_price_once_the_guest_agrees() -> None:
    answered = told(DEARER)
    assert [room["max_price"] for room in ready(answered)] == [{"amount": "420.00", "currency": "EUR"}]
    assert (answered.fix or "").endswith("First ask the guest whether the new price is fine.")


def test_a_sold_out_room_may_also_be_another_one() -> None:
    assert (told(SOLD_OUT).fix or "").endswith("Or search again and offer other room types or dates.")


def test_what_the_hotel_does_not_accept_may_be_corrected() -> None:
    answered = told(WRONG)
    assert answered.error is not None
    assert answered.error.retryable
    assert (answered.fix or "").startswith("Correct what is named, and ask again for those rooms only;")
    assert "Do not ask again" not in (answered.fix or "")


def test_what_was_undone_says_so() -> None:
    undone = answer(item(0, State.SUPERSEDED, result={"booking_id": "B-7"}))
    assert undone.notice == "Done, and undone since by a later request: B-7. It is not in force any more."


def test_each_item_names_what_it_is_about() -> None:
    assert [one.about for one in told(SOLD_OUT).items] == ["double", "suite"]
