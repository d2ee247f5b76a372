"""The one subscription of this process to the channel on which settles are told."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from tasks.wake import CHANNEL

log = logging.getLogger("roomkey.api")

#: Seconds. A connection that stays silent for two of them, with a ping between, is dead.
SILENCE = 5.0
#: Between two tries to connect; meanwhile pollers are found by the sweep.
PAUSE = 0.5
CONNECT = 1.0


class WakeUps:
    """Hears which intents changed and passes their ids to `woken`. Connects again by itself, for ever."""

    def __init__(self, redis_url: str, woken: Callable[[Sequence[str]], None]) -> None:
        self._url = redis_url
        self._woken = woken
        self.connected = False

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                await self._listen()
            except (RedisError, OSError, TimeoutError) as failure:
                if self.connected:
                    log.warning("wake-ups lost, pollers are found by looking: %s", type(failure).__name__)
                self.connected = False
            await asyncio.sleep(PAUSE)

    async def _listen(self) -> None:
        redis = Redis.from_url(
            self._url, socket_connect_timeout=CONNECT, socket_timeout=CONNECT, retry=Retry(NoBackoff(), 0)
        )
        async with redis, redis.pubsub() as channel:
            await channel.subscribe(CHANNEL)
            await self._hear(channel)

    async def _hear(self, channel: PubSub) -> None:
        asked = False
        while True:
            message = await channel.get_message(timeout=SILENCE)
            if message is None:
                if asked:
                    raise TimeoutError("no answer to a ping")
                await channel.ping()
                asked = True
                continue
            asked = False
            if not self.connected:
                self.connected = True
                log.info("hearing wake-ups")
            if message["type"] == "message":
                self._woken(message["data"].decode("ascii", "replace").split())
