"""Read dead letters: what waits for a person."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from booking.states import DeadLetter, State

# Oldest first: who has waited longest is served first. `age` by the database's clock.
_OPEN = text("""
SELECT d.id, d.tenant_id, d.reason, d.detail, d.created_at, extract(epoch FROM now() - d.created_at)::float8 AS age,
       d.item_id, i.key, i.conversation_id, i.state
FROM dead_letters d JOIN items i ON i.id = d.item_id
WHERE d.closed_at IS NULL AND d.id > :after AND (CAST(:reason AS text) IS NULL OR d.reason = :reason)
ORDER BY d.id LIMIT :limit
""")


@dataclass(frozen=True)
class Letter:
    """An open dead letter with its item. `age` in seconds."""

    id: int
    tenant_id: str
    reason: DeadLetter
    detail: str
    since: datetime
    age: float
    item_id: int
    key: str
    conversation_id: str
    state: State


def list_letters(engine: Engine, reason: DeadLetter | None = None, limit: int = 50, after: int = 0) -> list[Letter]:
    """The open dead letters after the one with the id `after`, of all tenants, oldest first."""
    values = {"reason": reason.value if reason else None, "limit": limit, "after": after}
    with engine.connect() as connection:
        rows = connection.execute(_OPEN, values).all()
    return [
        Letter(
            id=row.id,
            tenant_id=row.tenant_id,
            reason=DeadLetter(row.reason),
            detail=row.detail,
            since=row.created_at,
            age=row.age,
            item_id=row.item_id,
            key=row.key,
            conversation_id=row.conversation_id,
            state=State(row.state),
        )
        for row in rows
    ]
