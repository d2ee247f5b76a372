"""Numbered SQL files, each run once, in order, under an advisory lock so that many processes may start at once."""

from importlib import resources

from sqlalchemy import Connection, Engine, text

#: Any constant will do; it only has to be the same in every process.
_LOCK = 7_266_392

_HAS_LEDGER = text("SELECT to_regclass('schema_migrations') IS NOT NULL")
_LEDGER = text(
    "CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
)
_DONE = text("SELECT name FROM schema_migrations")
_NOTE = text("INSERT INTO schema_migrations (name) VALUES (:name)")


def _files() -> list[str]:
    folder = resources.files("dedupe") / "migrations"
    return sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))


def pending(engine: Engine) -> list[str]:
    """The migrations that `migrate` would run, in order."""
    with engine.connect() as connection:
        return _pending(connection)


def _pending(connection: Connection) -> list[str]:
    done = set(connection.execute(_DONE).scalars()) if connection.execute(_HAS_LEDGER).scalar_one() else set()
    return [name for name in _files() if name not in done]


def migrate(engine: Engine) -> list[str]:
    """Bring the schema up to date; each file and its note are one transaction. Returns the names that were run."""
    with engine.connect() as connection:
        connection.execute(text("SET statement_timeout = 0"))  # another process may be migrating: wait for it
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
        try:
            connection.execute(_LEDGER)
            names = _pending(connection)
            for name in names:
                _run(engine, name)
            return names
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
            connection.execute(text("RESET statement_timeout"))


def _run(engine: Engine, name: str) -> None:
    script = (resources.files("dedupe") / "migrations" / name).read_text("utf-8")
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.exec_driver_sql(script)
        connection.execute(_NOTE, {"name": name})
