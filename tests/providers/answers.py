"""Answers of a provider of the reference contract, and what they are taken for."""

import json
from datetime import UTC, datetime
from typing import Any

from providers.line import Reply
from providers.replies import classify_lookup, classify_write

NOW = datetime(2026, 12, 4, 18, 40, tzinfo=UTC)
OURS = "rkaaaaaaaaaaaaaaaaaa"
BOOKING: dict[str, Any] = {
    "booking_id": "B-9921",
    "reference": OURS,
    "status": "confirmed",
    "property": "BER",
    "room_type": "double",
    "check_in": "2026-12-24",
    "check_out": "2026-12-26",
    "guest": {"name": "Ada Lovelace", "email": "ada@example.com"},
}


def reply(status: int, body: Any = b"", **headers: str) -> Reply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


def error(code: str, **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": f"it is {code}", **more}}


def write(status: int, body: Any = b"", **headers: str) -> Any:
    return classify_write(reply(status, body, **headers), OURS, NOW)


def lookup(status: int, body: Any = b"", **headers: str) -> Any:
    return classify_lookup(reply(status, body, **headers), OURS, NOW)
