"""Bookings beside a batch: how long one takes end to end, idle and with thousands of reminders queued.

Everything is what `roomkey up` starts, on the embedded servers. One booking is asked for after the other.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from bench import machine
from booking.settings import Provider, ProviderKind, Settings
from cli.config import DEMO_HOTELS
from cli.stack import Stack, start_stack

Say = Callable[[str], None]

#: The aim: p99 with the batch by p99 idle.
MOST = 1.5
_DAY = (datetime.now(UTC).date() + timedelta(days=3)).isoformat()
_OUT = (datetime.now(UTC).date() + timedelta(days=5)).isoformat()
_PATIENCE = 60.0  # seconds for one booking


@dataclass(frozen=True)
class Plan:
    """How much is measured. `latencies`: the hotel system's, as (p50, p99) in ms; (0, 0): as fast as it can."""

    reminders: int = 5000
    bookings: int = 300
    latencies: tuple[tuple[int, int], ...] = ((100, 300), (0, 0))


#: Enough to see that everything works; its numbers mean nothing.
QUICK = Plan(reminders=40, bookings=5, latencies=((0, 0),))


def run(plan: Plan, say: Say) -> dict[str, Any]:
    """Measure everything in the plan; the findings as plain data."""
    began = datetime.now(UTC)
    rounds = []
    for p50, p99 in plan.latencies:
        with tempfile.TemporaryDirectory(prefix="roomkey-bench-") as name:
            folder = Path(name)
            folder.chmod(0o755)  # Postgres may run as another user
            providers = {"pms": Provider(), "mail": Provider(kind=ProviderKind.SMTP)}
            settings = Settings(api_port=0, providers=providers, properties=DEMO_HOTELS)
            with start_stack(folder / "data", settings, on_progress=lambda _: None) as stack:
                rounds.append(_round(stack, plan, p50, p99, say))
    return {
        "scenario": "priorities",
        "at": began.isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "plan": asdict(plan),
        "rounds": rounds,
        "aims": [
            {"name": _named(one), "found": one["ratio_p99"], "most": MOST, "met": one["ratio_p99"] <= MOST}
            for one in rounds[:1]
        ],
    }


def _named(found: dict[str, Any]) -> str:
    return f"a booking's p99 beside the batch, by idle; hotel system p50 {found['pms_p50_ms']} ms"


def _round(stack: Stack, plan: Plan, p50: int, p99: int, say: Say) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {stack.keys['agent']}"}
    with (
        httpx.Client(base_url=stack.api_url, headers=headers, timeout=60) as api,
        httpx.Client(base_url=stack.pms_url, timeout=60) as pms,
    ):
        if p99:
            rule = {
                "kind": "latency",
                "match": {"operation": "create_booking"},
                "percentiles": {"p50": p50, "p99": p99},
            }
            pms.post("/faults", json=rule).raise_for_status()
        _seed(pms, plan.reminders)
        _bookings(api, "warm", 10)
        say(f"hotel system p50 {p50} ms: {plan.bookings} bookings, idle")
        idle = _bookings(api, "idle", plan.bookings)
        asked = _remind(api)
        _until_expanded(api, asked, plan.reminders)
        say(f"{plan.bookings} bookings beside {plan.reminders} reminders")
        began, busy_before = time.monotonic(), machine.busy_seconds()
        busy = _bookings(api, "busy", plan.bookings)
        seconds, used = time.monotonic() - began, machine.busy_seconds() - busy_before
        left = _poll(api, asked)["reminders"]
    return {
        "pms_p50_ms": p50,
        "pms_p99_ms": p99,
        "idle": _told(idle),
        "busy": _told(busy),
        "ratio_p50": _at(busy, 50) / _at(idle, 50),
        "ratio_p99": _at(busy, 99) / _at(idle, 99),
        "mails_per_s": left["sent"] / seconds,
        "reminders_left": left["to_send"],
        "cpu_used": used / seconds / machine.CPUS,
    }


def _seed(pms: httpx.Client, count: int) -> None:
    stay = {"property": "BER", "room_type": "double", "check_in": _DAY, "check_out": _OUT}
    for first in range(0, count, 500):
        numbers = range(first, min(first + 500, count))
        guests = [{"name": f"Guest Number {n}", "email": f"guest{n}@hotel-demo.com"} for n in numbers]
        pms.post("/seed", json={**stay, "guests": guests}).raise_for_status()


def _bookings(api: httpx.Client, name: str, count: int) -> list[float]:
    """Seconds from the request to the answer that it is booked, one booking after the other."""
    took = []
    for n in range(count):
        began = time.monotonic()
        guest = {"name": f"{name} guest {n}", "email": "guest@hotel-demo.com"}
        check_in = datetime.now(UTC).date() + timedelta(days=30 + 3 * (n % 100))
        arguments = {
            "property": "BER",
            "room_type": "double",
            "check_in": check_in.isoformat(),
            "check_out": (check_in + timedelta(days=2)).isoformat(),
            "guest": guest,
        }
        body = {"tool": "create_booking", "conversation_id": f"c-{name}-{n}", "arguments": arguments}
        intent = api.post("/v1/intents", json=body).raise_for_status().json()
        while intent["state"] == "pending" and time.monotonic() - began < _PATIENCE:
            intent = api.get(f"/v1/intents/{intent['id']}", params={"wait": 10}).raise_for_status().json()
        if intent["outcome"] != "succeeded":
            raise RuntimeError(f"a booking ended as {intent['outcome'] or intent['state']}")
        took.append(time.monotonic() - began)
    return took


def _remind(api: httpx.Client) -> str:
    arguments = {"property": "BER", "date": _DAY}
    body = {"tool": "send_checkin_reminders", "conversation_id": "c-mails", "arguments": arguments}
    return str(api.post("/v1/intents", json=body).raise_for_status().json()["id"])


def _poll(api: httpx.Client, intent_id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/v1/intents/{intent_id}", params={"items": "none"}).raise_for_status().json()
    return found


def _until_expanded(api: httpx.Client, intent_id: str, count: int) -> None:
    end = time.monotonic() + _PATIENCE
    while ((_poll(api, intent_id)["reminders"] or {}).get("arrivals", 0)) < count:
        if time.monotonic() > end:
            raise RuntimeError("the reminders were not expanded in time")
        time.sleep(0.2)


def _at(took: list[float], percent: int) -> float:
    return statistics.quantiles(took, n=100, method="inclusive")[percent - 1]


def _told(took: list[float]) -> dict[str, float]:
    return {"p50_ms": _at(took, 50) * 1000, "p99_ms": _at(took, 99) * 1000, "most_ms": max(took) * 1000}


def show(found: dict[str, Any], console: Console) -> None:
    """Print the table."""
    table = Table("hotel system p50 / p99", title="A booking end to end, ms", title_justify="left")
    for name in ("idle p50", "busy p50", "ratio", "idle p99", "busy p99", "ratio", "mails/s", "left", "CPU used"):
        table.add_column(name, justify="right")
    for one in found["rounds"]:
        idle, busy = one["idle"], one["busy"]
        figures = (idle["p50_ms"], busy["p50_ms"], one["ratio_p50"], idle["p99_ms"], busy["p99_ms"], one["ratio_p99"])
        rest = (f"{one['mails_per_s']:.0f}", str(one["reminders_left"]), f"{one['cpu_used']:.0%}")
        table.add_row(f"{one['pms_p50_ms']} / {one['pms_p99_ms']}", *(f"{figure:.2f}" for figure in figures), *rest)
    console.print(table)
