"""Bad input: one clear refusal that names the field, and nothing stored."""

import datetime as dt
import json
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from tests.api.checks import refused
from tests.api.serving import Api, request, stay
from tests.api.work import rows

GUEST = {"name": "Anna Moser", "email": "anna.moser@example.com"}


def post(api: Api, content: str | bytes) -> httpx.Response:
    return api.http.post("/v1/intents", content=content)


def nothing_stored(api: Api) -> None:
    assert set(rows(api.engine).values()) == {0}


FIELDS: list[tuple[str, Any, str, str]] = [
    ("unknown tool", {**request(), "tool": "book_room"}, '"book_room"', "create_booking, book_rooms"),
    ("tool as number", {**request(), "tool": 5}, "tool", "must be text"),
    ("tool missing", {"arguments": {}, "conversation_id": "c"}, "tool", "is required"),
    ("arguments as list", {**request(), "arguments": []}, "arguments", "must be an object"),
    ("conversation with a slash", {**request(), "conversation_id": "a/b"}, "conversation_id", "pattern"),
    ("conversation too long", {**request(), "conversation_id": "a" * 129}, "conversation_id", "at most 128"),
    ("unknown field of the body", {**request(), "extra": 1}, "extra", "known are tool, arguments, conversation_id"),
    ("missing field", request(room_type=None), "room_type", "is required"),
    ("missing guest name", request(guest={"email": "a@example.com"}), "guest.name", "is required"),
    ("unknown field", request(rooms_type="x"), "rooms_type", "room_type"),
    ("unknown field of the guest", request(guest={**GUEST, "age": 5}), "guest.age", "known are name, email, phone"),
    ("no such hotel", request(property="XXX"), "property", "must be one of AKL, BER, HNL"),
    ("no such date", request(check_in="2030-02-30"), "check_in", "YYYY-MM-DD"),
    ("date with time", request(check_in="2030-02-03T10:00:00Z"), "check_in", "YYYY-MM-DD"),
    ("date as number", request(check_in=1767225600), "check_in", "YYYY-MM-DD"),
    ("out before in", request(check_in="2030-02-03", check_out="2030-02-01"), "check_out", "after check_in"),
    ("out on the same day", request(check_in="2030-02-03", check_out="2030-02-03"), "check_out", "after check_in"),
    ("in the past", request(check_in="2020-02-03", check_out="2020-02-05"), "check_in", "in the past"),
    ("too far ahead", request(check_in="2999-02-03", check_out="2999-02-05"), "check_in", "within"),
    ("too many nights", request(check_out="2999-02-05"), "check_out", "365 nights"),
    ("no e-mail", request(guest={**GUEST, "email": "anna"}), "guest.email", "email"),
    ("no adults", request(adults=0), "adults", "at least 1"),
    ("a crowd", request(adults=10**300), "adults", "at most 20"),
    ("half a child", request(children=0.5), "children", "whole number"),
    ("negative price", request(max_price={"amount": "-1", "currency": "EUR"}), "max_price.amount", "at least 0"),
    ("price not finite", request(max_price={"amount": "NaN", "currency": "EUR"}), "max_price.amount", "finite"),
    ("price in words", request(max_price={"amount": "ten", "currency": "EUR"}), "max_price.amount", "decimal"),
    ("no currency", request(max_price={"amount": "1", "currency": "euro"}), "max_price.currency", "pattern"),
    ("long note", request(notes="x" * 2001), "notes", "at most 2000"),
    ("name of blanks", request(guest={**GUEST, "name": "   "}), "guest.name", "empty"),
    ("two lines", request(guest={**GUEST, "name": "a\nb"}), "guest.name", "one line"),
    ("NUL", request(guest={**GUEST, "name": "a\0b"}), "guest.name", "NUL"),
    ("NUL in the tool", {**request(), "tool": "a\0"}, "tool", "NUL"),
    ("lone surrogate", request(notes="a\ud800b"), "notes", "surrogates"),
    ("lone surrogate as a name", request(**{"x\udfff": 1}), "x\\udfff", "surrogates"),
    ("no rooms", {**request(), "tool": "book_rooms", "arguments": {"rooms": []}}, "rooms", "at least 1"),
    ("rooms missing", {**request(), "tool": "book_rooms", "arguments": {}}, "rooms", "is required"),
    (
        "room 3 without a date",
        {**request(), "tool": "book_rooms", "arguments": {"rooms": [stay()] * 3 + [stay(check_in=None)]}},
        "rooms[3].check_in",
        "is required",
    ),
    (
        "2,000 rooms",
        {**request(), "tool": "book_rooms", "arguments": {"rooms": [stay()] * 2000}},
        "rooms",
        "at most 1000 entries",
    ),
    (
        "100,000 rooms",
        {**request(), "tool": "book_rooms", "arguments": {"rooms": [{}] * 100_000}},
        "rooms",
        "at most 1000 entries",
    ),
]


@pytest.mark.parametrize(("body", "field", "allowed"), [row[1:] for row in FIELDS], ids=[row[0] for row in FIELDS])
def test_a_wrong_field_is_named_with_what_is_allowed(shared_api: Api, body: Any, field: str, allowed: str) -> None:
    problem = refused(post(shared_api, json.dumps(body)), 422)
    message = problem.tool_error.message
    assert field in message
    assert allowed in message
    assert problem.tool_error.retryable
    if problem.errors:
        assert problem.errors[0].field == field
    assert GUEST["email"] not in message
    assert len(message) < 600
    nothing_stored(shared_api)


MALFORMED = [
    ("empty", b"", "not JSON"),
    ("cut off", b'{"tool": "create_bo', "not JSON"),
    ("an array", b"[]", "not a JSON object"),
    ("a string", b'"x"', "not a JSON object"),
    ("null", b"null", "not a JSON object"),
    ("NaN", b'{"tool": NaN}', "NaN"),
    ("Infinity", b'{"tool": -Infinity}', "Infinity"),
    ("a number beyond floats", b'{"tool": 1e999}', "too large"),
    ("a number of many digits", b'{"tool": ' + b"9" * 5000 + b"}", "digits"),
    ("a name twice", b'{"tool": "a", "tool": "b"}', '"tool" is given twice'),
    ("a name twice inside", b'{"arguments": {"x": {"y": 1, "y": 1}}}', '"y" is given twice'),
    ("not UTF-8", b'{"tool": "\xff"}', "not UTF-8"),
    ("a raw surrogate", b'{"tool": "\xed\xa0\x80"}', "not UTF-8"),
    ("a byte order mark", b'\xef\xbb\xbf{"tool": "a"}', "not JSON"),
    ("UTF-16", '{"tool": "a"}'.encode("utf-16"), "not UTF-8"),
    ("deep lists", b'{"tool": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    ("deep objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
    ("two values", b"{} {}", "not JSON"),
]


@pytest.mark.parametrize(("body", "why"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED])
def test_a_malformed_body_is_refused_with_the_reason(shared_api: Api, body: bytes, why: str) -> None:
    assert why in refused(post(shared_api, body), 400).tool_error.message
    nothing_stored(shared_api)


@pytest.mark.parametrize("depth", [50, 400, 900])
def test_moderate_nesting_is_a_wrong_field(shared_api: Api, depth: int) -> None:
    nested = json.loads("[" * depth + "]" * depth)
    response = shared_api.submit(request(notes=nested))
    assert "notes: must be text" in refused(response, 422).tool_error.message
    nothing_stored(shared_api)


def test_all_wrong_fields_are_listed_and_the_first_is_told(shared_api: Api) -> None:
    response = shared_api.submit(request(room_type=None, adults=99, guest={"name": "", "email": "anna"}))
    problem = refused(response, 422)
    assert problem.errors is not None
    assert [one.field for one in problem.errors] == ["room_type", "guest.name", "guest.email", "adults"]
    assert problem.detail.startswith("4 fields are wrong. room_type: is required; ")
    assert problem.tool_error.message == "room_type: is required. You sent nothing."


def test_a_thousand_wrong_rooms_make_a_short_answer(shared_api: Api) -> None:
    rooms = [stay(property="XXX", adults=99)] * 1000
    response = shared_api.submit({**request(), "tool": "book_rooms", "arguments": {"rooms": rooms}})
    problem = refused(response, 422)
    assert problem.errors is not None
    assert len(problem.errors) == 20
    assert len(response.content) < 8000
    nothing_stored(shared_api)


def test_what_was_sent_is_shortened_and_escaped(shared_api: Api) -> None:
    problem = refused(shared_api.submit(request(check_in="\u202eevil\u0007" + "x" * 5000)), 422)
    assert problem.errors is not None
    assert problem.errors[0].sent.startswith('"\\u202eevil\\x07xxx')
    assert len(problem.errors[0].sent) < 120


@pytest.mark.parametrize(("hotel", "zone"), [("AKL", "Pacific/Auckland"), ("HNL", "Pacific/Honolulu")])
def test_the_past_begins_at_the_hotels_own_date(api: Api, hotel: str, zone: str) -> None:
    today = dt.datetime.now(ZoneInfo(zone)).date()

    def arriving(day: dt.date) -> httpx.Response:
        out = (today + dt.timedelta(days=5)).isoformat()
        return api.submit(request(property=hotel, check_in=day.isoformat(), check_out=out))

    assert "check_in" in refused(arriving(today - dt.timedelta(days=1)), 422).tool_error.message
    assert arriving(today).status_code == 202


@pytest.mark.parametrize("key", ["", "a" * 201, "a\tb", "Schlüssel".encode()])
def test_a_bad_idempotency_key_is_named(shared_api: Api, key: str | bytes) -> None:
    headers = {b"Idempotency-Key": key if isinstance(key, bytes) else key.encode()}
    response = shared_api.http.post("/v1/intents", json=request(), headers=headers)
    assert "Idempotency-Key" in refused(response, 422).tool_error.message
    nothing_stored(shared_api)


@pytest.mark.parametrize("wait", ["abc", "-1", "31", "nan", "1e9", ""])
def test_a_bad_wait_is_named(shared_api: Api, wait: str) -> None:
    response = shared_api.http.get(f"/v1/intents/int_0?wait={wait}")
    assert refused(response, 422).tool_error.message.startswith("wait: ")
