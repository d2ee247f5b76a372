"""Pauses: a provider that is not called for now, because our credentials were refused or a person said so."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

_PAUSE = text("""
INSERT INTO pauses (provider, cause) VALUES (:provider, :cause)
ON CONFLICT (provider) WHERE lifted_at IS NULL DO NOTHING RETURNING id
""")

# The waiting items are due at once, spread over a few seconds, so that a provider just mended isn't met by all of them:
# one moment an item, at which it may run and is published. Those in doubt that wait longer than any pause makes them
# wait for quiet time, before which a look-up could prove nothing.
_RESUME = text("""
WITH lifted AS (
    UPDATE pauses SET lifted_at = now() WHERE provider = :provider AND lifted_at IS NULL RETURNING provider
), waiting AS MATERIALIZED (
    SELECT i.id, least(i.due_at, now() + random() * interval '3 s') AS at
    FROM items i JOIN lifted l ON i.provider = l.provider
    WHERE i.state IN ('queued', 'unknown') AND i.due_at > now()
      AND (i.due_at <= now() + :own_waits * interval '1 s'
           OR NOT EXISTS (SELECT FROM attempts a WHERE a.item_id = i.id AND a.kind = 'write'
                          AND (a.outcome IS NULL OR a.outcome = 'unknown')))
    FOR UPDATE OF i
), woken AS (
    UPDATE items i SET due_at = w.at, publish_at = w.at FROM waiting w WHERE i.id = w.id RETURNING i.id
)
SELECT (SELECT count(*) FROM lifted) AS lifted, (SELECT count(*) FROM woken) AS woken
""")

#: No wait that a pause itself makes is longer, seconds: 30 s (`tasks.attempt`, `tasks.decide`) and its spread.
OWN_WAITS = 35.0

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
        row = connection.execute(_RESUME, {"provider": provider, "own_waits": OWN_WAITS}).one()
    return row.woken if row.lifted else None


def list_pauses(engine: Engine) -> list[Pause]:
    """The pauses in force, oldest first."""
    with engine.connect() as connection:
        return [Pause(row.provider, row.cause, row.created_at) for row in connection.execute(_PAUSES)]
