"""Retry over HTTP, and what tests say of it over and over."""

from typing import Any

import httpx
from sqlalchemy import Row

from dedupe.engine import Engine
from tests.dedupe.rows import rows, run
from tests.guards.chat import Chat


def retry(chat: Chat, intent_id: str, scope: str = "agent") -> httpx.Response:
    return chat.api.http.post(f"/v1/intents/{intent_id}/retry", headers=chat.scope(scope))


def retried(chat: Chat, intent: dict[str, Any]) -> dict[str, Any]:
    """Retry, which must run something again."""
    response = retry(chat, intent["id"])
    assert response.status_code == 202, response.text
    assert response.headers["location"] == f"/v1/intents/{intent['id']}"
    assert "idempotent-replayed" not in response.headers
    answer: dict[str, Any] = response.json()
    return answer


def replayed(chat: Chat, intent: dict[str, Any]) -> dict[str, Any]:
    """Retry, which must run nothing again."""
    response = retry(chat, intent["id"])
    assert response.status_code == 202, response.text
    assert response.headers["idempotent-replayed"] == "true"
    answer: dict[str, Any] = response.json()
    return answer


def unguarded(engine: Engine) -> None:
    """No conversation is stopped, however often its calls fail."""
    guards = '{"guards": {"same_call_failures": 100, "unavailable": 100}}'
    run(engine, "UPDATE tenants SET settings = CAST(:guards AS jsonb)", guards=guards)


def the_intent(engine: Engine, intent_id: str) -> Row[Any]:
    [row] = rows(engine, "SELECT *, expires_at - now() AS left FROM intents WHERE id = :id", id=intent_id)
    return row


def states(intent: dict[str, Any]) -> list[str]:
    return [item["state"] for item in intent["items"]]
