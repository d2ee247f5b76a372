"""Guards: a conversation whose calls keep failing is stopped, so that ending it does not depend on the model.

A call is counted once for each time it was asked, when all of it is known and some of it has failed; a batch is one
call. Whoever meets such a failure first counts it: the worker that settles, the API that tells it, the next asking.
Locks are taken in the order of `admit`: conversation, intents, items.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, text

from booking.handoff import Stop, StopReason
from booking.settings import Guards

# `asked` as it was read: an asking that came in between was let in by `admit`, which has counted by itself. Reminders
# that mailed somebody have not failed, whatever is wrong with other guests' addresses; asked in vain, they have.
_COUNT = text("""
WITH due AS MATERIALIZED (
    SELECT n.id, n.asked,
           bool_or(i.state = 'failed' AND i.error ->> 'code' = 'UNAVAILABLE') AS unavailable,
           NOT bool_or(i.effect = 'arrivals' AND (i.result ->> 'to_send')::int > 0) IS TRUE AS counts
    FROM intents n JOIN links l ON l.intent_id = n.id JOIN items i ON i.id = l.item_id
    WHERE n.id = ANY(:ids) AND n.noted < n.asked
    GROUP BY n.id
    HAVING bool_or(i.state = 'failed') AND NOT bool_or(i.state IN ('queued', 'running'))
), noted AS (
    UPDATE intents n SET noted = n.asked FROM due d WHERE n.id = d.id AND n.asked = d.asked AND n.noted < n.asked
    RETURNING n.tenant_id, n.conversation_id, n.call, d.unavailable, d.counts
)
INSERT INTO failures (tenant_id, conversation_id, round, call, unavailable)
SELECT c.tenant_id, c.id, c.round, n.call, n.unavailable
FROM noted n JOIN conversations c ON c.tenant_id = n.tenant_id AND c.id = n.conversation_id WHERE n.counts
RETURNING tenant_id, conversation_id
""")

_COUNT_CALL = text("""
INSERT INTO failures (tenant_id, conversation_id, round, call, unavailable)
SELECT tenant_id, id, round, :call, :unavailable FROM conversations WHERE tenant_id = :tenant_id AND id = :id
""")

# Its own statement, after the counting, so that it sees what was counted; the conversation is locked.
_STOP = text("""
WITH counted AS (
    SELECT count(*) AS same, count(*) FILTER (WHERE f.unavailable) AS unavailable
    FROM failures f JOIN conversations c ON c.tenant_id = f.tenant_id AND c.id = f.conversation_id AND c.round = f.round
    WHERE c.tenant_id = :tenant_id AND c.id = :id AND c.stopped_at IS NULL GROUP BY f.call
), reached AS (
    SELECT CASE WHEN max(n.same) >= coalesce((t.settings #>> '{guards,same_call_failures}')::int, :same)
                THEN 'same_call'
                WHEN sum(n.unavailable) >= coalesce((t.settings #>> '{guards,unavailable}')::int, :unavailable)
                THEN 'unavailable' END AS reason
    FROM counted n, tenants t WHERE t.id = :tenant_id GROUP BY t.id
), stopped AS (
    UPDATE conversations c SET stopped_at = clock_timestamp(), stop_reason = r.reason
    FROM reached r WHERE r.reason IS NOT NULL AND c.tenant_id = :tenant_id AND c.id = :id
    RETURNING c.tenant_id, c.id, c.stop_reason, c.stopped_at
), told AS (
    INSERT INTO events (tenant_id, conversation_id, kind, detail)
    SELECT tenant_id, id, 'stopped', jsonb_build_object('reason', stop_reason) FROM stopped
)
SELECT stop_reason, stopped_at FROM stopped
""")

# Those of an item's intents that are over; most have nothing to count, and no lock is taken for them.
_OVER = text("""
SELECT DISTINCT n.id FROM links k JOIN intents n ON n.id = k.intent_id
WHERE k.item_id = :item_id AND n.noted < n.asked
  AND NOT EXISTS (SELECT FROM links l JOIN items i ON i.id = l.item_id
                  WHERE l.intent_id = n.id AND i.state IN ('queued', 'running'))
""")

_LOCK_OF_INTENTS = text("""
SELECT c.id FROM conversations c
WHERE (c.tenant_id, c.id) IN (SELECT tenant_id, conversation_id FROM intents WHERE id = ANY(:ids))
ORDER BY c.tenant_id, c.id FOR UPDATE
""")

# A conversation may begin with a read.
_LOCK = text("""
INSERT INTO conversations AS c (tenant_id, id) VALUES (:tenant_id, :id)
ON CONFLICT (tenant_id, id) DO UPDATE SET admitted = c.admitted
""")


def count_failed(connection: Connection, intent_ids: Sequence[str]) -> Stop | None:
    """Count those of the intents that failed and are not counted yet; gives the stop that this leads to.

    Within a transaction that has locked the conversations.
    """
    rows = connection.execute(_COUNT, {"ids": list(intent_ids)}).all()
    # In order: a stop is an event, which is numbered under a lock of its tenant; two that stop several must not wait
    # for each other.
    places = sorted({(row.tenant_id, row.conversation_id) for row in rows})
    stops = [_stop(connection, *place) for place in places]
    return next((stop for stop in stops if stop), None)


def note_failures(engine: Engine, item_id: int) -> None:
    """Count the failures of those who asked for an item that has just failed. Any number of times: each counts once."""
    with engine.connect() as connection:
        ids = list(connection.execute(_OVER, {"item_id": item_id}).scalars())
    if ids:
        note_intents(engine, ids)


def note_intents(engine: Engine, intent_ids: Sequence[str]) -> None:
    """Count these intents, those of them that failed, as one call each. Before the failure is told."""
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        connection.execute(_LOCK_OF_INTENTS, {"ids": list(intent_ids)})
        count_failed(connection, intent_ids)


def note_failed_call(engine: Engine, tenant_id: str, conversation_id: str, call: str, unavailable: bool) -> Stop | None:
    """Count a call that left no intent, a read. `call` is the same for the same tool and arguments.

    Gives the stop if this was one failure too many.
    """
    place = {"tenant_id": tenant_id, "id": conversation_id}
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        connection.execute(_LOCK, place)
        connection.execute(_COUNT_CALL, {**place, "call": call, "unavailable": unavailable})
        return _stop(connection, tenant_id, conversation_id)


def _stop(connection: Connection, tenant_id: str, conversation_id: str) -> Stop | None:
    usual = Guards()
    values = {
        "tenant_id": tenant_id,
        "id": conversation_id,
        "same": usual.same_call_failures,
        "unavailable": usual.unavailable,
    }
    row = connection.execute(_STOP, values).first()
    return Stop(reason=StopReason(row.stop_reason), at=row.stopped_at) if row else None
