"""What a side of the comparison is, and the baseline's load: in process, from 16 threads."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

from bench import baseline
from bench.parts import Parts, module, wait_until
from bench.work import Ask, asks

#: Who hands in at the same time, on both sides.
SUBMITTERS = 16
#: Items in flight, on both sides, over all worker processes.
SLOTS = 64


class Side(Protocol):
    """A system under measurement that is up."""

    name: str
    pids: dict[str, list[int]]

    def submit(self, work: Sequence[Ask]) -> list[float]:
        """Hand all of it in from SUBMITTERS at once; the seconds each took."""

    def done(self) -> int:
        """How many results are readable, ever."""

    def readable(self, work: Sequence[Ask]) -> int:
        """How many of these read as booked, each asked for by itself as its caller would."""

    def round_trips(self, work: Sequence[Ask]) -> list[float]:
        """One after the other: hand in, wait for the result; the seconds each took."""


class Baseline:
    """The hand-written side (see `baseline`)."""

    name = "baseline"

    def __init__(self, parts: Parts, pids: dict[str, list[int]]) -> None:
        self.pids = pids
        self._app = baseline.make_app(parts.broker(1), SUBMITTERS)
        self._table = baseline.Table(parts.database("baseline"))

    def submit(self, work: Sequence[Ask]) -> list[float]:
        """In process, as such systems are used."""
        left, took = iter(work), list[float]()
        lock = threading.Lock()

        def one() -> None:
            while True:
                with lock:
                    ask = next(left, None)
                if ask is None:
                    return
                began = time.perf_counter()
                baseline.submit(self._app, self._table, ask.conversation, ask.arguments)
                took.append(time.perf_counter() - began)

        threads = [threading.Thread(target=one) for _ in range(SUBMITTERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return took

    def done(self) -> int:
        """By the table."""
        return self._table.done()

    def readable(self, work: Sequence[Ask]) -> int:
        """By the table."""
        return sum(self._table.result(ask.conversation) is not None for ask in work)

    def round_trips(self, work: Sequence[Ask]) -> list[float]:
        """Polled every 2 ms: there is nothing to wait on."""
        return [self._round_trip(ask) for ask in work]

    def _round_trip(self, ask: Ask) -> float:
        began = time.perf_counter()
        baseline.submit(self._app, self._table, ask.conversation, ask.arguments)
        while self._table.result(ask.conversation) is None:
            if time.perf_counter() - began > 30:
                raise TimeoutError("the baseline's result never came")
            time.sleep(0.002)
        return time.perf_counter() - began


def create_table(parts: Parts) -> None:
    """Once a run."""
    baseline.Table(parts.database("baseline")).create()


@contextmanager
def running_baseline(parts: Parts, workers: int) -> Iterator[Baseline]:
    """The baseline with its slots spread over so many worker processes."""
    path = parts.folder / "baseline.json"
    database, broker = parts.database("baseline"), parts.broker(1)
    baseline.write_config(path, baseline.Config(database, broker, parts.stub.url, SLOTS // workers))
    with ExitStack() as stack:
        started = [
            stack.enter_context(module(parts.folder, f"baseline-worker-{number}", "bench.baseline", [str(path)]))
            for number in range(workers)
        ]
        side = Baseline(parts, {"worker": [child.pid for child in started]})
        warm(side, started)
        yield side


def warm(side: Side, needed: Sequence[object]) -> None:
    """Let every thread open its connections, and every code path be taken."""
    before, work = side.done(), asks(4 * SLOTS)
    side.submit(work)
    wait_until(lambda: side.done() >= before + len(work), *needed)  # type: ignore[arg-type]
