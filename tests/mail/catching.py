"""The mail catcher as its own process, for tests: start it, steer it, read what was sent to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.processes import listening


class Caught:
    """A running catcher. Mails go to `smtp_url`; people look at `url`."""

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self.pid = pid
        self._http = httpx.Client(base_url=url, timeout=30, trust_env=False)
        self.smtp_url = str(self._ask("GET", "/healthz")["smtp_url"])

    def mails(self, recipient: str | None = None) -> list[dict[str, Any]]:
        """Caught mails, oldest first: id, to, from, subject, message_id, text, html, received_at, headers."""
        listed: list[dict[str, Any]] = self._ask("GET", "/mails", recipient=recipient)["mails"]
        return listed

    def ledger(self, **filters: Any) -> list[dict[str, Any]]:
        """Attempts, oldest first: n, at, step (RCPT, DATA), sender, recipient, message_id, code, delivered.

        Filters: recipient, message_id, step, delivered, after.
        """
        listed: list[dict[str, Any]] = self._ask("GET", "/ledger", **filters)["attempts"]
        return listed

    def delivered(self, recipient: str | None = None) -> list[dict[str, Any]]:
        """What a real server would have delivered, whatever it answered."""
        return self.ledger(recipient=recipient, step="DATA", delivered=True)

    def fault(self, recipient: str | None = None, **rule: Any) -> str:
        """Add a rule: code, kind (refuse, refuse_data, lost_after_dot, accept), times, delay_ms, text. Gives its id."""
        return str(self._ask("POST", "/faults", {"recipient": recipient, **rule})["id"])

    def faults(self) -> list[dict[str, Any]]:
        """The rules in force, with their `hits`."""
        listed: list[dict[str, Any]] = self._ask("GET", "/faults")["faults"]
        return listed

    def clear_faults(self) -> None:
        self._ask("DELETE", "/faults")

    def clear(self) -> None:
        """Everything as at the start."""
        for path in ("/faults", "/mails", "/ledger"):
            self._ask("DELETE", path)

    def get(self, path: str) -> httpx.Response:
        """A page as it is."""
        return self._http.get(path)

    def post(self, path: str, body: Any) -> httpx.Response:
        """A call as it is."""
        return self._http.post(path, json=body)

    def close(self) -> None:
        self._http.close()

    def _ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        named = {name: value for name, value in query.items() if value is not None}
        response = self._http.request(method, path, json=body, params=named)
        assert response.status_code < 300, response.text
        return response.json() if response.content else None


@contextmanager
def start_catcher() -> Iterator[Caught]:
    """A catcher on free ports, stopped at the end."""
    with listening("providers.catcher", "--smtp-port", "0", "--http-port", "0") as (url, pid):
        caught = Caught(url, pid)
        try:
            yield caught
        finally:
            caught.close()
