"""What a retry locks, and against whom: prune, late proofs, other conversations that share its mails."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import text

from dedupe.engine import Engine
from dedupe.prune import prune_once
from dedupe.retry import retry
from dedupe.tenants import Caller, find_tenant
from tests.booking.build import error_of
from tests.dedupe.rows import CALLER, ask, change, linked, row, rows, run, wide
from tests.dedupe.test_prune import grow_old
from tests.retry.again import the_intent
from tests.retry.arrivals import arrive, ask_reminders, expanded, start_expansion
from tests.waiting import eventually

UNAVAILABLE = error_of("unavailable").model_dump_json()
FAILED = "state = 'failed', due_at = NULL, publish_at = NULL, settled_at = now(), error = CAST(:error AS jsonb)"
MAILS = 100
WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

# A table is read in the order in which its rows were written.
TURN_AROUND = """
WITH gone AS (DELETE FROM links WHERE intent_id = :id RETURNING *)
INSERT INTO links (intent_id, position, item_id) SELECT intent_id, -position, item_id FROM gone ORDER BY item_id DESC
"""


def again(engine: Engine, intent_id: str) -> list[tuple[int, str]] | None:
    return retry(engine, CALLER.tenant_id, intent_id, lambda _: 600.0)


def test_what_is_being_retried_is_not_pruned(engine: Engine) -> None:
    asked = ask(engine)
    [item] = linked(engine, asked.intent_id)
    change(engine, item, FAILED, error=UNAVAILABLE)
    grow_old(engine)
    run(engine, "UPDATE intents SET noted = asked")  # counting a failure would lock it, too
    with ThreadPoolExecutor(1) as pool:
        with engine.connect().execution_options(isolation_level="READ COMMITTED") as gate, gate.begin():
            gate.execute(text("SELECT FROM items WHERE id = :id FOR UPDATE"), {"id": item})
            running = pool.submit(again, engine, asked.intent_id)
            eventually(lambda: rows(engine, WAITING))
            assert prune_once(engine) == 0
        assert running.result(timeout=20) == [(item, "bookings.pms")]
    assert the_intent(engine, asked.intent_id).pruned_at is None
    assert linked(engine, asked.intent_id) == [item]


def test_a_late_proof_that_comes_first_stays(engine: Engine) -> None:
    asked = ask(engine)
    [item] = linked(engine, asked.intent_id)
    change(engine, item, FAILED, error=UNAVAILABLE)
    proof = "UPDATE items SET state = 'succeeded', result = '{}', error = NULL WHERE id = :id"
    with ThreadPoolExecutor(1) as pool:
        with engine.connect().execution_options(isolation_level="READ COMMITTED") as gate, gate.begin():
            gate.execute(text(proof), {"id": item})
            running = pool.submit(again, engine, asked.intent_id)
            eventually(lambda: rows(engine, WAITING))
        assert running.result(timeout=20) == []
    assert row(engine, item).state == "succeeded"


def test_two_batches_that_share_their_mails_lock_them_in_one_order(engine: Engine) -> None:
    """Each has them in an order of its own; locked in that order, they would lock each other up."""
    ask(engine)
    found = find_tenant(engine, CALLER.tenant_id)
    assert found is not None
    first, second = (_batch(engine, found, name) for name in ("c-1", "c-2"))
    run(engine, TURN_AROUND, id=second)
    run(engine, f"UPDATE items SET {FAILED} WHERE effect = 'reminder'", error=UNAVAILABLE)  # noqa: S608
    middle = linked(engine, first)[MAILS // 2]
    with wide(engine, 2) as many, ThreadPoolExecutor(2) as pool:
        with engine.connect().execution_options(isolation_level="READ COMMITTED") as gate, gate.begin():
            gate.execute(text("SELECT FROM items WHERE id = :id FOR UPDATE"), {"id": middle})
            running = []
            for number, intent in enumerate((first, second)):
                running.append(pool.submit(again, many, intent))
                eventually(lambda number=number: len(rows(engine, WAITING)) == number + 1)  # type: ignore[misc]
        armed = [one.result(timeout=20) or [] for one in running]
    assert sorted(map(len, armed)) == [0, MAILS]


def _batch(engine: Engine, caller: Caller, conversation: str) -> str:
    asked, item = ask_reminders(engine, caller, conversation)
    assert expanded(engine, item, start_expansion(engine, item), arrive(MAILS))
    return asked.intent_id
