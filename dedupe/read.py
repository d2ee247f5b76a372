"""Read intents and conversations as they are now. Plain reads; a missing one is None or left out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine, Row, TextClause, text

from booking.conversation import handoff_of
from booking.handoff import Stop, StopReason
from booking.results import IntentRow, ItemRow
from dedupe.blocks import twin

# One statement for all who poll at the same time, one row an intent; a pruned one has no items. They come as one JSON
# text, which is read four times as fast as a thousand rows. Identical rooms that were admitted together have the same
# twin: it is looked for once, since its index names all of them.
_SELECT = """
SELECT n.id, n.tenant_id, n.key, n.tool, n.conversation_id, n.created_at, n.expires_at,
       n.pruned_at IS NOT NULL AS pruned, n.noted < n.asked AS uncounted, c.stopped_at, c.stop_reason, (
    SELECT CAST(json_agg(json_build_object(
        'position', l.position, 'id', i.id, 'key', i.key, 'effect', i.effect, 'state', i.state, 'result', i.result,
        'error', i.error, 'attempts', i.attempts, 'slow', i.slow, 'request', i.request) ORDER BY l.position) AS text)
    FROM links l JOIN items i ON i.id = l.item_id WHERE l.intent_id = n.id) AS items, (
    SELECT t.twin FROM (
        SELECT s.guest, s.stay, s.created_at, max(s.id) AS id, min(k.position) AS position
        FROM links k JOIN items s ON s.id = k.item_id WHERE k.intent_id = n.id AND s.stay IS NOT NULL
        GROUP BY s.guest, s.stay, s.created_at) g CROSS JOIN LATERAL (SELECT {twin} AS twin) t
    WHERE t.twin IS NOT NULL ORDER BY g.position LIMIT 1) AS twin
FROM intents n JOIN conversations c ON c.tenant_id = n.tenant_id AND c.id = n.conversation_id
WHERE n.id = ANY(:ids) {only}
"""
_TWIN = twin("g.guest", "g.stay", "n", "g.id", "g.created_at")
_INTENTS = text(_SELECT.format(only="", twin=_TWIN))

# For those who wait: most of theirs are not done, and a batch is woken by each of its items.
_DONE = text(
    _SELECT.format(
        twin=_TWIN,
        only="""AND NOT EXISTS (
    SELECT FROM links o JOIN items p ON p.id = o.item_id
    WHERE o.intent_id = n.id AND p.state IN ('queued', 'running'))""",
    )
)

# The newest first, one more than is given: if it comes, there are older ones. An effect of the whole tenant, a refund,
# was perhaps first asked for in another conversation. Where an intent is pruned, its items still tell the conversation.
_CONVERSATION = text("""
SELECT 0 AS position, i.id AS item_id, i.key AS item_key, i.effect, i.state, i.result, i.error, i.attempts, i.slow,
       i.request
FROM items i WHERE i.id IN (
    SELECT id FROM items WHERE conversation_id = :conversation_id AND tenant_id = :tenant_id
    UNION SELECT l.item_id FROM intents n JOIN links l ON l.intent_id = n.id
    WHERE n.conversation_id = :conversation_id AND n.tenant_id = :tenant_id)
ORDER BY i.id DESC LIMIT :most + 1
""")

_ITEMS = TypeAdapter(list[ItemRow])

#: More than any chat asks for; a bound on what one answer can hold.
MOST_ITEMS = 5000


class Items(NamedTuple):
    """The items asked for in a conversation, oldest first. `truncated`: there are older ones, which are left out."""

    rows: list[ItemRow]
    truncated: bool


def read_intents(engine: Engine, ids: Sequence[str]) -> dict[str, IntentRow]:
    """The intents of `ids` that exist, with their items in order."""
    return _read(engine, _INTENTS, ids)


def read_done(engine: Engine, ids: Sequence[str]) -> dict[str, IntentRow]:
    """Those intents of `ids` of which no item is pending any more."""
    return _read(engine, _DONE, ids)


def _read(engine: Engine, statement: TextClause, ids: Sequence[str]) -> dict[str, IntentRow]:
    with engine.connect() as connection:
        rows = connection.execute(statement, {"ids": list(ids)}).all()
        handoffs = _handoffs(connection, rows)
    return {row.id: _intent(row, handoffs.get((row.tenant_id, row.conversation_id))) for row in rows}


def _intent(row: Row[Any], handoff: str | None) -> IntentRow:
    # Checked once, on the way out of the JSON: a thousand items are not checked again.
    items = _ITEMS.validate_json(row.items) if row.items else []
    return IntentRow.model_construct(
        id=row.id,
        tenant_id=row.tenant_id,
        key=row.key,
        tool=row.tool,
        conversation_id=row.conversation_id,
        created_at=row.created_at,
        expires_at=row.expires_at,
        items=items,
        pruned=row.pruned,
        uncounted=row.uncounted,
        stop=Stop(reason=StopReason(row.stop_reason), at=row.stopped_at) if row.stopped_at else None,
        handoff=handoff,
        twin=row.twin,
    )


def _handoffs(connection: Connection, rows: Sequence[Row[Any]]) -> dict[tuple[str, str], str]:
    """The handoffs of those conversations that are stopped, read once each."""
    stopped = {(row.tenant_id, row.conversation_id) for row in rows if row.stopped_at}
    return {place: handoff_of(*_items(connection, *place)) for place in stopped}


def _items(connection: Connection, tenant_id: str, conversation_id: str) -> Items:
    values = {"tenant_id": tenant_id, "conversation_id": conversation_id, "most": MOST_ITEMS}
    newest = connection.execute(_CONVERSATION, values).all()
    return Items([_item(row) for row in reversed(newest[:MOST_ITEMS])], len(newest) > MOST_ITEMS)


def read_conversation(engine: Engine, tenant_id: str, conversation_id: str) -> Items:
    """The items asked for in a conversation, oldest first; of very many the newest MOST_ITEMS."""
    with engine.connect() as connection:
        return _items(connection, tenant_id, conversation_id)


def _item(row: Row[Any]) -> ItemRow:
    return ItemRow(
        position=row.position,
        id=row.item_id,
        key=row.item_key,
        effect=row.effect,
        state=row.state,
        result=row.result,
        error=row.error,
        attempts=row.attempts,
        slow=row.slow,
        request=row.request,
    )
