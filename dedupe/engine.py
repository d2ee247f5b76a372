"""Connections to Postgres. Every statement is its own transaction unless `transaction` is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine as Engine  # the other rooms name the type from here; sqlalchemy stays in this one
from sqlalchemy import create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError, TimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

#: libpq's minimum; it rounds 1 up to 2 itself.
CONNECT_SECONDS = 2
#: No statement of ours takes long; one that waits for a lock this long has met a stuck transaction.
STATEMENT_MS = 5_000


#: Few statements, run very often, each by an index. A plan is made once a session, and never from a table that was
#: small just then: such a plan scans all rows until somebody analyzes the table.
_SESSION = {
    "statement_timeout": STATEMENT_MS,
    "idle_in_transaction_session_timeout": STATEMENT_MS,
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
}


class DatabaseAway(Exception):
    """Postgres can't be reached, doesn't answer in time, or can't write just now. A commit may have happened."""


@contextmanager
def or_away() -> Iterator[None]:
    """Raise DatabaseAway for what is the database's state and not our statement's fault.

    Among them an exhausted pool (TimeoutError) and a server that became a standby (an InternalError of psycopg).
    """
    try:
        yield
    except (OperationalError, InterfaceError, InternalError, TimeoutError) as error:
        cause = getattr(error, "orig", None) or error
        raise DatabaseAway(f"{type(cause).__name__}: {cause}") from error


def make_engine(url: str, connections: int, *, pool_timeout: float = 5.0) -> Engine:
    """An engine of at most `connections` connections to `url` (postgresql://…), autocommitting each statement.

    `pool_timeout` is in seconds. Nothing is connected yet.
    """
    engine = create_engine(
        url.replace("postgresql://", "postgresql+psycopg://", 1),
        isolation_level="AUTOCOMMIT",
        pool_size=connections,
        max_overflow=0,
        pool_timeout=pool_timeout,
        # A connection that died while idle fails one statement, and the pool drops all its siblings; no statement is
        # ever repeated, and none pays for a ping before it.
        pool_pre_ping=False,
        hide_parameters=True,  # they hold guests' data, and errors are logged
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "options": " ".join(f"-c {name}={value}" for name, value in _SESSION.items()),
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 2,
            "tcp_user_timeout": 5_000,
        },
    )

    @event.listens_for(engine, "connect")
    def _prepare_at_once(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.prepare_threshold = 1  # psycopg's own attribute

    return engine
