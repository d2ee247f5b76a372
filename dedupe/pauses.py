"""Pauses: a provider that is not called for now, because our credentials were refused or a person said so."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

_PAUSE = text("""
INSERT INTO pauses (provider, cause) VALUES (:provider, :cause)
ON CONFLICT (provider) WHERE lifted_at IS NULL DO NOTHING RETURNING id
""")

# The waiting items are due at once, spread over a few seconds, so that a provider just mended isn't met by all of them.
_RESUME = text("""
WITH lifted AS (
    UPDATE pauses SET lifted_at = now() WHERE provider = :provider AND lifted_at IS NULL RETURNING provider
), woken AS (
    UPDATE items i SET due_at = now() + random() * interval '3 s', publish_at = now() + random() * interval '3 s'
    FROM lifted l WHERE i.provider = l.provider AND i.publish_at IS NOT NULL AND i.due_at > now()
      AND i.state IN ('queued', 'unknown')
    RETURNING i.id
)
SELECT (SELECT count(*) FROM lifted) AS lifted, (SELECT count(*) FROM woken) AS woken
""")

_PAUSES = text("SELECT provider, cause, created_at FROM pauses WHERE lifted_at IS NULL ORDER BY created_at")


@dataclass(frozen=True)
class Pause:
    """A pause in force."""

    provider: str
    cause: str
    since: datetime


def pause(engine: Engine, provider: str, cause: str) -> bool:
    """Stop calling a provider. False where it is paused already."""
    with engine.connect() as connection:
        return connection.execute(_PAUSE, {"provider": provider, "cause": cause}).first() is not None


def resume(engine: Engine, provider: str) -> int | None:
    """Call a provider again: the number of waiting items that are due now, None where it wasn't paused."""
    with engine.connect() as connection:
        row = connection.execute(_RESUME, {"provider": provider}).one()
    return row.woken if row.lifted else None


def list_pauses(engine: Engine) -> list[Pause]:
    """The pauses in force, oldest first."""
    with engine.connect() as connection:
        return [Pause(row.provider, row.cause, row.created_at) for row in connection.execute(_PAUSES)]
