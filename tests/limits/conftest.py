"""The gate in both places, with a clock that tests can move."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import pytest
from redis import Redis

from providers.gate import Gate
from providers.gate_local import LocalGate
from providers.gate_shared import SharedGate
from tasks.wake import redis_client


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def time(self) -> float:
        """As the module `time` has it."""
        return self.now


@dataclass
class Place:
    """A gate, and how time passes there."""

    gate: Gate
    pass_time: Callable[[float], None]


def pass_redis_time(redis: Redis, seconds: float) -> None:
    """All that the gate keeps in Redis moves into the past."""
    for key in cast("list[bytes]", redis.keys("roomkey:{*")):
        if redis.type(key) == b"zset":
            for token, _ in cast("list[tuple[bytes, float]]", redis.zrange(key, 0, -1, withscores=True)):
                redis.zincrby(key, -seconds * 1000, token.decode())
            continue
        for name in ("open_until", "probe_until", "counted_at", "next_free"):
            if redis.hexists(key, name):
                redis.hincrbyfloat(key, name, -seconds * 1000)


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    with redis_client(redis_url) as client:
        yield client


@pytest.fixture(params=["shared", "local"])
def place(request: pytest.FixtureRequest) -> Place:
    """Each test runs in Redis and in memory."""
    if request.param == "shared":
        redis = request.getfixturevalue("redis")
        return Place(SharedGate(redis), lambda seconds: pass_redis_time(redis, seconds))
    clock = Clock()

    def move(seconds: float) -> None:
        clock.now += seconds

    return Place(LocalGate(clock), move)
