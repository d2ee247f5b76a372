"""One house for all crash tests: recoveries take a lease each, so they all run side by side."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from cli.embedded.valkey import start_valkey
from dedupe.engine import make_engine
from tests.conftest import Servers
from tests.crash.drama import Drama, play
from tests.crash.house import House, open_house
from tests.pms import start_simulator


@pytest.fixture(scope="session")
def house(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    name = f"house_{uuid4().hex}"
    server, template = servers.postgres_url.rsplit("/", 1)
    # A broker of its own: the survivors live as long as the session, and would take other tests' messages.
    place = Path(tempfile.mkdtemp(prefix="roomkey-crash-"))
    place.chmod(0o755)
    with start_valkey(place / "valkey") as valkey, psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        engine = make_engine(f"{server}/{name}", 16)
        with (
            start_simulator() as pms,
            open_house(engine, pms, valkey.url, tmp_path_factory.mktemp("log")) as made,
        ):
            yield made
        engine.dispose()
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def drama(house: House) -> Drama:
    """Played once; each test looks at its own part."""
    return play(house)
