"""The agents: intents and reads at a steady rate, whatever becomes of them. One connection a request, no retry."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from bench.friday.house import House
from bench.http import Answer, once

_WAIT = 25  # seconds of a long poll


@dataclass
class Told:
    """What the agents were told. `intents`: conversation -> id; `took`: (submitted at, seconds until told)."""

    intents: dict[str, str] = field(default_factory=dict)
    took: list[tuple[float, float]] = field(default_factory=list)
    reads: int = 0
    answered: int = 0
    empty: int = 0
    refused: dict[str, int] = field(default_factory=dict)


async def steady(rate: float, count: int, act: Callable[[int], Awaitable[None]]) -> None:
    """`act` so often a second, whether the ones before have ended or not; returns when all have."""
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            await asyncio.sleep(max(began + number / rate - time.perf_counter(), 0))
            group.create_task(_awaited(act(number)))


async def _awaited(one: Awaitable[None]) -> None:
    await one


def stay(property: str, number: int) -> dict[str, Any]:
    """Two nights a month ahead."""
    arrival = date.today() + timedelta(days=30 + number % 200)  # noqa: DTZ011 - any day a month ahead
    days = {"check_in": arrival.isoformat(), "check_out": (arrival + timedelta(days=2)).isoformat()}
    return {"property": property, "room_type": "double", **days}


def booking(property: str, name: str, number: int) -> dict[str, Any]:
    """A booking for a guest of its own."""
    guest = {"name": f"Guest {name} {number}", "email": f"{name}-{number}@example.com"}
    return {**stay(property, number), "guest": guest}


class Agents:
    """Everybody who asks Roomkey."""

    def __init__(self, house: House, told: Told) -> None:
        self._house = house
        self._told = told

    async def submit(self, property: str, name: str, number: int) -> str:
        """Hand in one intent, in a conversation of its own; its id."""
        conversation = f"{name}-{number}"
        body = {
            "tool": "create_booking",
            "arguments": booking(property, name, number),
            "conversation_id": conversation,
        }
        answer = await self._ask("POST", "/v1/intents", body)
        if answer.status != 202:
            raise RuntimeError(f"not accepted: {answer.status} {answer.body!r}")
        self._told.intents[conversation] = id = str(json.loads(answer.body)["id"])
        return id

    async def submit_and_wait(self, property: str, name: str, number: int) -> None:
        """Hand in one and long-poll until it is told."""
        at, began = time.time(), time.perf_counter()
        id = await self.submit(property, name, number)
        while (await self.look(id, _WAIT))["state"] != "done":
            pass
        self._told.took.append((at, time.perf_counter() - began))

    async def look(self, id: str, wait: int = 0) -> dict[str, Any]:
        """The intent as it is told."""
        answer = await self._ask("GET", f"/v1/intents/{id}?wait={wait}")
        if answer.status != 200:
            raise RuntimeError(f"not told: {answer.status} {answer.body!r}")
        told: dict[str, Any] = json.loads(answer.body)
        return told

    async def read(self, property: str, name: str, number: int) -> None:
        """Search, once. There are always rooms, so an empty answer is a lie."""
        body = {"arguments": stay(property, number), "conversation_id": f"{name}-read-{number}"}
        self._told.reads += 1
        answer = await self._ask("POST", "/v1/reads/search_availability", body)
        found = json.loads(answer.body)
        if answer.status == 200:
            self._told.answered += 1
            self._told.empty += not found["result"]["offers"]
        else:
            code = str(found["tool_error"]["code"])
            self._told.refused[code] = self._told.refused.get(code, 0) + 1

    async def _ask(self, method: str, target: str, body: dict[str, Any] | None = None) -> Answer:
        sent = None if body is None else json.dumps(body).encode()
        return await once(self._house.api, method, target, sent, f"Authorization: Bearer {self._house.bearer}\r\n")
