"""Three durable commits for a plain intent, and no transaction open while a provider is called."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from booking.states import State
from dedupe.engine import Engine
from tests.dedupe.rows import ask, room, rows, run, wide
from tests.pms import Pms
from tests.tasks.desk import Desk

Desks = Callable[..., Desk]

pytestmark = pytest.mark.own_database

# Each changed row of our tables notes its transaction: a commit is durable work exactly if it changed a row.
_WATCH = """
CREATE TABLE watched (xid xid8 NOT NULL, relation text NOT NULL);
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO watched VALUES (pg_current_xact_id(), TG_TABLE_NAME); RETURN NULL; END $$;
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                AND relname <> 'watched' LOOP
        EXECUTE 'CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON ' || quote_ident(name)
            || ' FOR EACH ROW EXECUTE FUNCTION watch()';
    END LOOP;
END $$;
"""
_COMMITS = "SELECT xid, array_agg(DISTINCT relation ORDER BY relation) AS tables FROM watched GROUP BY xid ORDER BY xid"
_OPEN = """SELECT pid, state, query FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  AND (xact_start IS NOT NULL OR state <> 'idle')"""
_SESSIONS = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""


@pytest.fixture
def onlooker(engine: Engine) -> Iterator[Engine]:
    """A connection of its own, so that looking doesn't count."""
    with wide(engine, 1) as other:
        yield other


def watch(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.exec_driver_sql(_WATCH)


def commits(engine: Engine) -> list[list[str]]:
    """The tables that each committed transaction changed, in order."""
    return [one.tables for one in rows(engine, _COMMITS)]


def test_a_plain_intent_takes_three_durable_commits(desk: Desks, engine: Engine) -> None:
    at = desk()
    ask(engine, room("single"), conversation="c-0")  # the tenant is there already
    watch(engine)
    item = at.ask()
    assert at.run(item).state is State.SUCCEEDED
    assert commits(engine) == [
        ["conversations", "intents", "items", "links"],  # admit
        ["attempts", "items"],  # begin
        ["attempts", "items"],  # settle
    ]


def test_a_batch_is_admitted_in_one_commit_too(desk: Desks, engine: Engine) -> None:
    ask(engine, room("single"), conversation="c-0")
    watch(engine)
    ask(engine, *[room("suite")] * 50)
    assert commits(engine) == [["conversations", "intents", "items", "links"]]


def test_a_lost_answer_costs_two_commits_more(desk: Desks, pms: Pms, engine: Engine) -> None:
    at = desk()
    pms.fault("reset_after_commit", match={"operation": "create_booking"}, times=1)
    item = at.ask()
    watch(engine)
    assert at.run(item).state is State.SUCCEEDED
    assert commits(engine) == [["attempts", "items"], ["attempts"], ["attempts", "items"], ["attempts", "items"]]


def test_a_message_for_nothing_commits_nothing(desk: Desks, engine: Engine) -> None:
    at = desk()
    item = at.ask()
    at.run(item)
    watch(engine)
    with pytest.raises(AssertionError):
        at.run(item)
    assert commits(engine) == []


@pytest.mark.parametrize("operation", ["create_booking", "find"])
def test_no_transaction_is_open_while_a_call_is_under_way(
    desk: Desks, pms: Pms, onlooker: Engine, operation: str
) -> None:
    at = desk()
    if operation == "find":
        pms.fault("reset_after_commit", match={"operation": "create_booking"}, times=1)
    hold = pms.fault("commit_then_timeout", match={"operation": operation}, times=1)
    item = at.ask()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(at.run, item)
        pms.wait_held(within=20)
        transactions, sessions = rows(onlooker, _OPEN), rows(onlooker, _SESSIONS)[0][0]
        pms.release(hold)
        assert running.result(timeout=20).state is State.SUCCEEDED
    assert transactions == []
    assert sessions > 0


def test_a_call_under_way_locks_no_row(desk: Desks, pms: Pms, onlooker: Engine) -> None:
    at = desk()
    hold = pms.fault("commit_then_timeout", match={"operation": "create_booking"}, times=1)
    item = at.ask()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(at.run, item)
        pms.wait_held(within=20)
        locked = rows(onlooker, "SELECT id FROM items FOR UPDATE NOWAIT")
        run(onlooker, "UPDATE items SET expires_at = expires_at + interval '1 s'")
        pms.release(hold)
        assert running.result(timeout=20).state is State.SUCCEEDED
    assert [one.id for one in locked] == [item]
