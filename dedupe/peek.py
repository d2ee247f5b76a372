"""Read an item without a lock: what `decide` needs, and the `rev` that `begin` will insist on."""

from typing import Any

from sqlalchemy import Engine, Row, text

from booking.errors import ToolError
from booking.states import State
from dedupe.items import Item

#: SQL, of an item `i`: the reservation that it changes has been changed by a later one. Refunds overtake nothing.
OVERTAKEN = """(i.subject IS NOT NULL AND i.effect IN ('change', 'cancel') AND EXISTS (
    SELECT FROM items n WHERE n.subject = i.subject AND n.tenant_id = i.tenant_id AND n.provider = i.provider
    AND n.effect IN ('change', 'cancel') AND n.id > i.id AND n.state NOT IN ('failed', 'cancelled')))"""

# A plain read; the attempts are summed up here so that the decision sees doubt and item at one instant.
_SELECT = """
SELECT i.*, a.doubts, a.last_send, a.sends, clock_timestamp() AS now,
       ARRAY(SELECT provider FROM pauses WHERE lifted_at IS NULL) AS paused,
       {overtaken} AS overtaken
FROM items i CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(may_send_until) FILTER (WHERE outcome IS NULL OR outcome = 'unknown'), '{{}}') AS doubts,
           max(may_send_until) AS last_send,
           count(*) FILTER (WHERE outcome IS NULL OR outcome IN ('unknown', 'absent', 'done')) AS sends
    FROM attempts WHERE item_id = i.id AND kind = 'write'
) a
WHERE i.id = :id
"""
_PEEK = text(_SELECT.format(overtaken=OVERTAKEN))

# A message is a token: where its own item can't run, it runs any other that is due. Only those that run just now are
# passed by. now(), not clock_timestamp(): an index takes no value that may change within the statement.
_ANY_DUE = text("""
SELECT id FROM items
WHERE queue = :queue AND due_at <= now() AND (lease_until IS NULL OR lease_until < now())
ORDER BY due_at LIMIT 1
""")


def peek(engine: Engine, item_id: int) -> Item | None:
    """The item as it is now, or None where there is none of that id."""
    with engine.connect() as connection:
        row = connection.execute(_PEEK, {"id": item_id}).first()
    return _item(row) if row else None


def any_due(engine: Engine, queue: str) -> int | None:
    """The id of the item of `queue` that has been due for longest, unclaimed; None where nothing is due."""
    with engine.connect() as connection:
        return connection.execute(_ANY_DUE, {"queue": queue}).scalar()


def _item(row: Row[Any]) -> Item:
    return Item(
        id=row.id,
        tenant_id=row.tenant_id,
        conversation_id=row.conversation_id,
        key=row.key,
        reference=row.reference,
        key_generation=row.key_generation,
        effect=row.effect,
        provider=row.provider,
        request=row.request,
        request_bytes=bytes(row.request_bytes) if row.request_bytes is not None else None,
        state=State(row.state),
        refusal=_error(row.refusal),
        error=_error(row.error),
        rev=row.rev,
        token=row.token,
        lease_until=row.lease_until,
        due_at=row.due_at,
        provider_id=row.provider_id,
        writes=row.writes,
        failures=row.failures,
        doubted_at=row.doubted_at,
        first_sent_at=row.first_sent_at,
        expires_at=row.expires_at,
        stop_writes=row.stop_writes,
        doubts=tuple(row.doubts),
        last_send=row.last_send,
        sends=row.sends,
        paused=frozenset(row.paused),
        now=row.now,
        subject=row.subject,
        overtaken=row.overtaken,
        seen=row.seen,
    )


def _error(value: Any) -> ToolError | None:
    return ToolError.model_validate(value) if value is not None else None
