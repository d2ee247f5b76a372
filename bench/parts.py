"""The parts that both sides share: Postgres, Valkey and the PMS stub, started here and stopped with us."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from bench.http import once
from cli.embedded.postgres import start_postgres
from cli.embedded.process import Child, Stopping, start
from cli.embedded.valkey import start_valkey

CHECKOUT = Path(__file__).resolve().parent.parent
_STOPPING = Stopping(((signal.SIGTERM, 10.0),))
_READY_WITHIN = 30.0  # seconds

T = TypeVar("T")


class Stub:
    """The running PMS stub."""

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self.pid = pid

    def control(self, **settings: int) -> None:
        """Set `delay_ms`, or `reset=1`."""
        query = "&".join(f"{name}={value}" for name, value in settings.items())
        self._ask("POST", f"/control?{query}")

    def stats(self) -> dict[str, Any]:
        """Calls, effects, look-ups."""
        counts: dict[str, Any] = json.loads(self._ask("GET", "/stats"))
        return counts

    def _ask(self, method: str, target: str) -> bytes:
        return asyncio.run(once(self.url, method, target)).body


@dataclass(frozen=True)
class Parts:
    """URLs and process ids of what runs."""

    folder: Path
    postgres: str
    valkey: str
    stub: Stub
    pids: dict[str, list[int]]

    def database(self, name: str) -> str:
        """The URL of a database of this server."""
        return f"{self.postgres.rsplit('/', 1)[0]}/{name}"

    def broker(self, number: int) -> str:
        """The URL of a numbered database of this Valkey."""
        return f"{self.valkey.rsplit('/', 1)[0]}/{number}"


@contextmanager
def running(folder: Path, say: Callable[[str], None]) -> Iterator[Parts]:
    """Start the three in `folder`, which others than root must be able to reach."""
    (folder / "logs").mkdir()
    # The number of connections is the one setting that isn't the default: two sides at once need more than 100.
    settings = {"max_connections": 400}
    with (
        start_postgres(folder / "postgres", settings=settings, say=say) as postgres,
        start_valkey(folder / "valkey", say=say) as valkey,
        module(folder, "stub", "bench.stub") as stub,
    ):
        url = wait_until(lambda: said(stub, "listening on "), stub)
        pids = {"postgres": [postgres.pid], "valkey": [valkey.pid], "stub": [stub.pid]}
        parts = Parts(folder, postgres.url, valkey.url, Stub(url, stub.pid), pids)
        with psycopg.connect(parts.database("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE baseline")
        yield parts


@contextmanager
def module(folder: Path, name: str, module_name: str, arguments: Sequence[str] = ()) -> Iterator[Child]:
    """A Python module of ours as a process that ends with the block, and with us."""
    command = [sys.executable, "-m", module_name, *arguments]
    child = start(name, command, stopping=_STOPPING, log=folder / "logs" / f"{name}.log", folder=CHECKOUT)
    try:
        yield child
    finally:
        child.stop()


def said(child: Child, prefix: str) -> str:
    """What follows `prefix` in the child's first line that begins so; empty until it has said it."""
    lines = (line for line in child.said().splitlines() if line.startswith(prefix))
    return next(lines, "").removeprefix(prefix)


def wait_until(look: Callable[[], T], *needed: Child, within: float = _READY_WITHIN, every: float = 0.05) -> T:
    """Call `look` until it returns something true; raises EmbeddedError when a needed child ends before."""
    deadline = time.monotonic() + within
    while not (seen := look()):
        for child in needed:
            if not child.running:
                raise child.failure()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{', '.join(child.name for child in needed) or 'it'} not ready within {within:.0f} s")
        time.sleep(every)
    return seen
