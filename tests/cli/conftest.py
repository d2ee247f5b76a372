import uuid
from collections.abc import Iterator

import psycopg
import pytest

from tests.cli.running import Up, reachable_folder, running_up
from tests.conftest import Servers


@pytest.fixture(scope="module")
def named(servers: Servers) -> Iterator[dict[str, str]]:
    """Servers of our own, as the environment names them; the database is empty."""
    name = f"cli_{uuid.uuid4().hex}"
    server = servers.postgres_url.rpartition("/")[0]
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield {"ROOMKEY_DATABASE_URL": f"{server}/{name}", "ROOMKEY_BROKER_URL": servers.redis_url}
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="module")
def up(named: dict[str, str]) -> Iterator[Up]:
    """A whole stack on named servers, shared by the tests of one module. Commands beside it are told nothing."""
    with reachable_folder() as folder, running_up(folder, **named) as stack:
        yield stack
