"""Read events. Numbered so that a poller misses none: see `number_event` in migrations/0002_owners.sql."""

from sqlalchemy import Engine, text

from booking.happenings import Event, EventKind, EventsAnswer
from booking.states import State

# Plain: the order of ids is the order in which they could be seen.
_AFTER = text("""
SELECT e.id, e.kind, e.item_id, coalesce(e.conversation_id, i.conversation_id) AS conversation_id, e.detail,
       e.created_at, i.provider_id,
       ARRAY(SELECT DISTINCT intent_id FROM links WHERE item_id = i.id ORDER BY intent_id) AS intents
FROM events e LEFT JOIN items i ON i.id = e.item_id
WHERE e.tenant_id = :tenant_id AND e.id > :after ORDER BY e.id LIMIT :limit
""")


def read_events(engine: Engine, tenant_id: str, after: int, limit: int) -> EventsAnswer:
    """The tenant's events after the one with the id `after`, oldest first."""
    values = {"tenant_id": tenant_id, "after": after, "limit": limit}
    with engine.connect() as connection:
        rows = connection.execute(_AFTER, values).all()
    events = [
        Event(
            id=row.id,
            kind=EventKind(row.kind),
            conversation_id=row.conversation_id,
            intent_ids=row.intents,
            item_id=row.item_id,
            from_state=State(row.detail["from"]) if "from" in row.detail else None,
            to_state=State(row.detail["to"]) if "to" in row.detail else None,
            booking_id=row.provider_id,
            reason=row.detail.get("reason"),
            at=row.created_at,
        )
        for row in rows
    ]
    return EventsAnswer(events=events, after=events[-1].id if events else after)
