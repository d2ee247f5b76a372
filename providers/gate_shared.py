"""The gate for all processes on one Redis. The server's clock counts, so the processes' clocks need not agree."""

import time
import uuid

from redis import Redis

from providers.gate import (
    CALL_SECONDS,
    CALL_WEIGHT,
    FULL_LEAST,
    FULL_MOST,
    HALF_LIFE,
    MIN_CALLS,
    OPEN_SECONDS,
    PROBE_SECONDS,
    RATE_MOST,
    RATE_PERIOD,
    SICK_SHARE,
    TOO_MANY_A_SECOND,
    TOO_MANY_AT_ONCE,
    Closed,
    Health,
    Permit,
)

# KEYS of all: breaker (hash), permits (sorted set by expiry), queue (hash). Times are in milliseconds.
_COMMON = """
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local function get(key, field, default) return tonumber(redis.call('HGET', key, field) or default) end
local function set(key, field, value)
  redis.call('HSET', key, field, string.format('%.3f', value))
  redis.call('PEXPIRE', key, 3600000)
end
local function slot(spacing, most, ahead)
  local next_free = get(KEYS[3], 'next_free', 0)
  local mine = math.min(math.max(next_free, now + ahead) + spacing, math.max(next_free, now + most))
  set(KEYS[3], 'next_free', mine)
  return math.min(mine - now, most)
end
local function take_back(token)
  redis.call('ZREM', KEYS[2], token)
  if redis.call('HGET', KEYS[1], 'probe') == token then redis.call('HDEL', KEYS[1], 'probe', 'probe_until') end
end
"""

# ARGV: token, concurrent (0: no limit), lease, queues (0/1), probe, least, most, a call's time.
# Answers {1, probe} or {0, wait, cause, sick}; Redis cuts the wait to whole milliseconds.
_ENTER = f"""{_COMMON}
local open_until = get(KEYS[1], 'open_until', 0)
if open_until > now then return {{0, math.ceil(open_until - now), 'breaker open', 1}} end
local probe = open_until > 0
if probe then
  local probe_until = get(KEYS[1], 'probe_until', 0)
  if probe_until > now then return {{0, math.ceil(probe_until - now), 'probing', 1}} end
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local limit = tonumber(ARGV[2])
if limit > 0 and redis.call('ZCARD', KEYS[2]) >= limit then
  local wait = tonumber(ARGV[6])
  if ARGV[4] == '1' then
    wait = math.max(wait, slot(get(KEYS[3], 'call', ARGV[8]) / limit, tonumber(ARGV[7]), 0))
  end
  return {{0, math.ceil(wait), '{TOO_MANY_AT_ONCE}', 0}}
end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[2], 3600000)
if probe then
  redis.call('HSET', KEYS[1], 'probe', ARGV[1])
  set(KEYS[1], 'probe_until', now + tonumber(ARGV[5]))
end
return {{1, probe and 1 or 0}}
"""

# ARGV: token, spacing, most, ahead, queues (0/1). Answers the wait.
_TURN_AWAY = f"""{_COMMON}
take_back(ARGV[1])
local spacing = tonumber(ARGV[2])
if ARGV[5] ~= '1' then return math.ceil(spacing) end
return math.ceil(slot(spacing, tonumber(ARGV[3]), tonumber(ARGV[4])))
"""

# ARGV: token, probe (0/1), verdict, retry after, open, half-life, least calls, sick share, the call's time, its weight,
# a call's time.
_LEAVE = f"""{_COMMON}
take_back(ARGV[1])
local probe, verdict = ARGV[2] == '1', ARGV[3]
if verdict == 'none' then return end
local call = get(KEYS[3], 'call', ARGV[11])
set(KEYS[3], 'call', call + tonumber(ARGV[10]) * (tonumber(ARGV[9]) - call))
local open_until = get(KEYS[1], 'open_until', 0)
local open = tonumber(ARGV[5])
if verdict == 'throttled' then
  set(KEYS[1], 'open_until', math.max(open_until, now + math.max(tonumber(ARGV[4]), open)))
elseif probe and verdict == 'healthy' then
  redis.call('DEL', KEYS[1])
elseif probe then
  set(KEYS[1], 'open_until', now + open)
else
  local fade = 0.5 ^ ((now - get(KEYS[1], 'counted_at', 0)) / tonumber(ARGV[6]))
  local good = get(KEYS[1], 'good', 0) * fade + (verdict == 'healthy' and 1 or 0)
  local sick = get(KEYS[1], 'sick', 0) * fade + (verdict == 'sick' and 1 or 0)
  set(KEYS[1], 'good', good)
  set(KEYS[1], 'sick', sick)
  set(KEYS[1], 'counted_at', now)
  if open_until == 0 and good + sick >= tonumber(ARGV[7]) and sick >= tonumber(ARGV[8]) * (good + sick) then
    set(KEYS[1], 'open_until', now + open)
  end
end
"""


class SharedGate:
    """A `providers.gate.Gate`. Raises redis' errors; the caller falls back."""

    def __init__(self, redis: Redis) -> None:
        self._enter = redis.register_script(_ENTER)
        self._turn_away = redis.register_script(_TURN_AWAY)
        self._leave = redis.register_script(_LEAVE)

    def enter(self, provider: str, concurrent: int | None, lease: float, *, queues: bool = True) -> Permit | Closed:
        """See `Gate.enter`."""
        token, entered = uuid.uuid4().hex, time.monotonic()
        seconds = (PROBE_SECONDS, FULL_LEAST, FULL_MOST, CALL_SECONDS)
        arguments: list[str | float] = [token, concurrent or 0, _ms(lease), int(queues), *map(_ms, seconds)]
        answer = self._enter(keys=_keys(provider), args=arguments)
        if answer[0]:
            return Permit(token, bool(answer[1]), entered)
        return Closed(answer[1] / 1000, answer[2].decode(), sick=bool(answer[3]))

    def turn_away(self, provider: str, permit: Permit, per_second: int, *, queues: bool = True) -> Closed:
        """See `Gate.turn_away`."""
        seconds = (RATE_PERIOD / per_second, RATE_MOST, RATE_PERIOD)
        wait = self._turn_away(keys=_keys(provider), args=[permit.token, *map(_ms, seconds), int(queues)])
        return Closed(wait / 1000, TOO_MANY_A_SECOND, sick=False)

    def leave(self, provider: str, permit: Permit, health: Health) -> None:
        """See `Gate.leave`."""
        took = time.monotonic() - permit.entered
        arguments: list[str | float] = [
            permit.token,
            int(permit.probe),
            health.verdict.value,
            *map(_ms, (health.retry_after, OPEN_SECONDS, HALF_LIFE)),
            *(MIN_CALLS, SICK_SHARE, _ms(took), CALL_WEIGHT, _ms(CALL_SECONDS)),
        ]
        self._leave(keys=_keys(provider), args=arguments)


def _keys(provider: str) -> list[str]:
    # One hash tag, so that a Redis cluster keeps them on one node.
    return [f"roomkey:{{{provider}}}:{name}" for name in ("breaker", "permits", "queue")]


def _ms(seconds: float) -> float:
    return seconds * 1000
