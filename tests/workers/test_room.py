"""The relay asks the broker how much room there is, over one connection for as long as that lasts."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis

from cli.embedded.server import Server
from cli.embedded.valkey import start_valkey
from dedupe.engine import Engine
from tasks.message import make_app
from tasks.publish import Publisher
from tasks.relay import relay_once
from tests.dedupe.rows import ask, room, run

QUEUE = "bookings.pms"


def opened(redis_url: str) -> int:
    """How many connections the server has taken so far, this one included."""
    with Redis.from_url(redis_url) as redis:
        return int(cast("dict[str, Any]", redis.info("stats"))["total_connections_received"])


def due(engine: Engine) -> None:
    run(engine, "UPDATE items SET publish_at = now()")


def test_no_round_opens_a_connection_of_its_own(engine: Engine, redis_url: str) -> None:
    app = make_app(redis_url, 1.0, [QUEUE])
    publisher = Publisher(app, budget=5.0)
    ask(engine, *[room()] * 3)
    due(engine)
    assert relay_once(engine, app, publisher) == 3
    before = opened(redis_url)
    for _ in range(10):
        due(engine)
        assert relay_once(engine, app, publisher) == 3
    assert opened(redis_url) == before + 1


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users can reach."""
    made = Path(tempfile.mkdtemp(prefix="roomkey-room-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def test_the_relay_goes_on_when_its_broker_is_back(engine: Engine, place: Path) -> None:
    def started() -> Server:
        return start_valkey(place / "valkey")

    ask(engine, room())
    with started() as valkey:
        app = make_app(valkey.url, 1.0, [QUEUE])
        publisher = Publisher(app, budget=5.0)
        due(engine)
        assert relay_once(engine, app, publisher) == 1
    for _ in range(20):  # more often than the pool has connections
        assert relay_once(engine, app, publisher) == 0
    with started() as again:
        assert again.url == valkey.url
        due(engine)
        assert relay_once(engine, app, Publisher(app, budget=5.0)) == 1
