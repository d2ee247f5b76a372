"""Calls that wait: for a time, or until someone lets them go on."""

import asyncio
from dataclasses import dataclass
from typing import Any

from providers.simulator.ledger import Entry


@dataclass
class Waiting:
    """One call that waits now."""

    entry: Entry
    fault: str
    kind: str
    go: asyncio.Future[None]


class Held:
    """All waiting calls, by their number in the ledger."""

    def __init__(self) -> None:
        self._waiting: dict[int, Waiting] = {}

    async def hold(self, entry: Entry, fault: str, kind: str, ms: float | None) -> None:
        """Wait `ms` milliseconds, or until released if that is None."""
        loop = asyncio.get_running_loop()
        waiting = Waiting(entry, fault, kind, loop.create_future())
        timer = None if ms is None else loop.call_later(ms / 1000, _let_go, waiting)
        self._waiting[entry.n] = waiting
        try:
            await waiting.go
        finally:
            self._waiting.pop(entry.n, None)
            if timer is not None:
                timer.cancel()

    def release(self, fault: str | None = None, n: int | None = None) -> int:
        """Let calls go on: of one rule, one call, or all. Gives how many."""
        chosen = [
            waiting
            for waiting in self._waiting.values()
            if (fault is None or waiting.fault == fault) and (n is None or waiting.entry.n == n)
        ]
        for waiting in chosen:
            _let_go(waiting)
        return len(chosen)

    def shown(self) -> list[dict[str, Any]]:
        """As listed by `GET /held`, oldest first."""
        return [
            {
                "n": waiting.entry.n,
                "fault": waiting.fault,
                "kind": waiting.kind,
                "since": waiting.entry.at,
                "operation": waiting.entry.operation,
                "method": waiting.entry.method,
                "path": waiting.entry.path,
                "key": waiting.entry.key,
                "reference": waiting.entry.reference,
                "effect": waiting.entry.effect,
            }
            for waiting in self._waiting.values()
        ]


def _let_go(waiting: Waiting) -> None:
    if not waiting.go.done():
        waiting.go.set_result(None)
