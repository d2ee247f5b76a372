"""One Stripe-shaped server for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.stripe.running import Stripe, start_stripe


@pytest.fixture(scope="session")
def running_stripe() -> Iterator[Stripe]:
    with start_stripe() as stripe:
        yield stripe


@pytest.fixture
def server(running_stripe: Stripe) -> Iterator[Stripe]:
    """The server as it is at its start."""
    running_stripe.reset()
    yield running_stripe
    running_stripe.clear_faults()
