"""The relay: sends a message for every item that wants one and has none in sight."""

import logging
from typing import Any

from celery import Celery

from dedupe.engine import Engine
from dedupe.relay import give_back, take_due
from tasks.publish import Publisher

log = logging.getLogger("roomkey.relay")

#: Messages that may wait in a queue. Each is a token that runs any due item, so more would only be copies.
WINDOW = 1000
#: Items taken in one go: small enough that a crash in between delays few of them.
BATCH = 200
#: How long to wait for one of the app's connections; those that publish give theirs back sooner.
POOL_SECONDS = 1.0


def relay_once(engine: Engine, app: Celery, publisher: Publisher) -> int:
    """Publish what is due in the app's queues, up to the window of each. Returns the number of messages sent."""
    room = _room(app)
    sent = 0
    for queue, free in room.items():
        taken = take_due(engine, [queue], min(free, BATCH)) if free > 0 else []
        if taken:
            unsent = publisher.publish(taken)
            if unsent:
                give_back(engine, unsent)
            sent += len(taken) - len(unsent)
    return sent


def _room(app: Celery) -> dict[str, int]:
    """How many messages each queue may still take; none at all while the broker is away."""
    try:
        with app.pool.acquire(block=True, timeout=POOL_SECONDS) as connection:  # four rounds a second: no new one each
            return _room_by(connection, app)
    except Exception as failure:  # noqa: BLE001 - whatever the broker's client raises: try again next round
        log.warning("the relay can't reach the broker: %s", type(failure).__name__)
        return {}


def _room_by(connection: Any, app: Celery) -> dict[str, int]:
    try:
        return {name: WINDOW - _waiting(connection.default_channel, name) for name in app.amqp.queues}
    except Exception:
        connection.collect()  # a late answer (AMQP) must not meet the next round's question: it connects anew
        raise


def _waiting(channel: Any, queue: str) -> int:
    """The messages in a queue. Declared, not asked for passively: Redis forgets an empty queue, and asking fails."""
    declared = channel.queue_declare(queue=queue, durable=True, auto_delete=False)
    return int(declared.message_count)
