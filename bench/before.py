"""The side without Roomkey: three layers that each try three times, on the same hotel system with the same faults.

What many agents run today, each layer sensible by itself: an HTTP client that repeats a call after a timeout or 503, a
tool wrapper that repeats the client's call, an agent framework that repeats the tool's. None knows of the others, so a
question can cost 27 calls. A booking carries its reference, as a good client's does, but no key and no look-up.
"""

import asyncio
import json
import random
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from bench.friday.hotel import Hotel
from bench.friday.load import booking, stay, steady
from bench.friday.plan import Plan
from bench.http import once

TRIES = 3
#: Waits before the second and third try, seconds, doubling, with full jitter: client, wrapper, a model's turn.
HTTP_WAIT, TOOL_WAIT, AGENT_WAIT = 0.2, 0.5, 1.0


class Failed(Exception):
    """A layer gave up."""


@dataclass
class Before:
    """What came of it. `took`: (begun at, seconds) of each call, cut at the timeout."""

    asked: int = 0
    succeeded: int = 0
    failed: int = 0
    took: list[tuple[float, float]] = field(default_factory=list)
    told: dict[str, bool] = field(default_factory=dict)


class Layers:
    """One agent's stack."""

    def __init__(self, hotel: Hotel, timeout: float, found: Before) -> None:
        self._hotel, self._timeout, self._found = hotel, timeout, found
        self._dice = random.Random(7)

    async def question(self, method: str, target: str, body: bytes | None) -> None:
        """What the guest asked for: up to 27 calls."""
        self._found.asked += 1
        try:
            await self._agent(method, target, body)
        except Failed:
            self._found.failed += 1
            raise
        self._found.succeeded += 1

    async def _agent(self, method: str, target: str, body: bytes | None) -> None:
        for left in reversed(range(TRIES)):
            try:
                return await self._tool(method, target, body)
            except Failed:
                await self._wait(AGENT_WAIT, left)
        raise Failed

    async def _tool(self, method: str, target: str, body: bytes | None) -> None:
        for left in reversed(range(TRIES)):
            try:
                return await self._client(method, target, body)
            except Failed:
                await self._wait(TOOL_WAIT, left)
        raise Failed

    async def _client(self, method: str, target: str, body: bytes | None) -> None:
        for left in reversed(range(TRIES)):
            at, began = time.time(), time.perf_counter()
            try:
                async with asyncio.timeout(self._timeout):
                    answer = await once(self._hotel.url, method, target, body)
                if answer.status < 300:
                    return
            except (OSError, TimeoutError, EOFError):
                pass
            finally:
                self._found.took.append((at, time.perf_counter() - began))
            await self._wait(HTTP_WAIT, left)
        raise Failed

    async def _wait(self, first: float, left: int) -> None:
        if left:
            await asyncio.sleep(self._dice.random() * first * 2.0 ** (TRIES - left))


async def play(hotel: Hotel, property: str, plan: Plan) -> Before:
    """The same arrivals over the same time; what still runs at its end is left."""
    found = Before()
    layers = Layers(hotel, plan.timeout, found)

    async def book(number: int) -> None:
        reference = secrets.token_hex(10)
        body: dict[str, Any] = {**booking(property, "before", number), "reference": reference}
        try:
            await layers.question("POST", "/v1/bookings", json.dumps(body).encode())
        except Failed:
            found.told[reference] = False
        else:
            found.told[reference] = True

    async def search(number: int) -> None:
        asked = stay(property, number)
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        try:
            await layers.question("GET", f"/v1/availability?{query}", None)
        except Failed:
            return

    try:
        async with asyncio.timeout(plan.played):
            async with asyncio.TaskGroup() as group:
                group.create_task(steady(plan.rate, int(plan.rate * plan.played), book))
                group.create_task(steady(plan.reads_rate, int(plan.reads_rate * plan.played), search))
    except TimeoutError:
        pass
    return found
