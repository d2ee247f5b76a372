"""Count statements and take times. The figures are logged: pytest tests/size -o log_cli=true -o log_cli_level=INFO"""

import gc
import logging
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from dedupe.engine import Engine

log = logging.getLogger("size")


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """All statements that Postgres is sent meanwhile, commits among them."""
    sent: list[str] = []

    def executed(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    def committed(_connection: Any) -> None:
        sent.append("COMMIT")

    event.listen(engine, "before_cursor_execute", executed)
    event.listen(engine, "commit", committed)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", executed)
        event.remove(engine, "commit", committed)


def seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def times(what: str, number: int, call: Callable[[], object]) -> list[float]:
    """Seconds of so many calls, sorted. What the tests keep in memory is no garbage to look through each time."""
    gc.collect()
    gc.freeze()
    try:
        taken = sorted(seconds(call) for _ in range(number))
    finally:
        gc.unfreeze()
    median, late = statistics.median(taken), taken[int(number * 0.95)]
    log.info("%s: median %.1f ms, p95 %.1f ms, best %.1f ms", what, median * 1e3, late * 1e3, taken[0] * 1e3)
    return taken
