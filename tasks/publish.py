"""Publish: tell the broker that items may run. A message that gets lost costs time only; the relay sends another."""

import logging
import threading
import time
from collections.abc import Iterable

from celery import Celery

from tasks.message import RUN_ITEM

log = logging.getLogger("roomkey.publish")

#: After a failure the relay publishes alone for a while, so that a broker outage costs each caller one short wait.
PAUSE_SECONDS = 2.0


class Publisher:
    """Sends messages, at most `budget` seconds a call; pauses after a failure. Safe for many threads."""

    def __init__(self, app: Celery, budget: float = 0.25) -> None:
        self._app = app
        self._budget = budget
        self._paused_until = 0.0
        self._lock = threading.Lock()

    @property
    def paused(self) -> bool:
        """Whether the broker failed a moment ago."""
        return time.monotonic() < self._paused_until

    def publish(self, items: Iterable[tuple[int, str]]) -> list[int]:
        """Send a message for each (item id, queue). Returns the ids that got none; their items are due at the relay."""
        left = list(items)
        if not left or self.paused:
            return [item_id for item_id, _ in left]
        deadline = time.monotonic() + self._budget
        try:
            with self._app.producer_pool.acquire(block=True, timeout=self._budget) as producer:
                while left and time.monotonic() < deadline:
                    item_id, queue = left[0]
                    self._app.send_task(RUN_ITEM, (item_id,), queue=queue, producer=producer, retry=False)
                    left.pop(0)
        except Exception as failure:  # noqa: BLE001 - whatever the broker's client raises: the relay takes over
            self._pause(failure)
        return [item_id for item_id, _ in left]

    def _pause(self, failure: Exception) -> None:
        with self._lock:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
        log.warning("broker unreachable, leaving %.0f s to the relay: %s", PAUSE_SECONDS, type(failure).__name__)
