"""A plan made while the tables were empty is kept: it must not read all rows once they are not."""

from collections.abc import Iterator
from typing import Any

import pytest

from dedupe.engine import Engine
from tests.dedupe.rows import ask, room, run

pytestmark = pytest.mark.own_database

LOOKS = {
    "known items": "FROM items WHERE tenant_id = $1 AND base = ANY(ARRAY[$2]) AND state <> 'superseded'",
    "a known item": "FROM items WHERE tenant_id = $1 AND base = $2",
    "the items of a conversation": "FROM items WHERE tenant_id = $1 AND conversation_id = $2",
    "a known intent": "FROM intents WHERE tenant_id = $1 AND key_kind = 'derived' AND key = $2",
}
_MANY_ITEMS = """
INSERT INTO items (tenant_id, conversation_id, key, base, k, reference, effect, queue, provider, fingerprint, request,
                   expires_at)
SELECT 't-1', 'b-' || n, 'b-' || n, 'b-' || n, 0, 'r-' || n, 'booking', 'bookings', 'pms', '', '{}', now()
FROM generate_series(1, 5000) n
"""
_MANY_INTENTS = """
INSERT INTO intents (id, tenant_id, conversation_id, tool, key_kind, key, call, fingerprint, expires_at)
SELECT 'i-' || n, 't-1', 'c-0', 'book_rooms', 'derived', 'b-' || n, '', '', now() FROM generate_series(1, 5000) n
"""


def plans(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from plans(child)


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_reads_the_rows_it_wants_and_no_others(engine: Engine, name: str) -> None:
    ask(engine, room(), conversation="c-0")
    for table in ("items", "intents"):
        run(engine, f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"PREPARE look (text, text) AS SELECT id {LOOKS[name]}")
        connection.exec_driver_sql("EXECUTE look ('t-1', 'b-7')")  # the plan is made now
        connection.exec_driver_sql(_MANY_ITEMS)
        connection.exec_driver_sql(_MANY_INTENTS)
        told = connection.exec_driver_sql("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE look ('t-1', 'b-7')")
        plan = told.scalar_one()[0]["Plan"]
    assert plan["Actual Rows"] == 1
    assert sum(node.get("Rows Removed by Filter", 0) for node in plans(plan)) == 0
