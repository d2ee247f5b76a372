"""What a worker process has at hand for every run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dedupe.engine import Engine
from providers.limiter import Limiter
from providers.ports import Pms
from tasks.wake import Waker


def _go_on(_step: str) -> None:
    """Between two steps of a run nothing happens; the crash tests put a SIGKILL here."""


@dataclass(frozen=True)
class Runtime:
    """Database, providers by name, the limiter before them, and who wakes the pollers.

    `at` is told each step of a run as it is reached.
    """

    engine: Engine
    providers: Mapping[str, Pms]
    limiter: Limiter
    waker: Waker
    at: Callable[[str], None] = _go_on
