"""What the application is built from."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from booking.settings import Property
from dedupe.engine import Engine
from tasks.publish import Publisher
from tasks.read import Reads

#: Connections to Postgres of one API process, and threads that use them: more only wait for the same disk.
CONNECTIONS = 16


def utc_now() -> dt.datetime:
    """The present moment, aware."""
    return dt.datetime.now(dt.UTC)


@dataclass(frozen=True)
class Deps:
    """`lifetime` of an interactive intent in seconds. `redis_url`: where wake-ups come from; None: pollers look.

    `mails`: the mail servers that have an address, by name.
    """

    engine: Engine
    publisher: Publisher
    redis_url: str | None
    properties: Mapping[str, Property]
    lifetime: float = 600.0
    now: Callable[[], dt.datetime] = utc_now
    mails: frozenset[str] = frozenset()
    reads: Reads = field(default_factory=lambda: Reads({}))
