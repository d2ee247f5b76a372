"""Caretakers for hotels."""

from collections.abc import Callable, Iterator

import pytest
import redis

from booking.settings import Property
from dedupe.engine import Engine
from tasks.message import make_app
from tests.conftest import Tenant
from tests.schedule.hotels import Caretaker

QUEUE = "bookings.pms"


@pytest.fixture
def caretaker(engine: Engine, redis_url: str, tenant: Tenant) -> Iterator[Callable[..., Caretaker]]:
    """Make a caretaker: `caretaker(BER=hotel(…))`. The tenant `demo` exists."""
    app = make_app(redis_url, 5.0, [QUEUE])

    def make(**properties: Property) -> Caretaker:
        return Caretaker(engine, app, properties)

    yield make
    app.close()


@pytest.fixture
def messages(redis_url: str) -> Iterator[Callable[[], int]]:
    """How many messages wait for the workers."""
    with redis.Redis.from_url(redis_url) as client:
        yield lambda: int(client.llen(QUEUE))
