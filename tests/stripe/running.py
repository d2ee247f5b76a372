"""The Stripe-shaped server as its own process, for tests: start it, steer it, read its books."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.processes import listening
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sk_test_roomkey"


class Stripe:
    """A running server. Every method is one control call; API calls go to `url` with `secret`."""

    def __init__(self, url: str, secret: str, pid: int) -> None:
        self.url = url
        self.secret = secret
        self.pid = pid
        self._http = httpx.Client(base_url=f"{url}/control", timeout=30)

    def seed(self, id: str, amount: int, currency: str = "eur", **more: Any) -> str:
        """A captured payment of so many minor units: an intent (pi_…) with its charge, or a charge (ch_…). Gives `id`.

        `more`: captured, refunded (minor units), disputed, refund_status, and paid=False for an intent without charge.
        """
        self._send("POST", "/payments", {"id": id, "amount": amount, "currency": currency, **more})
        return id

    def fault(self, kind: str, **rule: Any) -> None:
        """Hit the next calls with a trouble; see `tests.stripe.faults`."""
        self._send("POST", "/faults", {"kind": kind, **rule})

    def clear_faults(self) -> int:
        """Drop all faults; gives how many held calls went on."""
        return int(self._send("DELETE", "/faults"))

    def ledger(self, **fields: Any) -> list[dict[str, Any]]:
        """Calls received whose fields have these values, oldest first."""
        return _those(self._send("GET", "/ledger"), fields)

    def effects(self) -> list[dict[str, Any]]:
        """Calls that refunded something."""
        return self.ledger(effect=True)

    def refunds(self, **fields: Any) -> list[dict[str, Any]]:
        """Refunds as the API shows them, oldest first, whose fields have these values."""
        return _those(self._send("GET", "/refunds"), fields)

    def wait_held(self, count: int = 1, within: float = 5) -> None:
        """Until so many calls wait."""
        eventually(lambda: self._send("GET", "/held") >= count, within=within)

    def release(self) -> int:
        """Let held calls go on; gives how many."""
        return int(self._send("POST", "/release"))

    def advance(self, seconds: float) -> None:
        """Put the server's clock forward: keys grow old."""
        self._send("POST", "/clock", {"seconds": seconds})

    def reset(self) -> None:
        """Everything as at the start."""
        self._send("POST", "/reset")

    def close(self) -> None:
        self._http.close()

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        response = self._http.request(method, path, json=body)
        assert response.status_code == 200, response.text
        return response.json()


def _those(entries: list[dict[str, Any]], fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in entries if all(entry[name] == value for name, value in fields.items())]


@contextmanager
def start_stripe(secret: str = SECRET, key_life: float | None = None) -> Iterator[Stripe]:
    """A server on a free port, stopped at the end. `key_life`: seconds that it remembers a key; None: a day."""
    words = ["--secret", secret, *(["--key-life", str(key_life)] if key_life is not None else [])]
    with listening("tests.stripe.stub", *words) as (url, pid):
        stripe = Stripe(url, secret, pid)
        try:
            yield stripe
        finally:
            stripe.close()
