"""The API on a real socket."""

from collections.abc import Iterator

import pytest

from booking.settings import Settings
from dedupe.engine import Engine
from tests.api.serving import Api, settings_for
from tests.conftest import Tenant


@pytest.fixture
def settings(database_url: str, redis_url: str) -> Settings:
    return settings_for(database_url, redis_url)


@pytest.fixture
def api(settings: Settings, tenant: Tenant, engine: Engine) -> Iterator[Api]:
    with Api.started(settings, tenant, engine) as api:
        yield api
