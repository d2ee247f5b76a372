"""One hotel system for all tests of the write path, and desks that book at it."""

from collections.abc import Callable

import pytest

from dedupe.engine import Engine
from tasks.wake import redis_client
from tests.pms import Pms
from tests.tasks.desk import Desk


@pytest.fixture
def desk(engine: Engine, pms: Pms, redis_url: str) -> Callable[..., Desk]:
    """Make a desk: `desk(mode, **capabilities)`."""

    def make(mode: str = "keyed", **changes: object) -> Desk:
        pms.set_mode(mode)
        return Desk.at(engine, pms, redis_client(redis_url), mode, **changes)

    return make
