"""The database for the commands that ask it directly."""

from collections.abc import Iterator
from contextlib import contextmanager

from booking.settings import Settings
from cli.exits import Code, Trouble
from dedupe.engine import DatabaseAway, Engine, make_engine, or_away
from dedupe.migrate import pending


@contextmanager
def opened(settings: Settings, *, migrated: bool = True) -> Iterator[Engine]:
    """An engine on the configured Postgres; that it is away, or (if it must be) not migrated, becomes Trouble."""
    if settings.database_url is None:
        mend = "name your Postgres, or run `roomkey up` first"
        raise Trouble(Code.CONFIGURATION, f"ROOMKEY_DATABASE_URL: is not set; {mend}")
    try:
        engine = make_engine(settings.database_url.get_secret_value(), 2)
    except ValueError as error:
        raise Trouble(Code.CONFIGURATION, f"ROOMKEY_DATABASE_URL: {error}") from None
    try:
        with or_away():
            if migrated and pending(engine):
                raise Trouble(Code.CONFIGURATION, "the schema is not up to date; run: roomkey migrate")
            yield engine
    except DatabaseAway as away:
        raise Trouble(
            Code.UNREACHABLE, f"Postgres: {reason(away)}; start it, or correct ROOMKEY_DATABASE_URL"
        ) from None
    finally:
        engine.dispose()


def reason(away: DatabaseAway) -> str:
    """Why the database is away, in one line, without the names of exceptions."""
    first = str(away).splitlines()[0]
    return first.partition(": ")[2] or first
