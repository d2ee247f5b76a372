"""Which PostgreSQL answers."""

from sqlalchemy import Engine, text

#: The oldest major version that Roomkey's statements need.
OLDEST = 15

_VERSION = text("SELECT current_setting('server_version_num')::int / 10000")


def server_version(engine: Engine) -> int:
    """The server's major version."""
    with engine.connect() as connection:
        return int(connection.execute(_VERSION).scalar_one())
