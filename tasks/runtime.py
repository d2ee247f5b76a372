"""What a worker process has at hand for every run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dedupe.engine import Engine
from providers.limiter import Limiter
from tasks.read import Reads
from tasks.wake import Waker


def _go_on(_step: str) -> None:
    """Between two steps of a run nothing happens; the crash tests put a SIGKILL here."""


@dataclass(frozen=True)
class Runtime:
    """Database, providers by name, the limiter before them, who wakes the pollers, and reads for expansions.

    A provider is of the kind that its operations need. `at` is told each step of a run as it is reached.
    """

    engine: Engine
    providers: Mapping[str, Any]
    limiter: Limiter
    waker: Waker
    at: Callable[[str], None] = _go_on

    @property
    def reads(self) -> Reads:
        """Reads at the hotel systems, under the same limits."""
        return Reads(self.providers, self.limiter)
