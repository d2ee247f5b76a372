"""A simulated hotel system: its faults and its ledger."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.friday.plan import Plan
from bench.http import once
from bench.parts import module, said, wait_until

_ROOMS = 1_000_000  # a room is never the reason


class Hotel:
    """One running simulator, asked past its contract."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url

    async def open(self, property: str) -> None:
        """Give it rooms enough."""
        await self._ask("POST", "/inventory", {"property": property, "room_type": "double", "rooms": _ROOMS})

    async def slow(self, milliseconds: float) -> None:
        """Every call takes so long."""
        await self._ask("POST", "/faults", {"kind": "latency", "ms": milliseconds})

    async def friday(self, plan: Plan) -> None:
        """Slow, and a share of calls answered 503. The same dice each time."""
        await self._ask("DELETE", "/faults")
        await self._ask("POST", "/faults", {"kind": "latency", "percentiles": dict(plan.latency), "seed": plan.seed})
        await self._ask("POST", "/faults", {"kind": "status", "share": plan.failing, "seed": plan.seed + 1})

    async def outage(self) -> None:
        """503 to everything, at once. Calls that were being waited for are let go: they succeed now."""
        await self._ask("DELETE", "/faults")
        await self._ask("POST", "/faults", {"kind": "status", "status": 503})

    async def ledger(self) -> list[dict[str, Any]]:
        """Calls received, oldest first; `at` in seconds since 1970."""
        calls: list[dict[str, Any]] = (await self._ask("GET", "/ledger"))["calls"]
        for call in calls:
            call["at"] = datetime.fromisoformat(call["at"]).timestamp()
        return calls

    async def _ask(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = await once(self.url, method, target, None if body is None else json.dumps(body).encode())
        if answer.status >= 300:
            raise RuntimeError(f"{self.name}: {method} {target} answered {answer.status} {answer.body!r}")
        return json.loads(answer.body)


@contextmanager
def running_hotel(folder: Path, name: str, mode: str) -> Iterator[Hotel]:
    """A simulator of its own process on a free loopback port."""
    arguments = ["--port", "0", "--mode", mode]
    with module(folder, f"hotel-{name}", "providers.simulator", arguments) as child:
        yield Hotel(name, wait_until(lambda: said(child, "listening on "), child))
