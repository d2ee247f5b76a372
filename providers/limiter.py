"""Backpressure toward providers: the gate and the rate, shared in Redis, with a local share while Redis is away.

The rate is the `limits` library's. Concurrency and breaker are our own (`providers/gate.py`): of the libraries looked
at none hands out a single probe across processes.
"""

import logging
import time
from collections.abc import Mapping
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
from providers.gate import Closed, Gate, Health, LocalGate, Permit, SharedGate, Verdict

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

    def enter(self, provider: str, limits: Limits, lease: float) -> Permit | Closed:
        permit = self.gate.enter(provider, limits.concurrent, lease)
        if isinstance(permit, Closed) or limits.per_second is None:
            return permit
        if self.rate.hit(RateLimitItemPerSecond(limits.per_second), provider):
            return permit
        self.gate.leave(provider, permit, Health(Verdict.NONE))
        return Closed(1.0 / limits.per_second, "too many calls a second", sick=False)


class Limiter:
    """Asks Redis; this process's memory while Redis is away. Safe for many threads, never raises for the network."""

    def __init__(self, redis: Redis, limits: Mapping[str, Limits]) -> None:
        storage = RedisStorage("redis://", connection_pool=redis.connection_pool, key_prefix="roomkey:rate")
        self._shared = _Side(SharedGate(redis), SlidingWindowCounterRateLimiter(storage))
        self._local = _Side(LocalGate(), SlidingWindowCounterRateLimiter(MemoryStorage()))
        self._limits = limits
        self._local_until = 0.0

    def enter(self, provider: str, lease: float) -> Permit | Closed:
        """Ask for one call of at most `lease` seconds."""
        limits = self._limits.get(provider, Limits())
        if time.monotonic() >= self._local_until:
            try:
                return self._shared.enter(provider, limits, lease)
            except RedisError as failure:
                self._fall_back(failure)
        return self._local.enter(provider, limits.share(), lease)

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """Give the permit back with what the call says of the provider's health."""
        self._local.gate.leave(provider, permit, health)
        if permit.local or time.monotonic() < self._local_until:
            return
        try:
            self._shared.gate.leave(provider, permit, health)
        except RedisError as failure:
            self._fall_back(failure)

    def _fall_back(self, failure: RedisError) -> None:
        self._local_until = time.monotonic() + LOCAL_SECONDS
        log.warning("limits are local for %.0f s: %s", LOCAL_SECONDS, type(failure).__name__)


def health_of(outcome: object) -> Health:
    """What an outcome says of the provider's health. Found, absent, refused, listed: it answers, so it is well."""
    match outcome:
        case NotSent(code=ErrorCode.RATE_LIMITED):
            return Health(Verdict.THROTTLED, outcome.retry_after or 0.0)
        case Misconfigured(certain=True):
            return Health(Verdict.NONE)  # that is about us; the provider gets paused
        case NotSent() | Unknown() | Misconfigured():
            return Health(Verdict.SICK)
        case _:
            return Health(Verdict.HEALTHY)
