"""However many items are open, the relay and a worker without work read only the rows that they take."""

from typing import Any

import pytest
from sqlalchemy import TextClause, text

from dedupe import peek, relay
from dedupe.engine import Engine
from tests.dedupe.rows import ask, run

MANY = 100_000
#: Of them are due, in each of two queues.
DUE = 1_000
#: More become due while the test runs, one each two seconds.
MINUTE = 30

# Copies of one item, all open: in two queues the first ones are due, in the third none is.
_COPY = """
INSERT INTO items (tenant_id, conversation_id, key, base, k, reference, effect, queue, provider, fingerprint, request,
                   expires_at, due_at, publish_at)
SELECT tenant_id, conversation_id, key || n, base || n, k, reference || n, effect,
       CASE WHEN n > :many / 2 THEN 'later' WHEN n % 2 = 0 THEN 'bookings' ELSE 'batch' END,
       provider, fingerprint, request,
       now() + interval '1 h', now() + (n - 2 * :due) * interval '1 s', now() + (n - 2 * :due) * interval '1 s'
FROM items, generate_series(1, :many) AS n
"""


@pytest.fixture
def crowded(engine: Engine) -> Engine:
    ask(engine)
    assert run(engine, _COPY, many=MANY, due=DUE) == MANY
    return engine


def read(engine: Engine, statement: TextClause, **values: Any) -> tuple[int, int]:
    """What running it read of `items`: the most rows of one scan, and the rows read in vain."""
    with engine.connect() as connection:
        explained = connection.execute(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}"), values).scalar_one()
    scans = [
        node
        for node in _nodes(explained[0]["Plan"])
        if node.get("Relation Name") == "items" and "Scan" in node["Node Type"]
    ]
    vain = sum(node.get("Rows Removed by Filter", 0) * node["Actual Loops"] for node in _nodes(explained[0]["Plan"]))
    return max(round(node["Actual Rows"] * node["Actual Loops"]) for node in scans), round(vain)


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for below in plan.get("Plans", []) for node in _nodes(below))]


def lease_first(engine: Engine, most: int) -> None:
    """So many of those that have been due for longest run just now."""
    oldest = "SELECT id FROM items WHERE queue = 'bookings' ORDER BY due_at LIMIT :most"
    leased = "state = 'running', token = gen_random_uuid(), lease_until = now() + interval '1 h'"
    run(engine, f"UPDATE items SET {leased} WHERE id IN ({oldest})", most=most)  # noqa: S608 - words of tests


@pytest.mark.own_database
@pytest.mark.parametrize("analyzed", [False, True])
def test_the_relay_and_a_worker_without_work_read_what_they_take(crowded: Engine, analyzed: bool) -> None:
    if analyzed:
        run(crowded, "ANALYZE items")
    assert read(crowded, peek._ANY_DUE, queue="bookings") == (1, 0)
    for _ in range(2):
        # Before the table is analyzed, Postgres sorts what is due; it reads no others even then.
        most, vain = read(crowded, relay._TAKE, queue="bookings", most=200)
        assert most == 200 if analyzed else most <= DUE + MINUTE
        assert vain == 0
    lease_first(crowded, 64)
    assert read(crowded, peek._ANY_DUE, queue="bookings") == (1, 64), "only those that run just now are passed by"
    assert read(crowded, peek._ANY_DUE, queue="later") == (0, 0)
    assert read(crowded, relay._TAKE, queue="later", most=200) == (0, 0)
