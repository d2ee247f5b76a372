"""Prune: delete what is old, in small batches, never a row that is not settled. Keys outlive guest data."""

from sqlalchemy import Engine, text

#: Days that an intent and its guest's data are kept once all is settled.
KEEP_DAYS = 30
#: Days after check-out that an item's key still guards against a late duplicate.
TOMBSTONE_DAYS = 90
BATCH = 500

# An intent whose items are all settled and of which no dead letter waits; its row stays, so that its id answers 410.
# `expires_at` tells when it was last asked.
_PRUNE_INTENTS = text("""
WITH old AS (
    SELECT n.id FROM intents n
    WHERE n.pruned_at IS NULL AND n.created_at < now() - :days * interval '1 day'
      AND n.expires_at < now() - :days * interval '1 day'
      AND NOT EXISTS (SELECT FROM links l JOIN items i ON i.id = l.item_id
                      LEFT JOIN dead_letters d ON d.item_id = i.id AND d.closed_at IS NULL
                      WHERE l.intent_id = n.id AND (i.state IN ('queued', 'running', 'unknown') OR d.id IS NOT NULL))
    LIMIT :batch FOR UPDATE SKIP LOCKED
), marked AS (
    UPDATE intents n SET pruned_at = now() FROM old WHERE n.id = old.id RETURNING n.id
)
DELETE FROM links l USING marked WHERE l.intent_id = marked.id
""")

# Items that no living intent asks for: what tells of the guest goes, the key and the dates stay.
_BLANK_ITEMS = text("""
WITH old AS (
    SELECT i.id FROM items i
    WHERE i.blanked_at IS NULL AND i.settled_at < now() - :days * interval '1 day'
      AND i.state IN ('succeeded', 'failed', 'cancelled', 'superseded')
      AND NOT EXISTS (SELECT FROM links l WHERE l.item_id = i.id)
    LIMIT :batch FOR UPDATE SKIP LOCKED
)
UPDATE items i SET blanked_at = now(), request_bytes = NULL, seen = NULL, guest = NULL, stay = NULL,
    request = i.request - 'guest' - 'notes' - 'verified' - 'guest_name' - 'email', result = i.result - 'guest_name'
FROM old WHERE i.id = old.id
""")

# The verified guest of a conversation that nothing asks for any more, and failures that no guard counts.
_BLANK_GUESTS = text("""
WITH old AS (
    SELECT c.tenant_id, c.id FROM conversations c
    WHERE c.guest IS NOT NULL AND c.guest_at < now() - :days * interval '1 day'
      AND NOT EXISTS (SELECT FROM intents n WHERE n.tenant_id = c.tenant_id AND n.conversation_id = c.id
                      AND n.pruned_at IS NULL)
    LIMIT :batch FOR UPDATE SKIP LOCKED
)
UPDATE conversations c SET guest = NULL, guest_at = NULL FROM old WHERE c.tenant_id = old.tenant_id AND c.id = old.id
""")
_OLD_FAILURES = text("""
DELETE FROM failures WHERE id IN (SELECT id FROM failures WHERE at < now() - :days * interval '1 day' LIMIT :batch)
""")

# Tombstones that no late duplicate can ask for any more: the stay is long over.
_OLD_TOMBSTONES = text("""
SELECT id FROM items
WHERE blanked_at IS NOT NULL
  AND coalesce((request ->> 'check_out')::date, (request ->> 'date')::date, (settled_at AT TIME ZONE 'UTC')::date)
      < current_date - CAST(:days AS int)
LIMIT :batch FOR UPDATE SKIP LOCKED
""")

_DELETE = [
    text("DELETE FROM attempts WHERE item_id = ANY(:ids)"),
    text("DELETE FROM events WHERE item_id = ANY(:ids)"),
    text("DELETE FROM dead_letters WHERE item_id = ANY(:ids)"),
    text("DELETE FROM items WHERE id = ANY(:ids)"),
]


def prune_once(engine: Engine) -> int:
    """One small batch of each kind. Returns the number of rows that were pruned, blanked or deleted."""
    with engine.connect() as connection:
        values = {"days": KEEP_DAYS, "batch": BATCH}
        steps = (_PRUNE_INTENTS, _BLANK_ITEMS, _BLANK_GUESTS, _OLD_FAILURES)
        done = sum(connection.execute(step, values).rowcount for step in steps)
    return done + _delete_tombstones(engine)


def _delete_tombstones(engine: Engine) -> int:
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        ids = list(connection.execute(_OLD_TOMBSTONES, {"days": TOMBSTONE_DAYS, "batch": BATCH}).scalars())
        for statement in _DELETE if ids else []:
            connection.execute(statement, {"ids": ids})
    return len(ids)
