"""Talks: an agent's calls about reservations over HTTP, and a worker in this process."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.changes.house import ANNA, CANCEL, CHANGE, A, Dates
from tests.guards.chat import Chat


@dataclass(frozen=True)
class Talk(Chat):
    """A chat about reservations and payments. `apart`: before the names of its conversations."""

    apart: str = ""

    def seed(self, dates: Dates = A, guest: dict[str, str] = ANNA, property: str = "BER") -> str:
        """A reservation that came in by another way; its number."""
        return self.desk.pms.seed(property, "double", *dates, [guest])[0]

    def tool(self, tool: str, conversation: str = "c-77", key: str | None = None, **arguments: Any) -> httpx.Response:
        """Ask for it; the answer as it comes."""
        body = {"tool": tool, "arguments": arguments, "conversation_id": self.apart + conversation}
        return self.api.submit(body, key)

    def done(self, tool: str, conversation: str = "c-77", key: str | None = None, **arguments: Any) -> dict[str, Any]:
        """Ask for it, let the worker run it, and look."""
        response = self.tool(tool, conversation, key, **arguments)
        assert response.status_code == 202, response.text
        return self.work(response.json())

    def change(self, number: str, dates: Dates, **how: Any) -> dict[str, Any]:
        return self.done(CHANGE, reservation_id=number, check_in=dates[0], check_out=dates[1], **how)

    def cancelled(self, number: str, **how: Any) -> dict[str, Any]:
        return self.done(CANCEL, reservation_id=number, **how)

    def verify(self, guest: dict[str, str] | None, conversation: str = "c-77") -> None:
        """The host names the guest of a conversation."""
        response = self.put({"guest": guest}, conversation)
        assert response.status_code == 200, response.text

    def put(self, body: Any, name: str = "c-77", scope: str = "host") -> httpx.Response:
        return super().put(body, self.apart + name, scope)

    def conversation(self, name: str = "c-77") -> dict[str, Any]:
        return super().conversation(self.apart + name)


def told(intent: dict[str, Any]) -> dict[str, Any]:
    """The error that the model is given."""
    error: dict[str, Any] = intent["error"]
    assert error is not None, intent
    return error
