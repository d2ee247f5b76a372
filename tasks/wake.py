"""Wake those who poll: after a settle, the ids of the intents concerned go out on a Redis channel.

A wake-up that gets lost costs a poller a second: the API also looks by itself.
"""

import logging
import time
from collections.abc import Sequence

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger("roomkey.wake")

CHANNEL = "roomkey:settled"
SECONDS = 0.25
PAUSE_SECONDS = 1.0


def redis_client(redis_url: str) -> Redis:
    """A client that never repeats a command and never waits long."""
    return Redis.from_url(
        redis_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS, retry=Retry(NoBackoff(), 0)
    )


class Waker:
    """Publishes wake-ups; silent for a moment after a failure."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._paused_until = 0.0

    def wake(self, intent_ids: Sequence[str]) -> None:
        """Tell every API process that these intents changed. Never raises for the network."""
        if not intent_ids or time.monotonic() < self._paused_until:
            return
        try:
            self._redis.publish(CHANNEL, " ".join(intent_ids))
        except RedisError as failure:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            log.warning("cannot wake pollers, they look by themselves: %s", type(failure).__name__)
