"""Backpressure toward providers: the gate and the rate, shared in Redis, with a local share while Redis is away.

The rate is the `limits` library's. Concurrency and breaker are our own (`providers/gate*.py`): of the libraries looked
at none hands out a single probe across processes.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import ceil

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.storage.redis import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis import Redis
from redis.exceptions import RedisError

from booking.errors import ErrorCode
from booking.outcomes import Misconfigured, NotSent, Unknown
from providers.gate import Closed, Gate, Health, Permit, Verdict
from providers.gate_local import LocalGate
from providers.gate_shared import SharedGate

log = logging.getLogger("roomkey.limiter")

#: After a Redis failure the local share counts this long, so that not every call waits for Redis to time out.
LOCAL_SECONDS = 2.0
#: What one process may take of a declared limit while it can't ask the others.
LOCAL_SHARE = 0.25


@dataclass(frozen=True)
class Limits:
    """What a provider bears; None: nothing declared. `per_second` counts calls of any kind."""

    concurrent: int | None = None
    per_second: int | None = None

    def share(self) -> "Limits":
        """One process's part of it."""
        return Limits(_part(self.concurrent), _part(self.per_second))


def _part(limit: int | None) -> int | None:
    return None if limit is None else max(1, ceil(limit * LOCAL_SHARE))


@dataclass
class _Side:
    """One place where limits are kept: all processes' Redis, or this process's memory."""

    gate: Gate
    rate: SlidingWindowCounterRateLimiter

    def enter(self, provider: str, limits: Limits, lease: float, *, queues: bool) -> Permit | Closed:
        permit = self.gate.enter(provider, limits.concurrent, lease, queues=queues)
        if isinstance(permit, Closed) or limits.per_second is None:
            return permit
        try:
            passed = self.rate.hit(RateLimitItemPerSecond(limits.per_second), provider)
        except RedisError:
            with suppress(RedisError):  # nobody makes this call: the others shall not wait for its lease
                self.gate.leave(provider, permit, Health(Verdict.NONE))
            raise
        return permit if passed else self.gate.turn_away(provider, permit, limits.per_second, queues=queues)


class Limiter:
    """Asks Redis; this process's memory while Redis is away. Safe for many threads, never raises for the network."""

    def __init__(self, redis: Redis, limits: Mapping[str, Limits], clock: Callable[[], float] = time.monotonic) -> None:
        storage = RedisStorage("redis://", connection_pool=redis.connection_pool, key_prefix="roomkey:rate")
        self._shared = _Side(SharedGate(redis), SlidingWindowCounterRateLimiter(storage))
        self._local = _Side(LocalGate(clock), SlidingWindowCounterRateLimiter(MemoryStorage()))
        self._limits = limits
        self._clock = clock
        self._local_until = 0.0

    def enter(self, provider: str, lease: float, *, queues: bool = True) -> Permit | Closed:
        """Ask for one call of at most `lease` seconds.

        `queues`: who is turned away comes back after the wait, however long it is. A caller for whom somebody waits
        says False: it is told a short wait, and holds no place in the queue.
        """
        limits = self._limits.get(provider, Limits())
        if self._clock() >= self._local_until:
            try:
                return self._shared.enter(provider, limits, lease, queues=queues)
            except RedisError as failure:
                self._fall_back(failure)
        return self._local.enter(provider, limits.share(), lease, queues=queues)

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """Give the permit back with what the call says of the provider's health."""
        self._local.gate.leave(provider, permit, health)
        if permit.local or self._clock() < self._local_until:
            return
        try:
            self._shared.gate.leave(provider, permit, health)
        except RedisError as failure:
            self._fall_back(failure)

    def _fall_back(self, failure: RedisError) -> None:
        self._local_until = self._clock() + LOCAL_SECONDS
        log.warning("limits are local for %.0f s: %s", LOCAL_SECONDS, type(failure).__name__)


def health_of(outcome: object) -> Health:
    """What an outcome says of the provider's health. Found, absent, refused, listed: it answers, so it is well."""
    match outcome:
        case NotSent(alone=True):
            return Health(Verdict.HEALTHY)
        case NotSent(code=ErrorCode.RATE_LIMITED):
            return Health(Verdict.THROTTLED, outcome.retry_after or 0.0)
        case Misconfigured(certain=True):
            return Health(Verdict.NONE)  # that is about us; the provider gets paused
        case NotSent() | Unknown() | Misconfigured():
            return Health(Verdict.SICK)
        case _:
            return Health(Verdict.HEALTHY)
