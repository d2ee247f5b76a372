"""Throughput and unloaded latency: Roomkey over HTTP beside the hand-written baseline, interleaved in one run."""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import machine
from bench.http import once
from bench.parts import Parts, Stub, running, wait_until
from bench.roomkey_side import create_tenant, running_roomkey
from bench.sides import SLOTS, SUBMITTERS, Side, create_table, running_baseline
from bench.work import Ask, asks

Say = Callable[[str], None]

_BURST_WITHIN = 120.0  # seconds
_TURN = 10  # round trips of one side before the other's
_PAUSE = 0.3  # between two bursts: what the last one left behind ends


@dataclass(frozen=True)
class Plan:
    """How much is measured. `layouts`: numbers of worker processes; the slots are spread over them."""

    n: int = 1500
    delays_ms: Sequence[int] = (0, 50, 300)
    repeats: int = 3
    layouts: Sequence[int] = (1, 2)
    trips: int = 200


#: Enough to see that everything works; its numbers mean nothing.
QUICK = Plan(n=40, delays_ms=(0,), repeats=1, layouts=(1,), trips=10)
#: What `roomkey up` starts: one worker process with all the threads.
DEFAULT_LAYOUT = 1


@dataclass(frozen=True)
class Burst:
    """N intents at once on one side. CPU is in seconds a thousand intents, by process tree."""

    side: str
    workers: int
    delay_ms: int
    n: int
    seconds: float
    per_second: float
    submit_p50_ms: float
    submit_p99_ms: float
    calls_per_intent: float
    lookups: int
    max_inflight: int
    readable: int
    cpu_s_per_1000: dict[str, float]
    foreign_cpu_share: float


@dataclass(frozen=True)
class Unloaded:
    """An idle system, one intent at a time, at 0 ms. `pms_alone`: a bare call to the stub, connection included."""

    side: str
    workers: int
    trips: int
    p50_ms: float
    p99_ms: float
    pms_alone_p50_ms: float
    above_pms_p50_ms: float
    above_pms_p99_ms: float


def run(plan: Plan, say: Say) -> dict[str, Any]:
    """Measure everything in the plan; the findings as plain data."""
    began = datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="roomkey-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # Postgres may run as another user
        with running(folder, say) as parts:
            bearer = create_tenant(parts)
            create_table(parts)
            measured = [_layout(plan, parts, bearer, workers, say) for workers in plan.layouts]
    return {
        "scenario": "throughput",
        "at": began.isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "plan": asdict(plan) | {"slots": SLOTS, "submitters": SUBMITTERS, "default_layout": DEFAULT_LAYOUT},
        "bursts": [asdict(burst) for bursts, _, _ in measured for burst in bursts],
        "unloaded": [asdict(trips) for _, unloaded, _ in measured for trips in unloaded],
        "memory": [memory for _, _, memory in measured],
    }


def _layout(
    plan: Plan, parts: Parts, bearer: str, workers: int, say: Say
) -> tuple[list[Burst], list[Unloaded], dict[str, Any]]:
    """Both sides up with this number of worker processes; each idles while the other works."""
    say(f"{workers} worker process(es) with {SLOTS // workers} threads: starting both sides")
    parts.stub.control(delay_ms=0, reset=1)
    ours: AbstractContextManager[Side] = running_roomkey(parts, workers, bearer)
    theirs: AbstractContextManager[Side] = running_baseline(parts, workers)
    with ours as roomkey, theirs as baseline:
        unloaded = _unloaded(plan, parts, (roomkey, baseline), workers, say)
        bursts = []
        for delay in plan.delays_ms:
            for repeat in range(plan.repeats):
                for side in (roomkey, baseline):
                    bursts.append(_burst(plan, parts, side, workers, delay))
                    say(
                        f"{workers} x {SLOTS // workers}, PMS {delay} ms, round {repeat + 1} of {plan.repeats}: "
                        f"{side.name} {bursts[-1].per_second:.0f} intents/s"
                    )
        memory = {"workers": workers} | {
            side.name: {
                tree: [asdict(process) for process in processes]
                for tree, processes in machine.memory_of(side.pids).items()
            }
            for side in (roomkey, baseline)
        }
        return bursts, unloaded, memory


def _burst(plan: Plan, parts: Parts, side: Side, workers: int, delay: int) -> Burst:
    work = asks(plan.n)
    parts.stub.control(delay_ms=delay, reset=1)
    time.sleep(_PAUSE)
    trees = {**side.pids, **parts.pids}
    before = side.done()
    cpu, busy, began = machine.cpu_of(trees), machine.busy_seconds(), time.perf_counter()
    took = side.submit(work)
    _wait_done(parts.stub, side, before, len(work))
    seconds = time.perf_counter() - began
    used = {name: value - cpu[name] for name, value in machine.cpu_of(trees).items()}
    foreign = machine.busy_seconds() - busy - sum(used.values())
    stats = parts.stub.stats()
    return Burst(
        side=side.name,
        workers=workers,
        delay_ms=delay,
        n=len(work),
        seconds=seconds,
        per_second=len(work) / seconds,
        submit_p50_ms=_percentile(took, 50),
        submit_p99_ms=_percentile(took, 99),
        calls_per_intent=stats["calls"] / len(work),
        lookups=stats["lookups"],
        max_inflight=stats["max_inflight"],
        readable=side.readable(work),
        cpu_s_per_1000={name: value * 1000 / len(work) for name, value in used.items()},
        foreign_cpu_share=max(foreign, 0.0) / seconds / machine.CPUS,
    )


def _wait_done(stub: Stub, side: Side, before: int, count: int) -> None:
    """The stub's count first, which is cheap; then the side's own."""
    wait_until(lambda: stub.stats()["effects"] >= count, within=_BURST_WITHIN, every=0.02)
    wait_until(lambda: side.done() >= before + count, within=_BURST_WITHIN, every=0.005)


def _unloaded(plan: Plan, parts: Parts, sides: Sequence[Side], workers: int, say: Say) -> list[Unloaded]:
    """A few round trips in turns, so that whatever else the machine does meets both sides and the bare call alike."""
    say(f"{plan.trips} round trips on each idle system")
    took: dict[str, list[float]] = {side.name: [] for side in sides}
    alone: list[float] = []
    for _ in range(0, plan.trips, _TURN):
        alone += asyncio.run(_alone(parts.stub.url, asks(_TURN)))
        for side in sides:
            took[side.name] += side.round_trips(asks(_TURN))
    pms = _percentile(alone, 50)
    return [_trips(name, workers, seconds, pms) for name, seconds in took.items()]


def _trips(side: str, workers: int, took: Sequence[float], pms: float) -> Unloaded:
    p50, p99 = _percentile(took, 50), _percentile(took, 99)
    return Unloaded(side, workers, len(took), p50, p99, pms, p50 - pms, p99 - pms)


async def _alone(url: str, work: Sequence[Ask]) -> list[float]:
    took = []
    for ask in work:
        body = json.dumps({**ask.arguments, "reference": ask.conversation}).encode()
        began = time.perf_counter()
        await once(url, "POST", "/v1/bookings", body)
        took.append(time.perf_counter() - began)
    return took


def _percentile(seconds: Sequence[float], percent: int) -> float:
    """In milliseconds."""
    if len(seconds) < 2:
        return seconds[0] * 1000
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1000
