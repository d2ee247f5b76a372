"""What an agent sends when it asks again: rooms in any order, whole or one by one; and what it is given."""

import datetime as dt
import json
from collections import Counter
from typing import Any

import httpx

from booking.results import Problem
from tests.api.checks import refused
from tests.api.serving import bearer, stay
from tests.guards.chat import Chat
from tests.pms import Pms

#: The group of Friday evening.
GROUP = ("double", "double", "single", "suite")

Answer = dict[str, Any]

_ARRIVAL = dt.date.fromisoformat(stay()["check_in"])


def stay_on(first: int, last: int) -> dict[str, str]:
    """Dates: from so many days after the usual arrival to so many. The usual stay is 0 to 2."""
    return {"check_in": str(_ARRIVAL + dt.timedelta(first)), "check_out": str(_ARRIVAL + dt.timedelta(last))}


def submit(
    chat: Chat, tool: str, arguments: Answer, *, conversation: str = "c-77", key: str | None = None, by: str = ""
) -> httpx.Response:
    """Call a tool; `by`: another bearer key than the agent's."""
    headers = ({"Idempotency-Key": key} if key else {}) | (bearer(by) if by else {})
    body = {"tool": tool, "arguments": arguments, "conversation_id": conversation}
    return chat.api.http.post("/v1/intents", json=body, headers=headers)


def rooms(chat: Chat, *asked: Answer, **how: Any) -> httpx.Response:
    """book_rooms with these rooms, each complete."""
    return submit(chat, "book_rooms", {"rooms": [stay(**room) for room in asked]}, **how)


def more(chat: Chat, room_type: str = "double", **how: Any) -> httpx.Response:
    """One room more, beside those that are booked."""
    return submit(chat, "create_booking", stay(room_type=room_type, additional=True), **how)


def done(chat: Chat, response: httpx.Response) -> Answer:
    """It is taken; let the worker run it to its end."""
    assert response.status_code == 202, response.text
    return chat.work(response.json())


def ended(chat: Chat, tool: str, booking_id: str, **changes: Any) -> Answer:
    """The guest's own reservation, changed or cancelled."""
    arguments = {"reservation_id": booking_id, "guest_name": "Anna Moser", "email": "anna.moser@example.com", **changes}
    return done(chat, submit(chat, tool, arguments))


def cancelled(chat: Chat, booking_id: str) -> Answer:
    answer = ended(chat, "cancel_reservation", booking_id)
    assert answer["outcome"] == "succeeded"
    return answer


def blocked(response: httpx.Response, code: str = "UNKNOWN_OUTCOME", status: int = 409) -> Problem:
    """It is refused, and nothing was taken."""
    return refused(response, status, code)


def item_ids(answer: Answer) -> list[int]:
    return [item["id"] for item in answer["items"]]


def booking_ids(answer: Answer) -> list[str | None]:
    """The bookings that an answer names, in its order."""
    return [item["result"] and item["result"]["booking_id"] for item in answer["items"]]


def states(answer: Answer) -> list[str]:
    return [item["state"] for item in answer["items"]]


def alive(pms: Pms, **fields: Any) -> Counter[str]:
    """How many rooms of each type are booked at the hotel."""
    return Counter(booking["room_type"] for booking in pms.bookings(status="confirmed", **fields))


def held(pms: Pms) -> list[str]:
    """The numbers of the bookings that exist."""
    return sorted(booking["booking_id"] for booking in pms.bookings(status="confirmed"))


def made(pms: Pms) -> int:
    """How many creates had an effect at the hotel."""
    return len(pms.effects(operation="create_booking"))


def fixed_rooms(answer: Answer) -> list[Answer]:
    """The arguments that the answer's `fix` holds, as they stand there."""
    _, _, ready = answer["fix"].partition("rooms=")
    listed: list[Answer] = json.JSONDecoder().raw_decode(ready)[0]
    return listed
