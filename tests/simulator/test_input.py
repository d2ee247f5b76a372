"""Whatever comes in: a refusal in the contract's shape, never a failure of the server."""

import json
from http.client import HTTPConnection
from typing import Any

import httpx
import pytest

from tests.pms import Pms
from tests.simulator.calls import book, error, stay

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"reference": None}, "reference"),
        ({"reference": "x" * 51}, "reference"),
        ({"reference": "a b"}, "reference"),
        ({"property": "PAR"}, "property"),
        ({"property": "../BER"}, "property"),
        ({"room_type": "igloo"}, "room_type"),
        ({"check_in": "2027-02-30"}, "check_in"),
        ({"check_in": "2027-03-05T00:00:00Z"}, "check_in"),
        ({"check_in": 1767225600}, "check_in"),
        ({"check_out": "2027-03-05"}, "check_out"),
        ({"check_out": "2047-03-05"}, "check_out"),
        ({"guest": {"name": "", "email": "a@b.example"}}, "guest.name"),
        ({"guest": {"name": "A\x00", "email": "a@b.example"}}, "guest.name"),
        ({"guest": {"name": "\ud800", "email": "a@b.example"}}, "guest.name"),
        ({"guest": {"name": "A", "email": "nobody"}}, "guest.email"),
        ({"guest": {"name": "A", "email": "a@b.example", "vip": True}}, "guest.vip"),
        ({"guest": "A"}, "guest"),
        ({"adults": 0}, "adults"),
        ({"adults": "2"}, "adults"),
        ({"adults": 5}, "adults"),
        ({"max_price": {"amount": "1.234"}}, "max_price.amount"),
        ({"max_price": float("nan")}, "max_price.amount"),
        ({"max_price": 10**400}, "max_price.amount"),
        ({"rate_plan": "gift"}, "rate_plan"),
        ({"quote_id": "Q-1"}, "quote_id"),
    ],
)
def test_a_field_that_can_not_be_used_is_named(
    pms: Pms, http: httpx.Client, changes: dict[str, Any], field: str
) -> None:

    response = http.post("/v1/bookings", content=json.dumps(stay(**changes)), headers=JSON)
    assert error(response) == (422, "invalid", field)
    assert pms.bookings() == []
    assert len(pms.ledger()) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"1e999",
        b"\xff\xfe",
        b"9" * 5000,
        b"[" * 100_000,
        b'{"reference":' * 5000,
        b'{"reference": 1e999, "adults": Infinity}',
    ],
)
def test_a_body_that_is_no_booking_is_malformed(pms: Pms, http: httpx.Client, content: bytes) -> None:
    status, code, _ = error(http.post("/v1/bookings", content=content, headers=JSON))
    assert status in (400, 422)
    assert code == "invalid"
    assert len(pms.ledger()) == 1


def test_a_body_must_say_that_it_is_json(http: httpx.Client) -> None:
    response = http.post("/v1/bookings", content=b"{}", headers={"content-type": "text/plain"})
    assert error(response) == (400, "invalid", None)
    assert "application/json" in response.json()["error"]["message"]


def test_a_body_has_a_limit(http: httpx.Client) -> None:
    assert error(book(http, notes="x" * 1_100_000)) == (413, "too_large", None)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/bookings/../../ledger",
        "/v1/bookings/%2e%2e%2f%2e%2e%2fledger",
        "/v1/bookings/B-1001%00",
        "/v1/bookings/%ff%fe",
        "/v1/bookings/..",
        "/v1/bookings/" + "x" * 5000,
        "/v1/bookings/B-1001/cancel/x",
        "/v1/",
        "/v1//bookings",
        "/v1/bookings/",
        "/v2/bookings",
        "/etc/passwd",
    ],
)
def test_paths_to_nowhere_are_not_found(pms: Pms, path: str) -> None:
    dates = {"check_in": "2027-03-05", "check_out": "2027-03-06"}
    # http.client sends the path as it is; httpx would tidy it up first.

    connection = HTTPConnection(pms.url.removeprefix("http://"), timeout=5)
    try:
        for method in ("GET", "POST", "PATCH", "DELETE"):
            connection.request(method, path, json.dumps(dates), JSON)
            response = connection.getresponse()
            response.read()
            assert response.status in (404, 405), (method, path, response.status)
    except ConnectionError:
        pytest.fail(f"{path} broke the connection")
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/v1/bookings", {}, "reference"),
        ("/v1/bookings", {"reference": "r-1", "x": "1"}, "x"),
        ("/v1/bookings", {"reference": "%"}, "reference"),
        ("/v1/availability", {"property": "BER", "check_in": "2027-03-05"}, "check_out"),
        ("/v1/availability", {"property": "X", "check_in": "2027-03-05", "check_out": "2027-03-06"}, "property"),
        ("/v1/availability", {"property": "BER", "check_in": "5.3.2027", "check_out": "2027-03-06"}, "check_in"),
        ("/v1/arrivals", {"property": "BER", "date": "today"}, "date"),
        ("/v1/arrivals", {"property": "BER", "date": "2027-03-05", "cursor": "B-\u0661"}, "cursor"),
        ("/v1/arrivals", {"property": "BER", "date": "2027-03-05", "limit": "0"}, "limit"),
    ],
)
def test_a_query_that_can_not_be_used_is_named(
    http: httpx.Client, path: str, query: dict[str, str], field: str
) -> None:
    assert error(http.get(path, params=query)) == (422, "invalid", field)


def test_a_key_has_a_length(pms: Pms, http: httpx.Client) -> None:
    assert error(book(http, key="")) == (400, "invalid", None)
    assert error(book(http, key="k" * 256)) == (400, "invalid", None)
    assert book(http, key="k" * 255).status_code == 201


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/mode", {"mode": "psychic"}, "mode"),
        ("/inventory", {"property": "BER", "room_type": "suite", "rooms": -1}, "rooms"),
        ("/inventory", {"property": "BER", "room_type": "suite", "rooms": 1, "from": "2027-03-05"}, "from"),
        ("/inventory", {"property": "BER", "room_type": "igloo", "rooms": 1}, "room_type"),
        ("/prices", {"property": "BER", "room_type": "suite", "amount": 0}, "amount"),
    ],
)
def test_controls_check_their_input_too(http: httpx.Client, path: str, body: dict[str, Any], field: str) -> None:
    assert error(http.post(path, json=body)) == (422, "invalid", field)
