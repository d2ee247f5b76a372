"""A chat at a real API with a real hotel system."""

from collections.abc import Iterator

import pytest

from dedupe.engine import Engine
from tasks.wake import redis_client
from tests.api.serving import Api, settings_for
from tests.conftest import Tenant
from tests.guards.chat import NOWHERE, Chat
from tests.pms import Pms
from tests.tasks.desk import Desk


@pytest.fixture
def chat(database_url: str, redis_url: str, tenant: Tenant, engine: Engine, pms: Pms) -> Iterator[Chat]:
    redis = redis_client(redis_url)
    desk = Desk.at(engine, pms, redis, "keyed")
    away = Desk.at(engine, pms, redis, "keyed", url=NOWHERE)
    settings = settings_for(database_url, redis_url, providers={"pms": {"url": pms.url, "read_deadline": 6.0}})
    with Api.started(settings, tenant, engine) as api:
        yield Chat(api, desk, away)
