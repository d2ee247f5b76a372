"""Cancel an intent: what has not been written is not written; what is in doubt is checked on and told as it is."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from booking.errors import tool_error

# The locks of `admit`, in its order. Cancelled is cancelled: a second time changes nothing.
_LOCK_CONVERSATION = text("""
SELECT c.id FROM conversations c JOIN intents n ON n.tenant_id = c.tenant_id AND n.conversation_id = c.id
WHERE n.id = :id AND n.tenant_id = :tenant_id FOR UPDATE OF c
""")

_CANCEL_INTENT = text("""
UPDATE intents SET cancelled_at = coalesce(cancelled_at, now()) WHERE id = :id RETURNING pruned_at
""")

# Against `begin`, which updates the same rows: one of the two comes first, and the other sees what it did. The arrivals
# of a batch first: an expansion holds them while it locks its mails.
_LOCK_ITEMS = text("""
SELECT i.id FROM items i WHERE i.id IN (SELECT item_id FROM links WHERE intent_id = :id)
ORDER BY i.effect = 'arrivals' DESC, i.id FOR UPDATE
""")

# A statement of its own, after the locks, so that its snapshot holds every attempt begun before them. `until`: another
# intent wants the item, so long; else it is `idle` if no write of it is in doubt and nobody holds it. A refusal means
# that a run must still settle it as refused.
_FACTS = text("""
SELECT i.id, (
    SELECT max(n.expires_at) FROM links l JOIN intents n ON n.id = l.intent_id
    WHERE l.item_id = i.id AND n.cancelled_at IS NULL AND n.expires_at > now()) AS until,
  i.state = 'queued' AND i.refusal IS NULL AND (i.lease_until IS NULL OR i.lease_until < clock_timestamp())
  AND NOT EXISTS (SELECT FROM attempts a WHERE a.item_id = i.id AND a.kind = 'write'
                  AND (a.outcome IS NULL OR a.outcome = 'unknown')) AS idle
FROM items i WHERE i.id = ANY(:ids) AND i.state IN ('queued', 'running', 'unknown')
""")

_CANCEL_ITEMS = text("""
UPDATE items SET state = 'cancelled', error = CAST(:error AS jsonb), rev = rev + 1, token = NULL, lease_until = NULL,
    due_at = NULL, publish_at = NULL, doubted_at = NULL, slow = false, settled_at = clock_timestamp()
WHERE id = ANY(:ids)
""")

_STOP_WRITES = text("UPDATE items SET stop_writes = true WHERE id = ANY(:ids)")

# It lives as long as the longest of the others, and is looked at when that ends.
_SHORTEN_ITEMS = text("""
UPDATE items i SET expires_at = w.until,
    due_at = CASE WHEN w.idle THEN least(i.due_at, w.until + interval '0.05 s') ELSE i.due_at END,
    publish_at = CASE WHEN w.idle THEN least(i.publish_at, w.until + interval '0.05 s') ELSE i.publish_at END
FROM unnest(CAST(:ids AS bigint[]), CAST(:untils AS timestamptz[]), CAST(:idle AS boolean[])) AS w(id, until, idle)
WHERE i.id = w.id
""")

_ASKERS = text("SELECT DISTINCT intent_id FROM links WHERE item_id = ANY(:ids)")


def cancel(engine: Engine, tenant_id: str, intent_id: str) -> list[str] | None:
    """Cancel an intent, as far as it can be; gives the intents that may have changed by it.

    None: the tenant has no such intent. A pruned one is left as it is.
    """
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        if connection.execute(_LOCK_CONVERSATION, {"id": intent_id, "tenant_id": tenant_id}).first() is None:
            return None
        connection.execute(_CANCEL_INTENT, {"id": intent_id})
        ids = list(connection.execute(_LOCK_ITEMS, {"id": intent_id}).scalars())
        facts = connection.execute(_FACTS, {"ids": ids}).all()
        _leave_to_others(connection, [fact for fact in facts if fact.until])
        alone = [fact for fact in facts if not fact.until]
        idle = [fact.id for fact in alone if fact.idle]
        error = tool_error("cancelled").model_dump_json()
        connection.execute(_CANCEL_ITEMS, {"ids": idle, "error": error})
        connection.execute(_STOP_WRITES, {"ids": [fact.id for fact in alone if not fact.idle]})
        return [intent_id, *connection.execute(_ASKERS, {"ids": idle}).scalars()]


def _leave_to_others(connection: Connection, shared: Sequence[Row[Any]]) -> None:
    values = {
        "ids": [fact.id for fact in shared],
        "untils": [fact.until for fact in shared],
        "idle": [fact.idle for fact in shared],
    }
    connection.execute(_SHORTEN_ITEMS, values)
