"""The play: two slow evenings, then a minute's outage, then the same evening without Roomkey."""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from bench import before, machine
from bench.friday import account
from bench.friday.hotel import Hotel, running_hotel
from bench.friday.house import House, running_house
from bench.friday.load import Agents, Told, steady
from bench.friday.plan import KEYED, LOOKUP, NEIGHBOUR, Plan, aims

Say = Callable[[str], None]
#: Parts of the play; conversations begin so.
_EVENINGS = {KEYED: "keyed", LOOKUP: "lookup"}
_OUTAGE, _NEIGHBOUR = "outage", "neighbour"
_BIN = 2.5  # seconds: latencies in the picture
_AT_ONCE = 16  # intents looked at together, at the end


class Play:
    """One run against one house."""

    def __init__(self, house: House, plan: Plan, other: Hotel, say: Say) -> None:
        self.house, self.plan, self.other, self.say = house, plan, other, say
        self.told = Told()
        self.agents = Agents(house, self.told)
        self.began = self.out = self.back = 0.0

    async def perform(self) -> before.Before:
        """All parts. The side without Roomkey plays while ours still works off what is left, counted only."""
        for property in (KEYED, LOOKUP):
            await self._evening(property)
        await self._minute()
        self.say("the same minute without Roomkey")
        (_, naive) = await asyncio.gather(self._rest(), self._without())
        return naive

    async def _evening(self, property: str) -> None:
        plan, name = self.plan, _EVENINGS[property]
        self.say(
            f"{name}: {plan.intents} intents at {plan.rate:g}/s on a slow hotel system that fails {plan.failing:.0%}"
        )
        await self.house.hotels[property].friday(plan)
        reads = int(plan.intents / plan.rate * plan.reads_rate)

        async def submit(number: int) -> None:
            await self.agents.submit(property, name, number)

        async def read(number: int) -> None:
            await self.agents.read(property, name, number)

        await asyncio.gather(steady(plan.rate, plan.intents, submit), steady(plan.reads_rate, reads, read))

    async def _minute(self) -> None:
        """Arrivals go on for the whole time, at this hotel system and at its neighbour."""
        plan, hotel = self.plan, self.house.hotels[KEYED]
        self.say(f"{plan.before:g} s as before, {plan.outage:g} s of outage, {plan.after:g} s after it")
        await self.house.hotels[NEIGHBOUR].slow(plan.neighbour_ms)
        self.began = time.time()

        async def submit(number: int) -> None:
            await self.agents.submit(KEYED, _OUTAGE, number)

        async def read(number: int) -> None:
            await self.agents.read(KEYED, _OUTAGE, number)

        async def neighbour(number: int) -> None:
            await self.agents.submit_and_wait(NEIGHBOUR, _NEIGHBOUR, number)

        async def weather() -> None:
            self.out, self.back = await self._weather(hotel)

        acts = ((plan.rate, submit), (plan.reads_rate, read), (plan.neighbour_rate, neighbour))
        await asyncio.gather(weather(), *(steady(rate, int(rate * plan.played), act) for rate, act in acts))

    async def _weather(self, hotel: Hotel) -> tuple[float, float]:
        """The outage; when it began and ended."""
        began = time.perf_counter()
        await asyncio.sleep(self.plan.before)
        await hotel.outage()
        out = time.time()
        await asyncio.sleep(began + self.plan.before + self.plan.outage - time.perf_counter())
        await hotel.friday(self.plan)
        return out, time.time()

    async def _without(self) -> before.Before:
        await self.other.open(KEYED)
        await self.other.friday(self.plan)
        self.other_began = time.time()
        found, _ = await asyncio.gather(before.play(self.other, KEYED, self.plan), self._weather(self.other))
        return found

    async def _rest(self) -> None:
        """Until no intent is open, or the time for it is over."""
        deadline = time.monotonic() + self.plan.rest_within
        with psycopg.connect(self.house.database, autocommit=True) as database:
            for name in (*_EVENINGS.values(), _OUTAGE, _NEIGHBOUR):
                # What is waited for is another process's.
                while account.still_open(database, name) and time.monotonic() < deadline:  # noqa: ASYNC110
                    await asyncio.sleep(0.5)

    async def figures(self, naive: before.Before) -> dict[str, Any]:
        """Everything counted."""
        ledgers = {property: await hotel.ledger() for property, hotel in self.house.hotels.items()}
        shown = await self._shown()
        with psycopg.connect(self.house.database, autocommit=True) as database:
            parts = {name: account.items(database, name) for name in (*_EVENINGS.values(), _OUTAGE, _NEIGHBOUR)}
            waits = account.writes(database, _OUTAGE)
        place = {**{name: property for property, name in _EVENINGS.items()}, _OUTAGE: KEYED, _NEIGHBOUR: NEIGHBOUR}
        calls = {name: account.calls_of(ledgers[place[name]], found) for name, found in parts.items()}
        every = [call for ledger in ledgers.values() for call in ledger]
        searches = sum(call["operation"] == "availability" for call in every if call["at"] < self.began)
        settled = [item.settled_at for item in parts[_OUTAGE] if item.settled_at is not None]
        reads = self._reads
        return {
            "write_calls_per_intent": {"keyed": calls["keyed"]["all"], "lookup-only": calls["lookup"]["all"]},
            "calls_per_intent": calls,
            "read_calls_per_read": searches / reads if reads else None,
            "reads": {
                "asked": self.told.reads,
                "answered": self.told.answered,
                "empty": self.told.empty,
                "refused": self.told.refused,
            },
            "most_effects_per_reference": max(account.effects(every).values(), default=0),
            "states": {name: account.truth(ledgers[place[name]], found, shown) for name, found in parts.items()},
            **self._outage(ledgers[KEYED], settled),
            "second_provider": (neighbour := self._neighbour()),
            "second_provider_slowdown": _slower(neighbour),
            "over_time": self._over_time(ledgers[KEYED], settled, waits),
            "without": await self._counted(naive),
        }

    @property
    def _reads(self) -> int:
        """Reads of the two evenings."""
        return 2 * int(self.plan.intents / self.plan.rate * self.plan.reads_rate)

    async def _shown(self) -> dict[str, dict[str, Any]]:
        shown, left = {}, iter(self.told.intents.items())

        async def some() -> None:
            for conversation, id in left:
                shown[conversation] = await self.agents.look(id)

        await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
        return shown

    def _outage(self, ledger: list[dict[str, Any]], settled: list[float]) -> dict[str, Any]:
        since = self.out + self.plan.settling
        times = [call["at"] for call in ledger]
        end = self.began + self.plan.played
        return {
            "outage_calls_per_s": account.rate(times, since, self.back),
            "outage_first_seconds_calls": sum(self.out <= at < since for at in times),
            "recovery_s": account.recovery(settled, self.back, self.plan.rate),
            "settled_per_s_after": account.rate(settled, end - self.plan.after / 2, end),
        }

    def _neighbour(self) -> dict[str, Any]:
        took = self.told.took
        return {
            "before": account.percentiles([one for at, one in took if at < self.out]),
            "outage": account.percentiles([one for at, one in took if self.out <= at < self.back]),
            "after": account.percentiles([one for at, one in took if at >= self.back]),
        }

    def _over_time(
        self, ledger: list[dict[str, Any]], settled: list[float], waits: list[tuple[float, float]]
    ) -> dict[str, Any]:
        began, seconds = self.began, self.plan.played
        return {
            "outage_from": self.out - began,
            "outage_until": self.back - began,
            "calls": account.per_second((call["at"] for call in ledger), began, seconds),
            "settled": account.per_second(settled, began, seconds),
            "write_latency": account.binned(waits, began, seconds, _BIN),
        }

    async def _counted(self, naive: before.Before) -> dict[str, Any]:
        ledger, plan = await self.other.ledger(), self.plan
        times = [call["at"] for call in ledger]
        made = account.effects(ledger)
        out = self.other_began + plan.before
        return {
            "asked": naive.asked,
            "told_done": naive.succeeded,
            "told_failed": naive.failed,
            "calls_per_question": len(ledger) / naive.asked,
            "outage_calls_per_s": account.rate(times, out + plan.settling, out + plan.outage),
            "booked_twice_or_more": sum(count > 1 for count in made.values()),
            "told_failed_but_booked": sum(not told and reference in made for reference, told in naive.told.items()),
            "calls": account.per_second(times, self.other_began, plan.played),
        }


def _slower(found: dict[str, Any]) -> dict[str, float | None]:
    """Percentiles in the outage (p50, p99) and after it, each by the one before it."""
    usual = found["before"]
    return {
        prefix + name: found[when][name] / usual[name] if usual[name] and found[when][name] else None
        for when, prefix in (("outage", ""), ("after", "after_"))
        for name in ("p50", "p99")
    }


def run(plan: Plan, say: Say) -> dict[str, Any]:
    """Play it; the findings as plain data."""
    at, began, busy, own = (
        datetime.now(UTC),
        time.monotonic(),
        machine.busy_seconds(),
        machine.cpu_seconds([os.getpid()]),
    )
    with tempfile.TemporaryDirectory(prefix="roomkey-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # Postgres may run as another user
        with running_house(folder, plan, say) as house, running_hotel(folder, "without", "lookup-only") as other:
            play = Play(house, plan, other, say)
            naive = asyncio.run(play.perform())
            found = asyncio.run(play.figures(naive))
            used = machine.cpu_seconds([os.getpid()]) - own
    seconds = time.monotonic() - began
    return {
        "scenario": "friday",
        "at": at.isoformat(timespec="seconds"),
        "seconds": seconds,
        "machine": machine.describe(),
        "foreign_cpu_share": max(machine.busy_seconds() - busy - used, 0.0) / seconds / machine.CPUS,
        "plan": {**asdict(plan), "latency": dict(plan.latency)},
        **found,
        "aims": [{**asdict(aim), "met": aim.met} for aim in aims(found)],
    }
