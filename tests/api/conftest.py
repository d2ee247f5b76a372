"""The API on a real socket."""

from collections.abc import Iterator

import pytest

from booking.settings import Settings
from dedupe.engine import Engine, make_engine
from tests.api.serving import Api, settings_for
from tests.conftest import Servers, Tenant, fresh_database, make_tenant


@pytest.fixture
def settings(database_url: str, redis_url: str) -> Settings:
    return settings_for(database_url, redis_url)


@pytest.fixture
def api(settings: Settings, tenant: Tenant, engine: Engine) -> Iterator[Api]:
    with Api.started(settings, tenant, engine) as api:
        yield api


@pytest.fixture(scope="module")
def shared_api(servers: Servers) -> Iterator[Api]:
    """For tests that store nothing: one API and database for all tests of a file."""
    with fresh_database(servers) as url:
        engine = make_engine(url, 2)
        with Api.started(settings_for(url, servers.redis_url), make_tenant(engine, "demo"), engine) as api:
            yield api
        engine.dispose()
