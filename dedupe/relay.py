"""What is due and has no message: new items whose message got lost, later ones, and those whose lease ran out."""

from collections.abc import Sequence

from sqlalchemy import Engine, text

# SKIP LOCKED: any number of caretakers share the work. Each message sent for an unclaimed item doubles the wait for the
# next one (5 s, 10 s, … 640 s), so that a long queue isn't flooded with copies. But what expires is told when it does.
# Chosen once, before the update: a plan may run a subquery of it again, skip what it has locked, and take too many.
# now() in the condition: an index takes no value that may change within the statement, as clock_timestamp() does.
_TAKE = text("""
WITH due AS MATERIALIZED (
    SELECT id FROM items WHERE queue = :queue AND publish_at <= now()
    ORDER BY publish_at LIMIT :most FOR UPDATE SKIP LOCKED
)
UPDATE items SET publish_at = least(
        clock_timestamp() + 5 * 2 ^ least(published, 7) * interval '1 s',
        CASE WHEN state = 'queued' AND expires_at > clock_timestamp() THEN expires_at + interval '0.05 s' END),
    published = published + 1
FROM due WHERE items.id = due.id
RETURNING items.id, items.queue
""")

# The publish failed: the message is due again at once, when the relay next comes round.
_GIVE_BACK = text("""
UPDATE items SET publish_at = clock_timestamp(), published = greatest(published - 1, 0)
WHERE id = ANY(:ids) AND publish_at IS NOT NULL
""")


def take_due(engine: Engine, queues: Sequence[str], most: int) -> list[tuple[int, str]]:
    """At most `most` items (id, queue) of `queues` that want a message; marked as published by this call."""
    taken: list[tuple[int, str]] = []
    with engine.connect() as connection:
        for queue in queues:
            rows = connection.execute(_TAKE, {"queue": queue, "most": most - len(taken)}).all()
            taken += [(row.id, row.queue) for row in rows]
    return taken


def give_back(engine: Engine, ids: Sequence[int]) -> None:
    """Undo `take_due` for items whose message could not be sent."""
    with engine.connect() as connection:
        connection.execute(_GIVE_BACK, {"ids": list(ids)})
