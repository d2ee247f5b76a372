"""The gate before a provider: how many calls at once, and a circuit breaker with single probes.

One algorithm in two places: `SharedGate` runs it in Redis for all processes, `LocalGate` in memory while Redis is away.

The breaker opens when, of the calls of the last seconds (weights halve every HALF_LIFE), at least MIN_CALLS ended and
half were sick. Open, it lets nobody through for OPEN_SECONDS; then one call is the probe: healthy closes it, sick opens
it anew. A probe that never comes back is given up after PROBE_SECONDS.
"""

import math
import threading
import time
import uuid
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from redis import Redis

HALF_LIFE = 5.0
MIN_CALLS = 8.0
SICK_SHARE = 0.5
OPEN_SECONDS = 1.0
PROBE_SECONDS = 3.0
#: How long to wait for a place among the calls at once.
FULL_SECONDS = 0.25


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

    `local`: given in this process alone, so the others need not hear of it.
    """

    token: str
    probe: bool
    local: bool = False


@dataclass(frozen=True)
class Closed:
    """No call now; ask again in `wait` seconds. `sick`: because the provider is in trouble, not because we are many."""

    wait: float
    cause: str
    sick: bool


class Gate(Protocol):
    """Lets calls through, or says how long to wait."""

    def enter(self, provider: str, concurrent: int | None, lease: float) -> Permit | Closed:
        """Ask for one call. A permit that isn't given back is void after `lease` seconds."""

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """Give the permit back, with what the call says of the provider."""


@dataclass
class _Breaker:
    """One provider's health in memory. Times are of the monotonic clock, seconds."""

    good: float = 0.0
    sick: float = 0.0
    counted_at: float = 0.0
    open_until: float = 0.0
    probe_until: float = 0.0
    permits: dict[str, float] = field(default_factory=dict)


class LocalGate:
    """The gate in this process alone."""

    def __init__(self) -> None:
        self._breakers: dict[str, _Breaker] = {}
        self._lock = threading.Lock()

    def enter(self, provider: str, concurrent: int | None, lease: float) -> Permit | Closed:
        """See `Gate.enter`."""
        now = time.monotonic()
        with self._lock:
            breaker = self._breakers.setdefault(provider, _Breaker())
            if breaker.open_until > now:
                return Closed(breaker.open_until - now, "breaker open", sick=True)
            probe = breaker.open_until > 0
            if probe and breaker.probe_until > now:
                return Closed(breaker.probe_until - now, "probing", sick=True)
            breaker.permits = {token: until for token, until in breaker.permits.items() if until > now}
            if concurrent is not None and len(breaker.permits) >= concurrent:
                return Closed(FULL_SECONDS, "too many calls at once", sick=False)
            if probe:
                breaker.probe_until = now + PROBE_SECONDS
            permit = Permit(uuid.uuid4().hex, probe, local=True)
            breaker.permits[permit.token] = now + lease
            return permit

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """See `Gate.leave`."""
        now, verdict = time.monotonic(), health.verdict
        with self._lock:
            breaker = self._breakers.setdefault(provider, _Breaker())
            breaker.permits.pop(permit.token, None)
            if verdict is Verdict.THROTTLED:
                breaker.open_until = max(breaker.open_until, now + max(health.retry_after, OPEN_SECONDS))
            elif permit.probe and verdict is Verdict.HEALTHY:
                self._breakers[provider] = _Breaker(permits=breaker.permits)
            elif permit.probe:
                breaker.open_until = now + OPEN_SECONDS
            elif verdict is not Verdict.NONE:
                _count(breaker, verdict, now)
            if permit.probe:
                breaker.probe_until = 0.0


def _count(breaker: _Breaker, verdict: Verdict, now: float) -> None:
    fade = math.pow(0.5, (now - breaker.counted_at) / HALF_LIFE)
    breaker.good = breaker.good * fade + (verdict is Verdict.HEALTHY)
    breaker.sick = breaker.sick * fade + (verdict is Verdict.SICK)
    breaker.counted_at = now
    total = breaker.good + breaker.sick
    if breaker.open_until == 0 and total >= MIN_CALLS and breaker.sick >= SICK_SHARE * total:
        breaker.open_until = now + OPEN_SECONDS


# KEYS: breaker (hash), permits (sorted set by expiry). ARGV: concurrent (0: no limit), lease, token, probe ms, full ms.
# Answers {1, probe} or {0, wait in ms, cause, sick}. The server's clock counts, so the processes' clocks needn't agree.
_ENTER = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local open_until = tonumber(redis.call('HGET', KEYS[1], 'open_until') or '0')
if open_until > now then return {0, open_until - now, 'breaker open', 1} end
local probe = open_until > 0
if probe then
  local probe_until = tonumber(redis.call('HGET', KEYS[1], 'probe_until') or '0')
  if probe_until > now then return {0, probe_until - now, 'probing', 1} end
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local limit = tonumber(ARGV[1])
if limit > 0 and redis.call('ZCARD', KEYS[2]) >= limit then
  return {0, tonumber(ARGV[5]), 'too many calls at once', 0}
end
if probe then redis.call('HSET', KEYS[1], 'probe_until', now + tonumber(ARGV[4])) end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), ARGV[3])
redis.call('PEXPIRE', KEYS[2], 3600000)
return {1, probe and 1 or 0}
"""

# KEYS as above. ARGV: token, probe (0/1), verdict, wait ms, open ms, half-life ms, least calls, sick share.
_LEAVE = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREM', KEYS[2], ARGV[1])
local probe, verdict = ARGV[2] == '1', ARGV[3]
local open_until = tonumber(redis.call('HGET', KEYS[1], 'open_until') or '0')
local open_ms = tonumber(ARGV[5])
redis.call('PEXPIRE', KEYS[1], 3600000)
if probe then redis.call('HDEL', KEYS[1], 'probe_until') end
if verdict == 'throttled' then
  redis.call('HSET', KEYS[1], 'open_until', math.max(open_until, now + math.max(tonumber(ARGV[4]), open_ms)))
elseif probe and verdict == 'healthy' then
  redis.call('DEL', KEYS[1])
elseif probe then
  redis.call('HSET', KEYS[1], 'open_until', now + open_ms)
elseif verdict ~= 'none' then
  local fade = 0.5 ^ ((now - tonumber(redis.call('HGET', KEYS[1], 'counted_at') or '0')) / tonumber(ARGV[6]))
  local good = tonumber(redis.call('HGET', KEYS[1], 'good') or '0') * fade + (verdict == 'healthy' and 1 or 0)
  local sick = tonumber(redis.call('HGET', KEYS[1], 'sick') or '0') * fade + (verdict == 'sick' and 1 or 0)
  redis.call('HSET', KEYS[1], 'good', tostring(good), 'sick', tostring(sick), 'counted_at', now)
  if open_until == 0 and good + sick >= tonumber(ARGV[7]) and sick >= tonumber(ARGV[8]) * (good + sick) then
    redis.call('HSET', KEYS[1], 'open_until', now + open_ms)
  end
end
return 1
"""


class SharedGate:
    """The gate for all processes on one Redis. Raises redis' errors; the caller falls back."""

    def __init__(self, redis: Redis) -> None:
        self._enter = redis.register_script(_ENTER)
        self._leave = redis.register_script(_LEAVE)

    def enter(self, provider: str, concurrent: int | None, lease: float) -> Permit | Closed:
        """See `Gate.enter`."""
        token = uuid.uuid4().hex
        arguments: list[str | int | float] = [concurrent or 0, _ms(lease), token, _ms(PROBE_SECONDS), _ms(FULL_SECONDS)]
        answer = self._enter(keys=_keys(provider), args=arguments)
        if answer[0]:
            return Permit(token, bool(answer[1]))
        return Closed(answer[1] / 1000, answer[2].decode(), sick=bool(answer[3]))

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """See `Gate.leave`."""
        arguments: list[str | int | float] = [
            permit.token,
            int(permit.probe),
            health.verdict.value,
            _ms(health.retry_after),
            _ms(OPEN_SECONDS),
            _ms(HALF_LIFE),
            MIN_CALLS,
            SICK_SHARE,
        ]
        self._leave(keys=_keys(provider), args=arguments)


def _keys(provider: str) -> list[str]:
    # One hash tag, so that a Redis cluster keeps both keys on one node.
    return [f"roomkey:{{{provider}}}:breaker", f"roomkey:{{{provider}}}:permits"]


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
