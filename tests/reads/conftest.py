"""The API beside a real hotel system, and what a read of it looks like."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from booking.settings import Guards, TenantSettings
from dedupe.engine import make_engine
from dedupe.pauses import resume
from tests.api.serving import Api, bearer, settings_for, stay
from tests.conftest import Servers, fresh_database, make_tenant
from tests.dedupe.rows import run
from tests.pms import Pms


@dataclass(frozen=True)
class Desk:
    """Reads as an agent makes them."""

    api: Api
    pms: Pms

    def read(self, tool: str, key: str | None = None, conversation: str = "c-77", **arguments: Any) -> httpx.Response:
        body = {"arguments": arguments, "conversation_id": conversation}
        headers = bearer(key) if key else {}
        return self.api.http.post(f"/v1/reads/{tool}", json=body, headers=headers)

    def search(self, **changes: Any) -> httpx.Response:
        """Valid arguments of search_availability; a change to None leaves the field out."""
        names = ("property", "check_in", "check_out")
        given = {name: value for name, value in stay().items() if name in names} | changes
        return self.read("search_availability", **{name: given[name] for name in given if given[name] is not None})

    def calls(self, operation: str = "availability") -> list[dict[str, Any]]:
        """What the hotel system has received."""
        return self.pms.ledger(operation=operation)


@contextmanager
def desk_at(servers: Servers, pms: Pms, **provider: Any) -> Iterator[Desk]:
    """Open a desk with a database of its own; options are settings of its provider."""
    with fresh_database(servers) as url:
        engine = make_engine(url, 2)
        settings = settings_for(url, servers.redis_url, providers={"pms": {"url": pms.url, **provider}})
        try:
            tenant = make_tenant(engine, "demo")
            unguarded = TenantSettings(guards=Guards(same_call_failures=100, unavailable=100))
            run(engine, "UPDATE tenants SET settings = CAST(:to AS jsonb)", to=unguarded.model_dump_json())
            with Api.started(settings, tenant, engine) as api:
                yield Desk(api, pms)
        finally:
            engine.dispose()


@pytest.fixture(scope="module")
def shared_desk(servers: Servers, hotel: Pms) -> Iterator[Desk]:
    """Reads store nothing: one API for all tests of a file."""
    # Generous, so that a busy machine makes no timeouts that no test asked for.
    with desk_at(servers, hotel, read_deadline=6.0) as desk:
        yield desk


@pytest.fixture
def desk(shared_desk: Desk, pms: Pms, redis_url: str) -> Desk:
    """The shared one, with an untouched hotel system, and limits (in Redis) that remember nothing."""
    assert redis_url
    assert pms is shared_desk.pms
    resume(shared_desk.api.engine, "pms")
    return shared_desk


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What happens inside must not take longer."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds
