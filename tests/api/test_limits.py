"""How large a request may be."""

import json
import time
from collections.abc import Iterator

import httpx

from tests.api.checks import refused
from tests.api.serving import Api, request, stay
from tests.api.work import rows


def padded(size: int) -> bytes:
    body = json.dumps(request()).encode()
    return body + b" " * (size - len(body))


def chunks(size: int) -> Iterator[bytes]:
    """A body whose length isn't announced."""
    sent = 0
    while sent < size:
        yield b" " * 65_536
        sent += 65_536


def test_case_66_300_kb_are_accepted(api: Api) -> None:
    rooms = [stay(guest={"name": f"Guest {n}", "email": "g@example.com"}, notes="x" * 300) for n in range(700)]
    body = json.dumps({**request(), "tool": "book_rooms", "arguments": {"rooms": rooms}}).encode()
    assert 300_000 < len(body) < 1 << 20
    response = api.http.post("/v1/intents", content=body)
    assert response.status_code == 202, response.text
    assert len(response.json()["items"]) == 700
    assert rows(api.engine)["items"] == 700


def test_case_66_a_full_mebibyte_is_accepted_and_a_byte_more_is_not(api: Api) -> None:
    refused(api.http.post("/v1/intents", content=padded((1 << 20) + 1)), 413)
    assert rows(api.engine)["items"] == 0
    assert api.http.post("/v1/intents", content=padded(1 << 20)).status_code == 202


def test_case_66_too_large_bodies_are_refused_quickly(shared_api: Api) -> None:
    for size in (2_000_000, 60_000_000):
        for content in (b" " * size, chunks(size)):
            begun = time.monotonic()
            response = shared_api.http.post("/v1/intents", content=content)
            problem = refused(response, 413)
            assert "1 MiB" in problem.tool_error.message
            assert time.monotonic() - begun < 5
    assert rows(shared_api.engine)["items"] == 0


def test_a_thousand_rooms_are_accepted(api: Api) -> None:
    arguments = {**stay(), "rooms": [{}] * 1000}
    response = api.submit({**request(), "tool": "book_rooms", "arguments": arguments})
    assert response.status_code == 202, response.text
    assert len({item["id"] for item in response.json()["items"]}) == 1000


def test_a_slow_body_keeps_nobody_else_waiting(shared_api: Api) -> None:
    def stalled() -> Iterator[bytes]:
        yield b"{"
        assert shared_api.http.get("/healthz").status_code == 200
        yield b"}"

    with httpx.Client(base_url=shared_api.http.base_url, headers=shared_api.http.headers) as other:
        refused(other.post("/v1/intents", content=stalled()), 422)
