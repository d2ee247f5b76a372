"""A chat: an agent's calls over HTTP, and a worker in this process that runs what they ask for."""

from dataclasses import dataclass
from typing import Any

import httpx

from booking.results import Problem
from tests.api.checks import refused
from tests.api.serving import Api, bearer, stay
from tests.tasks.desk import Desk

NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Chat:
    """One agent and one worker. `away` is the same worker when the hotel system can't be reached."""

    api: Api
    desk: Desk
    away: Desk

    def call(self, *room_types: str, conversation: str = "c-77", key: str | None = None, **changes: Any) -> Any:
        """Ask for these rooms; the answer as it comes."""
        if len(room_types) == 1:
            body = {"tool": "create_booking", "arguments": stay(room_type=room_types[0], **changes)}
        else:
            rooms = [{"room_type": name} for name in room_types]
            body = {"tool": "book_rooms", "arguments": {**stay(**changes), "rooms": rooms}}
        return self.api.submit({**body, "conversation_id": conversation}, key)

    def ask(self, *room_types: str, away: bool = False, **how: Any) -> dict[str, Any]:
        """Ask, let the worker run it to its end, and look. `away`: until it has expired."""
        response = self.call(*room_types, **how)
        assert response.status_code == 202, response.text
        return self.work(response.json(), away=away)

    def work(self, intent: dict[str, Any], *, away: bool = False) -> dict[str, Any]:
        for item in intent["items"]:
            if item["state"] == "queued":
                if away:
                    self.away.run(item["id"])
                    self.away.later(item["id"], 3600, expire=True)
                else:
                    self.desk.run(item["id"])
        return self.look(intent["id"])

    def look(self, intent_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.api.poll(intent_id).json()
        return answer

    def stopped(self, *room_types: str, **how: Any) -> Problem:
        """Ask, and be refused."""
        return refused(self.call(*(room_types or ("family",)), **how), 409, "STOPPED")

    def conversation(self, name: str = "c-77") -> dict[str, Any]:
        answer: dict[str, Any] = self.api.http.get(f"/v1/conversations/{name}").json()
        return answer

    def put(self, body: Any, name: str = "c-77", scope: str = "host") -> httpx.Response:
        return self.api.http.put(f"/v1/conversations/{name}", json=body, headers=self.scope(scope))

    def lift(self, body: Any, name: str = "c-77", scope: str = "ops") -> httpx.Response:
        return self.api.http.post(f"/v1/conversations/{name}/lift", json=body, headers=self.scope(scope))

    def cancel(self, intent_id: str, scope: str = "agent") -> httpx.Response:
        return self.api.http.post(f"/v1/intents/{intent_id}/cancel", headers=self.scope(scope))

    def events(self, after: int = 0, limit: int = 100, scope: str = "host") -> dict[str, Any]:
        response = self.api.http.get("/v1/events", params={"after": after, "limit": limit}, headers=self.scope(scope))
        assert response.status_code == 200, response.text
        page: dict[str, Any] = response.json()
        return page

    def scope(self, name: str) -> dict[str, str]:
        """The header of a key with this scope."""
        return bearer({"agent": self.api.tenant.agent, "host": self.api.tenant.host, "ops": self.api.tenant.ops}[name])
