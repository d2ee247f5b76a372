"""Reads count as calls, and a stop refuses them."""

from typing import Any

import httpx

from tests.api.checks import refused
from tests.api.serving import stay
from tests.dedupe.rows import count
from tests.guards.chat import Chat
from tests.pms import Pms


def look_up(chat: Chat, number: str, **more: Any) -> httpx.Response:
    arguments = {"reservation_id": number, "guest_name": "Anna Moser", **more}
    body = {"arguments": arguments, "conversation_id": "c-77"}
    return chat.api.http.post("/v1/reads/get_reservation", json=body)


def search(chat: Chat, room_type: str, scope: str = "agent") -> httpx.Response:
    names = ("property", "check_in", "check_out")
    arguments = {name: value for name, value in stay().items() if name in names} | {"room_type": room_type}
    body = {"arguments": arguments, "conversation_id": "c-77"}
    return chat.api.http.post("/v1/reads/search_availability", json=body, headers=chat.scope(scope))


def test_the_same_read_failing_twice_stops_writes_and_reads(chat: Chat, pms: Pms) -> None:
    [booked] = chat.ask("double")["items"]
    number = booked["result"]["booking_id"]
    first = refused(look_up(chat, "B-0"), 404, "NOT_FOUND")
    assert first.handoff is None
    assert look_up(chat, number).status_code == 200
    refused(look_up(chat, "B-1"), 404, "NOT_FOUND")
    second = refused(look_up(chat, "B-0"), 404, "NOT_FOUND")
    told = f"1 room booked: {number}. A colleague will call you."
    assert second.handoff == told
    assert told in (second.tool_error.fix or "")
    calls = len(pms.ledger())
    for response in (look_up(chat, "B-0"), look_up(chat, number), search(chat, "suite")):
        assert refused(response, 409, "STOPPED").handoff == told
    chat.stopped("suite")
    assert len(pms.ledger()) == calls
    chat.put({"turn": 1})
    assert look_up(chat, number).status_code == 200


def test_unavailable_reads_and_writes_count_together(chat: Chat, pms: Pms) -> None:
    pms.fault("status", match={"operation": "availability"}, status=503)
    refused(search(chat, "double"), 503, "UNAVAILABLE")
    refused(search(chat, "suite"), 503, "UNAVAILABLE")
    assert chat.ask("single", away=True)["stop"]["reason"] == "unavailable"
    refused(search(chat, "family"), 409, "STOPPED")


def test_wrong_arguments_are_no_failed_call(chat: Chat) -> None:
    for _ in range(3):
        refused(look_up(chat, "B-0", guest_name=""), 422)
    assert count(chat.api.engine, "failures") == 0
