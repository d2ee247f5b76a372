"""The mail server's side of the play: refuses, delays and loses, and knows what was really delivered."""

import httpx


class Post:
    """Control of a running mail catcher."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=10)

    def ask_to_come_back(self, recipient: str) -> None:
        """Answer the next mail for `recipient` with 451."""
        self._fault({"recipient": recipient, "code": 451, "times": 1})

    def lose_the_answer(self, recipient: str) -> None:
        """Deliver mails for `recipient` and hang up instead of saying so."""
        self._fault({"recipient": recipient, "kind": "lost_after_dot"})

    def delivered(self) -> list[str]:
        """The address of every mail that was delivered."""
        answer = self._http.get("/ledger", params={"step": "DATA", "delivered": True}).raise_for_status()
        return [attempt["recipient"] for attempt in answer.json()["attempts"]]

    def attempts(self) -> int:
        """How many mails were tried."""
        answer = self._http.get("/ledger", params={"step": "RCPT"}).raise_for_status()
        return len(answer.json()["attempts"])

    def close(self) -> None:
        """Let the control connection go."""
        self._http.close()

    def _fault(self, rule: dict[str, object]) -> None:
        self._http.post("/faults", json=rule).raise_for_status()
