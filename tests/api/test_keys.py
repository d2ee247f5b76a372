"""Asking again: one key, one intent, and what counts as the same request."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.api.checks import refused
from tests.api.serving import Api, request, stay
from tests.api.work import book, lose, refuse, rows


def post(api: Api, body: str) -> httpx.Response:
    return api.http.post("/v1/intents", content=body)


@pytest.mark.parametrize("key", [None, "order-17"])
def test_case_37_fifty_equal_requests_at_once(api: Api, key: str | None) -> None:
    with ThreadPoolExecutor(50) as pool:
        responses = list(pool.map(lambda _: api.submit(key=key), range(50)))
    assert {response.status_code for response in responses} == {202}
    answers = [response.json() for response in responses]
    for answer in answers:
        del answer["expires_at"]  # asked again, it lives on from then
    assert all(answer == answers[0] for answer in answers)
    assert rows(api.engine) == {"conversations": 1, "intents": 1, "items": 1, "links": 1}


OTHERS = [
    request(room_type="suite"),
    request(notes="a quiet room"),
    {**request(), "conversation_id": "c-78"},
    {**request(), "tool": "book_rooms", "arguments": {"rooms": [stay()]}},
]


@pytest.mark.parametrize("finished", [False, True])
def test_case_38_same_key_other_request_is_422(api: Api, finished: bool) -> None:
    first = api.submit(key="order-17").json()
    if finished:
        book(api.engine, first["items"][0]["id"])
    before = rows(api.engine)
    for other in OTHERS:
        problem = refused(api.submit(other, key="order-17"), 422)
        assert problem.type == "urn:roomkey:problem:key_reused"
        for named in ("order-17", "create_booking", "c-77", first["id"]):
            assert named in problem.tool_error.message
        assert not problem.tool_error.retryable
    assert rows(api.engine) == before
    again = api.submit(key="order-17")
    assert again.json()["id"] == first["id"]
    assert again.json()["state"] == ("done" if finished else "pending")


def test_a_header_key_is_the_same_http_request(api: Api) -> None:
    first = api.submit(key="order-17")
    assert "idempotent-replayed" not in first.headers
    refuse(api.engine, first.json()["items"][0]["id"])
    again = api.submit(key="order-17")
    assert again.status_code == 202
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["outcome"] == "failed"  # told as it is, not tried again


def test_a_derived_key_asks_again_and_shows_it_pending(api: Api) -> None:
    first = api.submit().json()
    running = api.submit()
    assert running.json()["id"] == first["id"]
    assert "idempotent-replayed" not in running.headers
    refuse(api.engine, first["items"][0]["id"], "unavailable")
    again = api.submit()
    assert again.json()["id"] == first["id"]
    assert again.json()["state"] == "pending"
    assert [item["state"] for item in again.json()["items"]] == ["queued"]
    assert "idempotent-replayed" not in again.headers


@pytest.mark.parametrize("end", [book, lose])
def test_a_finished_call_is_answered_from_the_record(api: Api, end: Any) -> None:
    first = api.submit().json()
    end(api.engine, first["items"][0]["id"])
    again = api.submit()
    assert again.status_code == 202
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["id"] == first["id"]
    assert again.json()["items"][0]["state"] == ("succeeded" if end is book else "unknown")


def test_other_values_for_a_booking_that_exists_are_422_and_name_it(api: Api) -> None:
    first = api.submit().json()
    waiting = refused(api.submit(request(notes="late")), 422)
    assert "it is queued." in waiting.tool_error.message
    book(api.engine, first["items"][0]["id"], "B-9921")
    booked = refused(api.submit(request(notes="late")), 422)
    assert booked.type == "urn:roomkey:problem:other_values"
    assert "it is succeeded as B-9921." in booked.tool_error.message


def permuted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: permuted(value[name]) for name in reversed(value)}
    return value


def test_case_40_documented_equality(api: Api) -> None:
    price = {"amount": "10.10", "currency": "EUR"}
    guest = {"name": "Zoë  O'Hara", "email": "zoe@example.com"}
    base = request(adults=1, children=0, max_price=price, guest=guest)
    plain = json.dumps(base)
    same = {
        "permuted keys": json.dumps(permuted(base)),
        "spaces": json.dumps(base, indent=8),
        "no spaces": json.dumps(base, separators=(",", ":")),
        "raw UTF-8": json.dumps(base, ensure_ascii=False),
        "1.0": plain.replace('"adults": 1', '"adults": 1.0'),
        "1e0": plain.replace('"adults": 1', '"adults": 1e0'),
        "10.1": plain.replace('"10.10"', '"10.1"'),
        "10.1 as number": plain.replace('"10.10"', "10.1"),
        "10.10 as number": plain.replace('"10.10"', "10.10"),
        "null for absent": plain.replace('"adults"', '"notes": null, "quote_id": null, "adults"'),
        "a default left out": re.sub(r'"children": 0, ', "", plain),
        "decomposed": plain.replace("Zo\\u00eb", "Zoe\\u0308"),
        "blanks around": plain.replace("O'Hara", "O'Hara  "),
    }
    first = post(api, plain)
    assert first.status_code == 202, first.text
    for name, body in same.items():
        assert body != plain, name
        response = post(api, body)
        assert response.status_code == 202, (name, response.text)
        assert response.json()["id"] == first.json()["id"], name
    assert rows(api.engine)["items"] == 1


def test_case_40_what_differs_is_another_request(api: Api) -> None:
    assert api.submit().status_code == 202
    for other in (request(room_type="suite"), request(guest={"name": "Ben", "email": "anna.moser@example.com"})):
        assert api.submit(other).status_code == 202
    assert api.submit({**request(), "conversation_id": "c-78"}).status_code == 202
    assert rows(api.engine)["items"] == 4
    refused(api.submit(request(adults=1)), 422)


def test_a_batch_shares_its_rooms_with_a_single_call(api: Api) -> None:
    single = api.submit().json()
    batch = {**request(), "tool": "book_rooms", "arguments": {**stay(), "rooms": [{}, {"room_type": "suite"}]}}
    both = api.submit(batch)
    assert both.status_code == 202, both.text
    assert both.json()["id"] != single["id"]
    assert both.json()["items"][0]["id"] == single["items"][0]["id"]
    assert rows(api.engine)["items"] == 2
