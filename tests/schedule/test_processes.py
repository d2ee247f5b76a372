"""Caretakers as they are run: processes of their own, with the tool that the calendar asks for."""

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dedupe.engine import Engine
from dedupe.schedule import Job, record
from dedupe.tenants import find_tenant
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.schedule import REMINDERS, reminders_of
from tests.conftest import Tenant
from tests.dedupe.rows import count, rows, url_of
from tests.schedule.hotels import at, hotel, intents, recorded
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
DAY = dt.timedelta(days=1)


@contextmanager
def process(module: str, *words: str, told: dict[str, Any], log: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of ours that is told something on its first line. It must end well."""
    with (
        log.open("w") as out,
        subprocess.Popen(
            [sys.executable, "-m", module, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=out,
            cwd=ROOT,
            text=True,
        ) as started,
    ):
        try:
            assert started.stdin is not None
            started.stdin.write(json.dumps(told) + "\n")
            started.stdin.flush()
            yield started
        finally:
            started.terminate()
    assert started.returncode == 0, log.read_text()


def test_case_36_processes_at_once_make_one_intent_a_date(
    engine: Engine, redis_url: str, tenant: Tenant, messages: Callable[[], int], tmp_path: Path
) -> None:
    there = hotel(days_ahead=30)
    now = at(there, "2026-06-30T10:00")
    record(engine, Job(tenant.id, "BER", REMINDERS), dt.date(2026, 6, 1), None)
    told = {
        "database_url": url_of(engine),
        "broker_url": redis_url,
        "properties": {"BER": there.model_dump(mode="json")},
        "now": now.isoformat(),
    }
    with ExitStack() as stack:
        lookers = [
            stack.enter_context(process("tests.schedule.looker", told=told, log=tmp_path / f"{number}.log"))
            for number in range(2)
        ]
        for looker in lookers:
            assert looker.stdout is not None
            assert looker.stdout.readline() == "ready\n"
        for looker in lookers:
            assert looker.stdin is not None
            looker.stdin.write("\n")
            looker.stdin.flush()
        made = [int(looker.communicate(timeout=60)[0]) for looker in lookers]
    assert sum(made) == len(intents(engine)) == count(engine, "items") == 29
    assert messages() <= 29, "a broker that is slow just now is left to the relay"
    assert [one.asked for one in rows(engine, "SELECT DISTINCT asked FROM intents")] == [1]
    assert len(recorded(engine, "BER")) == 30


def midday_zone(now: dt.datetime) -> str:
    """A zone in which it is about noon, so that no date ends while a test looks."""
    return f"Etc/GMT{now.hour - 12:+d}"


def test_a_caretaker_asks_for_what_was_missed_and_for_today(
    engine: Engine, redis_url: str, tenant: Tenant, tmp_path: Path
) -> None:
    now = dt.datetime.now(dt.UTC)
    there = hotel(midday_zone(now))
    today = now.astimezone(there.zone).date()
    record(engine, Job(tenant.id, "BER", REMINDERS), today - 3 * DAY, None)
    told = {
        "database_url": url_of(engine),
        "broker_url": redis_url,
        "properties": {"BER": there.model_dump(mode="json")},
    }
    with process("tests.crashing_worker", "caretaker", told=told, log=tmp_path / "log"):
        eventually(lambda: len(recorded(engine, "BER")) == 4, within=20)
    days = [f"{today - back * DAY}" for back in (3, 2, 1, 0)]
    assert recorded(engine, "BER") == list(zip(days, [False, False, True, True], strict=True))
    assert intents(engine) == [f"BER:{REMINDERS}:{day}" for day in days[2:]]


def test_what_the_calendar_asks_for_is_the_tool_itself(engine: Engine, tenant: Tenant) -> None:
    caller = find_tenant(engine, tenant.id)
    assert caller is not None
    now = dt.datetime(2026, 6, 8, 8, tzinfo=dt.UTC)
    asking = Asking(caller, "schedule:BER:2026-06-08", {"BER": hotel()}, now=now)
    asked = reminders_of(asking, "BER", dt.date(2026, 6, 9), "a key")
    assert (asked.tenant_id, asked.tool) == (tenant.id, REMINDERS)
    assert (asked.key_kind, asked.key) == ("schedule", "a key")
    assert asked.conversation_id == "schedule:BER:2026-06-08"
    same = TOOLS[REMINDERS].arguments.model_validate({"property": "BER", "date": "2026-06-09"})
    assert asked.wanted == TOOLS[REMINDERS].wanted(asking, same)
    assert asked.lifetime == 38 * 3600  # to the end of the 9th in Berlin: no chat's ten minutes
