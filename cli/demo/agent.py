"""The agent's side of the play: hands in intents over HTTP and polls. It never calls the hotel."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

HOTEL = "BER"
#: Longer than any scene: a demo that hangs is a failed demo.
PATIENCE = 45.0


def stay(guest: str) -> dict[str, Any]:
    """What all bookings of one guest share: two nights, two months ahead."""
    arrival = datetime.now(UTC).date() + timedelta(days=60)
    return {
        "property": HOTEL,
        "check_in": arrival.isoformat(),
        "check_out": (arrival + timedelta(days=2)).isoformat(),
        "guest": {"name": guest, "email": "guest@hotel-demo.com"},
    }


class Agent:
    """One agent with its bearer key."""

    def __init__(self, api_url: str, bearer: str) -> None:
        self._url = api_url
        self._headers = {"Authorization": f"Bearer {bearer}"}
        self._http = httpx.Client(base_url=api_url, headers=self._headers, timeout=40)

    def ask(self, conversation: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Hand in an intent; its answer is "accepted", not "done"."""
        answer = self._http.post("/v1/intents", json=_body(conversation, tool, arguments)).raise_for_status()
        intent: dict[str, Any] = answer.json()
        return intent

    def wait(self, intent: dict[str, Any]) -> dict[str, Any]:
        """Poll until the intent is done, or PATIENCE is over."""
        end = time.monotonic() + PATIENCE
        while intent["state"] == "pending" and time.monotonic() < end:
            answer = self._http.get(f"/v1/intents/{intent['id']}", params={"wait": 10}).raise_for_status()
            intent = answer.json()
        return intent

    def until(self, intent: dict[str, Any], settled: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Poll until `settled` says so, or PATIENCE is over."""
        end = time.monotonic() + PATIENCE
        while not settled(intent) and time.monotonic() < end:
            intent = self._http.get(f"/v1/intents/{intent['id']}", params={"wait": 1}).raise_for_status().json()
        return intent

    def ask_at_once(self, times: int, conversation: str, tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        """The same request `times` times in parallel, as a framework that re-runs its tools would send it."""

        async def all_at_once() -> list[dict[str, Any]]:
            async with httpx.AsyncClient(base_url=self._url, headers=self._headers, timeout=40) as http:
                body = _body(conversation, tool, arguments)
                answers = await asyncio.gather(*[http.post("/v1/intents", json=body) for _ in range(times)])
            return [answer.raise_for_status().json() for answer in answers]

        return asyncio.run(all_at_once())

    def close(self) -> None:
        """Let the connection go."""
        self._http.close()


def _body(conversation: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "conversation_id": conversation}
