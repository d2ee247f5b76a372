"""A batch of reminders that is retried: the expansion only if it failed itself, and the mails only if they did."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import text

from dedupe.engine import Engine
from dedupe.items import Item
from dedupe.retry import retry as run_again
from dedupe.submission import Admitted
from dedupe.tenants import Caller, find_tenant
from tests.booking.build import error_of
from tests.dedupe.calls import end, failed
from tests.dedupe.rows import change, linked, row, run, seen
from tests.guards.chat import Chat
from tests.retry.again import replayed, retried, states, the_intent
from tests.retry.arrivals import arrive, ask_reminders, expanded, start_expansion

UNAVAILABLE = error_of("unavailable").model_dump_json()


@pytest.fixture
def caller(chat: Chat) -> Caller:
    found = find_tenant(chat.api.engine, chat.api.tenant.id)
    assert found is not None
    return found


def fail(engine: Engine, item_id: int) -> None:
    """As if it had been tried and refused."""
    changes = "state = 'failed', due_at = NULL, publish_at = NULL, error = CAST(:error AS jsonb)"
    change(engine, item_id, changes, error=UNAVAILABLE)


@pytest.fixture
def batch(chat: Chat, caller: Caller) -> tuple[Admitted, Item, list[int]]:
    """The intent, its expansion, which has found three guests, and their mails: failed, not tried, failed."""
    engine = chat.api.engine
    asked, item = ask_reminders(engine, caller)
    assert expanded(engine, item, start_expansion(engine, item), arrive(3))
    first, *mails = linked(engine, asked.intent_id)
    assert first == item.id
    fail(engine, mails[0])
    fail(engine, mails[2])
    return asked, item, mails


def test_an_expansion_that_failed_runs_again(chat: Chat, caller: Caller) -> None:
    engine = chat.api.engine
    asked, item = ask_reminders(engine, caller)
    end(engine, item, start_expansion(engine, item), "unknown", failed())
    intent = {"id": asked.intent_id}
    assert states(chat.look(asked.intent_id)) == ["failed"]
    assert states(retried(chat, intent)) == ["queued"]
    again = seen(engine, item.id)
    assert expanded(engine, again, start_expansion(engine, again), arrive(2))
    assert states(chat.look(asked.intent_id)) == ["queued", "queued"]


def test_one_that_succeeded_does_not_only_the_mails_that_failed_do(
    chat: Chat, batch: tuple[Admitted, Item, list[int]]
) -> None:
    engine = chat.api.engine
    asked, item, mails = batch
    before = [row(engine, one) for one in (item.id, mails[1])]
    answer = retried(chat, {"id": asked.intent_id})
    assert states(answer) == ["queued", "queued", "queued"]
    assert [row(engine, one) for one in (item.id, mails[1])] == before
    assert states(replayed(chat, {"id": asked.intent_id})) == ["queued"] * 3


@pytest.mark.parametrize(("had", "has"), [("-1 day", 60), ("5 min", 60), ("5 hours", 300)])
def test_it_lives_an_hour_or_as_long_as_it_had(
    chat: Chat, batch: tuple[Admitted, Item, list[int]], had: str, has: int
) -> None:
    asked, _, mails = batch
    run(chat.api.engine, f"UPDATE intents SET expires_at = now() + interval '{had}'")  # noqa: S608 - a word of ours
    retried(chat, {"id": asked.intent_id})
    left = the_intent(chat.api.engine, asked.intent_id).left
    assert timedelta(minutes=has - 1) < left <= timedelta(minutes=has)
    assert seen(chat.api.engine, mails[0]).expires_at == the_intent(chat.api.engine, asked.intent_id).expires_at


def test_it_waits_for_no_expansion_that_runs(
    chat: Chat, caller: Caller, batch: tuple[Admitted, Item, list[int]]
) -> None:
    """An expansion holds its own item while it waits for its mails': whoever waited for both would lock up with it."""
    engine = chat.api.engine
    asked, item, mails = batch
    ask_reminders(engine, caller)
    assert seen(engine, item.id).state == "queued", "it expands again"
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as other, other.begin():
        other.execute(text("SELECT FROM items WHERE id = :id FOR UPDATE"), {"id": item.id})
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run_again, engine, caller.tenant_id, asked.intent_id, lambda _: 3600.0)
            try:
                assert running.result(timeout=4) == [(mails[0], "batch.mail"), (mails[2], "batch.mail")]
            finally:
                other.rollback()
