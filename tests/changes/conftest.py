"""Houses at the session's hotel system, and chats at a real API."""

from collections.abc import Callable, Iterator

import pytest

from booking.settings import TenantSettings
from dedupe.engine import Engine
from dedupe.tenants import create_tenant
from tasks.wake import redis_client
from tests.api.serving import Api, settings_for
from tests.changes.house import House
from tests.changes.talk import Talk
from tests.conftest import Tenant
from tests.dedupe.rows import CALLER, run
from tests.pms import Pms
from tests.tasks.desk import Desk


@pytest.fixture
def house(engine: Engine, pms: Pms, redis_url: str) -> Callable[..., House]:
    """Make a house: `house(mode, **capabilities)`."""
    create_tenant(engine, CALLER.tenant_id, TenantSettings())
    run(engine, "UPDATE tenants SET secret = :secret", secret=CALLER.secret)  # a moved booking's key is made by it

    def make(mode: str = "keyed", **changes: object) -> House:
        pms.set_mode(mode)
        return House(Desk.at(engine, pms, redis_client(redis_url), mode, **changes))

    return make


@pytest.fixture
def talk(database_url: str, redis_url: str, tenant: Tenant, engine: Engine, pms: Pms) -> Iterator[Talk]:
    """A talk; three hotels share one hotel system."""
    desk = Desk.at(engine, pms, redis_client(redis_url), "keyed")
    with Api.started(settings_for(database_url, redis_url), tenant, engine) as api:
        yield Talk(api, desk, desk)
