"""One simulator process for all these tests, reset before each."""

from collections.abc import Iterator

import httpx
import pytest

from tests.pms import Pms, start_simulator


@pytest.fixture(scope="session")
def process() -> Iterator[Pms]:
    with start_simulator(idle_timeout=1) as pms:
        yield pms


@pytest.fixture
def pms(process: Pms) -> Pms:
    process.reset()
    return process


@pytest.fixture
def http(pms: Pms) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=pms.url, timeout=10) as client:
        yield client
