"""A small synchronous client: submit, wait, call."""

import time
import uuid
from types import TracebackType
from typing import Any, Self

import httpx

#: A long poll, seconds; the API holds it at most 30.
POLL_SECONDS = 25.0
#: Repeats of one request after a failure of the network alone; an answer, whatever it says, is never repeated.
REPEATS = 2


class RoomkeyError(Exception):
    """The API refused. `tool_error` is what the model is to be told: code, message, retryable, fix."""

    def __init__(self, status: int, tool_error: dict[str, Any]) -> None:
        super().__init__(str(tool_error.get("message", status)))
        self.status = status
        self.tool_error = tool_error


class Client:
    """One agent at one Roomkey. Safe to use from one thread at a time."""

    def __init__(self, url: str, key: str) -> None:
        # Its own retry is off: requests are repeated in `_send`, and only there.
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(5.0, read=POLL_SECONDS + 10),
            transport=httpx.HTTPTransport(retries=0),
        )

    def submit(self, tool: str, arguments: dict[str, Any], conversation_id: str) -> dict[str, Any]:
        """Hand in an intent; the answer means "accepted", not "done". Raises RoomkeyError, httpx.TransportError.

        The key is made once a call, so that repeating the request after a lost answer is the same request.
        """
        body = {"tool": tool, "arguments": arguments, "conversation_id": conversation_id}
        return self._send("POST", "/v1/intents", json=body, headers={"Idempotency-Key": uuid.uuid4().hex})

    def wait(self, intent_id: str, seconds: float = 60.0) -> dict[str, Any]:
        """The intent once it is done, or as it is after `seconds`."""
        end = time.monotonic() + seconds
        while True:
            left = max(0.0, min(POLL_SECONDS, end - time.monotonic()))
            intent = self._send("GET", f"/v1/intents/{intent_id}", params={"wait": round(left, 3)})
            if intent["state"] == "done" or time.monotonic() >= end:
                return intent

    def call(self, tool: str, arguments: dict[str, Any], conversation_id: str, seconds: float = 60.0) -> dict[str, Any]:
        """Submit, and wait for the end."""
        return self.wait(str(self.submit(tool, arguments, conversation_id)["id"]), seconds)

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        for left in range(REPEATS, -1, -1):
            try:
                answer = self._http.request(method, path, **request)
                break
            except httpx.TransportError:
                if left == 0:
                    raise
        content = answer.json() if "json" in answer.headers.get("content-type", "") else {}
        if answer.is_error:
            raise RoomkeyError(answer.status_code, content.get("tool_error", {}))
        return dict(content)
