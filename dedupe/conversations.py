"""A conversation as the host application and operations steer it: verified guest, turns, lifting a stop."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, text

from booking.guests import VerifiedGuest
from booking.handoff import Stop, StopReason
from dedupe.submission import Stopped

# A turn above the stored one lifts a stop and begins a new round, in which no failure counts yet. An older or equal one
# (a repeated or late request of the host) changes nothing.
_NAME = text("""
INSERT INTO conversations AS c (tenant_id, id, guest, guest_at, turn)
VALUES (:tenant_id, :id, CAST(:guest AS jsonb), CASE WHEN :names THEN now() END, coalesce(:turn, 0))
ON CONFLICT (tenant_id, id) DO UPDATE SET
    guest = CASE WHEN :names THEN excluded.guest ELSE c.guest END,
    guest_at = CASE WHEN :names THEN excluded.guest_at ELSE c.guest_at END,
    turn = greatest(c.turn, excluded.turn),
    round = c.round + (excluded.turn > c.turn)::int,
    stopped_at = CASE WHEN excluded.turn > c.turn THEN NULL ELSE c.stopped_at END,
    stop_reason = CASE WHEN excluded.turn > c.turn THEN NULL ELSE c.stop_reason END
""")

_HEAD = text("""
SELECT guest, turn, stopped_at, stop_reason FROM conversations WHERE tenant_id = :tenant_id AND id = :id
""")

# All that a read must know first, at one instant. There may be no such conversation yet.
_BEFORE_READ = text("""
SELECT c.guest, c.stopped_at, c.stop_reason,
       EXISTS (SELECT FROM pauses p WHERE p.provider = :provider AND p.lifted_at IS NULL) AS paused
FROM (VALUES (0)) AS always LEFT JOIN conversations c ON c.tenant_id = :tenant_id AND c.id = :id
""")

# The reason stays in the events: who looks later sees that a person did it, and why.
_LIFT = text("""
WITH before AS (
    SELECT tenant_id, id, stopped_at IS NOT NULL AS stopped FROM conversations
    WHERE tenant_id = :tenant_id AND id = :id FOR UPDATE
), lifted AS (
    UPDATE conversations c SET stopped_at = NULL, stop_reason = NULL, round = c.round + 1
    FROM before b WHERE b.stopped AND c.tenant_id = b.tenant_id AND c.id = b.id RETURNING c.tenant_id, c.id
), told AS (
    INSERT INTO events (tenant_id, conversation_id, kind, detail)
    SELECT tenant_id, id, 'lifted', jsonb_build_object('reason', CAST(:reason AS text)) FROM lifted
)
SELECT stopped FROM before
""")


@dataclass(frozen=True)
class Head:
    """What is known of a conversation beside its items."""

    guest: VerifiedGuest | None
    turn: int
    stop: Stop | None


@dataclass(frozen=True)
class BeforeRead:
    """What decides on a read before it is made. `paused`: the provider is not called for now."""

    guest: VerifiedGuest | None
    paused: bool


def name(
    engine: Engine,
    tenant_id: str,
    conversation_id: str,
    guest: VerifiedGuest | None = None,
    turn: int | None = None,
    *,
    keep_guest: bool = False,
) -> None:
    """Name the verified guest (None: nobody is verified any more) and the user's turn. Makes the conversation.

    `keep_guest`: only the turn is meant. `turn` None: it is the one it was.
    """
    values = {
        "tenant_id": tenant_id,
        "id": conversation_id,
        "guest": json.dumps(guest.model_dump()) if guest else None,
        "names": not keep_guest,
        "turn": turn,
    }
    with engine.connect() as connection:
        connection.execute(_NAME, values)


def head(engine: Engine, tenant_id: str, conversation_id: str) -> Head | None:
    """None where the tenant has no such conversation."""
    with engine.connect() as connection:
        row = connection.execute(_HEAD, {"tenant_id": tenant_id, "id": conversation_id}).first()
    if row is None:
        return None
    return Head(_guest(row), row.turn, _stop(row))


def before_read(engine: Engine, tenant_id: str, conversation_id: str, provider: str) -> BeforeRead:
    """The verified guest, and whether the provider is paused. Raises Stopped where the conversation is stopped."""
    values = {"tenant_id": tenant_id, "id": conversation_id, "provider": provider}
    with engine.connect() as connection:
        row = connection.execute(_BEFORE_READ, values).one()
    stop = _stop(row)
    if stop is not None:
        raise Stopped(tenant_id, conversation_id, stop)
    return BeforeRead(_guest(row), row.paused)


def _guest(row: Row[Any]) -> VerifiedGuest | None:
    return VerifiedGuest.model_validate(row.guest) if row.guest else None


def _stop(row: Row[Any]) -> Stop | None:
    return Stop(reason=StopReason(row.stop_reason), at=row.stopped_at) if row.stopped_at else None


def lift(engine: Engine, tenant_id: str, conversation_id: str, reason: str) -> bool | None:
    """Lift a stop and forget the failures before. False: it was not stopped; None: there is no such conversation."""
    with engine.connect() as connection:
        row = connection.execute(_LIFT, {"tenant_id": tenant_id, "id": conversation_id, "reason": reason}).first()
    return None if row is None else bool(row.stopped)
