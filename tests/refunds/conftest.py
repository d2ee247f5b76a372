"""Tills at the session's hotel system and at a Stripe-shaped server."""

from collections.abc import Callable

import pytest

from booking.settings import TenantSettings
from dedupe.engine import Engine
from dedupe.tenants import create_tenant
from tests.changes.conftest import talk
from tests.dedupe.rows import CALLER
from tests.pms import Pms
from tests.refunds.till import Till, hotel_till, stripe_till
from tests.stripe.conftest import running_stripe, server
from tests.stripe.running import Stripe

__all__ = ["running_stripe", "server", "talk"]


@pytest.fixture
def till(engine: Engine, pms: Pms, server: Stripe, redis_url: str) -> Callable[..., Till]:
    """Make a till: `till("stripe", **settings)`, or `till(mode, **capabilities)` at the hotel system."""
    create_tenant(engine, CALLER.tenant_id, TenantSettings())

    def make(place: str = "keyed", **changes: object) -> Till:
        if place == "stripe":
            return stripe_till(engine, pms, server, redis_url, **changes)
        return hotel_till(engine, pms, redis_url, place, **changes)

    return make
