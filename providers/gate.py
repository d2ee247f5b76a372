"""The gate before a provider: how many calls at once, a circuit breaker with single probes, and who comes back when.

One algorithm in two places: `SharedGate` runs it in Redis for all processes, `LocalGate` in memory while Redis is away.

The breaker opens when, of the calls of the last seconds (weights halve every HALF_LIFE), at least MIN_CALLS ended and
half were sick. Open, it lets nobody through for OPEN_SECONDS; then one call is the probe: healthy closes it, sick opens
it anew, and one that was not made after all leaves its turn to the next. A probe that never comes back is given up
after PROBE_SECONDS.

Who is turned away because we are many is handed the next free slot, each a later one, so that a crowd comes back one by
one as places get free. Otherwise all of them would ask again at once, each time at the cost of a message and a commit.
A slot is a good moment, not a reservation: who finds it taken is handed another at the end.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

HALF_LIFE = 5.0
MIN_CALLS = 8.0
SICK_SHARE = 0.5
OPEN_SECONDS = 1.0
PROBE_SECONDS = 3.0
#: The least and the most that somebody waits for a place among the calls at once. A longer guess would rest too much on
#: how long calls take just now.
FULL_LEAST, FULL_MOST = 0.25, 10.0
#: How long a call takes until one has ended, and how much each call that ends changes that, seconds.
CALL_SECONDS = 0.5
CALL_WEIGHT = 0.2
#: The period of a rate, and the most that somebody waits for it.
RATE_PERIOD, RATE_MOST = 1.0, 60.0


class Verdict(StrEnum):
    """What a call says of its provider's health. A refused booking is healthy."""

    HEALTHY = "healthy"
    SICK = "sick"
    THROTTLED = "throttled"
    #: The call was not made after all.
    NONE = "none"


@dataclass(frozen=True)
class Health:
    """What one call says; `retry_after` is what a throttling provider asked for, seconds."""

    verdict: Verdict
    retry_after: float = 0.0


@dataclass(frozen=True)
class Permit:
    """The right to make one call. `probe`: it finds out whether a sick provider is well again.

    `entered` is by this process's monotonic clock. `local`: given by this process alone, so no other need hear of it.
    """

    token: str
    probe: bool
    entered: float
    local: bool = False


@dataclass(frozen=True)
class Closed:
    """No call now; ask again in `wait` seconds. `sick`: because the provider is in trouble, not because we are many."""

    wait: float
    cause: str
    sick: bool


TOO_MANY_AT_ONCE = "too many calls at once"
TOO_MANY_A_SECOND = "too many calls a second"


class Gate(Protocol):
    """Lets calls through, or says how long to wait.

    `queues`: whoever is turned away comes back at the time told, so that slot is handed to nobody else. Otherwise the
    least wait is told, and no slot is taken.
    """

    def enter(self, provider: str, concurrent: int | None, lease: float, *, queues: bool = True) -> Permit | Closed:
        """Ask for one call. A permit that isn't given back is void after `lease` seconds."""

    def turn_away(self, provider: str, permit: Permit, per_second: int, *, queues: bool = True) -> Closed:
        """Take a permit back unused, since the rate of `per_second` is used up."""

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """Give the permit back, with what the call says of the provider."""
