"""Real servers for the whole session, and a database of its own for each test."""

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis
from psycopg.sql import SQL, Identifier

from booking.settings import TenantSettings
from cli.embedded.postgres import start_postgres
from cli.embedded.valkey import start_valkey
from dedupe.engine import Engine, make_engine
from dedupe.migrate import migrate
from dedupe.tenants import Scope, create_key, create_tenant
from tests.pms import Pms, start_simulator

_TEMPLATE = "roomkey_template"
#: These servers hold nothing worth keeping. Tests about durability start their own.
_FAST: dict[str, str | int] = {"fsync": "off", "max_connections": 200}


# What a test left connected would hold locks.
_END_OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

# All rows of all tables, whatever refers to them, and the ids from 1 again. Small tables: faster than TRUNCATE.
_EMPTY = """
DO $$
DECLARE one record;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR one IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations'
    LOOP EXECUTE format('DELETE FROM %I', one.name); END LOOP;
    FOR one IN SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
    LOOP PERFORM setval(one.name::regclass, 1, false); END LOOP;
END $$
"""


@dataclass(frozen=True)
class Servers:
    """The session's servers. `postgres_url` names the migrated template database, which is only to be copied."""

    postgres_url: str
    redis_url: str


@dataclass(frozen=True)
class Tenant:
    """A tenant with a bearer key for each scope; `key_ids` by scope, to revoke one."""

    id: str
    agent: str
    host: str
    ops: str
    key_ids: dict[Scope, str]


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """Postgres and Valkey, embedded, in a folder that other users can reach (pytest's own are private to root)."""
    place = Path(tempfile.mkdtemp(prefix="roomkey-tests-"))
    place.chmod(0o755)
    try:
        with ExitStack() as stack:
            postgres = stack.enter_context(start_postgres(place / "postgres", settings=_FAST, database=_TEMPLATE))
            valkey = stack.enter_context(start_valkey(place / "valkey"))
            template = make_engine(postgres.url, 2)  # the lock's holder runs each file on another connection
            migrate(template)
            template.dispose()  # a database that is in use can't be copied
            yield Servers(postgres.url, valkey.url)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def fresh_database(servers: Servers) -> Iterator[str]:
    """The URL of a migrated, empty database that is gone afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    server = servers.postgres_url.removesuffix(_TEMPLATE)
    with psycopg.connect(server + "postgres", autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(_TEMPLATE)))
        yield server + name
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@pytest.fixture(scope="session")
def shared_database(servers: Servers) -> Iterator[str]:
    """The database that tests use one after the other."""
    with fresh_database(servers) as url:
        yield url


@pytest.fixture
def database_url(request: pytest.FixtureRequest, servers: Servers) -> Iterator[str]:
    """A migrated, empty database: emptied after use, which takes milliseconds; made anew takes a tenth of a second.

    A test that changes the schema is marked `own_database`.
    """
    if request.node.get_closest_marker("own_database"):
        with fresh_database(servers) as url:
            yield url
        return
    url = str(request.getfixturevalue("shared_database"))
    yield url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_END_OTHERS)
        connection.execute(_EMPTY)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """Connections to the test's database, enough for a handful of threads."""
    engine = make_engine(database_url, 16)
    yield engine
    engine.dispose()


@pytest.fixture
def redis_url(servers: Servers) -> str:
    """An empty Valkey."""
    with redis.Redis.from_url(servers.redis_url) as client:
        client.flushall()
    return servers.redis_url


@pytest.fixture
def tenant(engine: Engine) -> Tenant:
    """The tenant `demo`."""
    return make_tenant(engine, "demo")


@pytest.fixture(scope="session")
def hotel() -> Iterator[Pms]:
    """The session's hotel system, keyed."""
    with start_simulator() as pms:
        yield pms


@pytest.fixture
def pms(hotel: Pms) -> Iterator[Pms]:
    """The hotel system as it is at its start, without faults."""
    hotel.reset()
    yield hotel
    hotel.clear_faults()


def make_tenant(engine: Engine, tenant_id: str) -> Tenant:
    """A tenant with its keys."""
    assert create_tenant(engine, tenant_id, TenantSettings())
    made = {}
    for scope in Scope:
        pair = create_key(engine, tenant_id, scope)
        assert pair is not None
        made[scope] = pair
    bearers = {scope.value: bearer for scope, (_, bearer) in made.items()}
    return Tenant(tenant_id, **bearers, key_ids={scope: key_id for scope, (key_id, _) in made.items()})
