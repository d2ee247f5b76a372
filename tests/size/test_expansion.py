"""Five thousand arrivals: more than one answer holds, so it comes in pages, and a retry takes all of them at once."""

from typing import Any

import pytest

from dedupe.engine import Engine
from dedupe.tenants import find_tenant
from tests.booking.build import error_of
from tests.dedupe.rows import run
from tests.guards.chat import Chat
from tests.retry.again import retry, unguarded
from tests.retry.arrivals import arrive, ask_reminders, expanded, start_expansion
from tests.size.measure import log, seconds, statements, times

ARRIVALS = 5000


def expand(engine: Engine, tenant_id: str, number: int, conversation: str) -> tuple[str, list[str]]:
    """The intent of so many reminders, and what was sent to Postgres to add them."""
    caller = find_tenant(engine, tenant_id)
    assert caller is not None
    asked, item = ask_reminders(engine, caller, conversation)
    begun = start_expansion(engine, item)
    guests = arrive(number)
    with statements(engine) as sent:
        taken = seconds(lambda: expanded(engine, item, begun, guests))
    log.info("expansion of %d arrivals: %d ms", number, taken * 1e3)
    return asked.intent_id, sent


@pytest.fixture
def intent(chat: Chat) -> str:
    """Its five thousand mails, of which every tenth has failed and every hundredth can't be confirmed."""
    engine = chat.api.engine
    made, _ = expand(engine, chat.api.tenant.id, ARRIVALS, "c-77")
    error = error_of("unavailable").model_dump_json()
    change = "UPDATE items SET state = :state, error = CAST(:error AS jsonb), due_at = NULL WHERE effect = 'reminder' "
    run(engine, f"{change} AND id % 10 = 0", state="failed", error=error)
    run(engine, f"{change} AND id % 100 = 1", state="unknown", error=None)
    return made


def page(chat: Chat, intent: str, **query: Any) -> dict[str, Any]:
    response = chat.api.http.get(f"/v1/intents/{intent}", params=query)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def pages(chat: Chat, intent: str, **query: Any) -> list[dict[str, Any]]:
    found = [page(chat, intent, **query)]
    while found[-1]["next_items"] is not None:
        found.append(page(chat, intent, **query, after=found[-1]["next_items"]))
    return found


def positions(found: list[dict[str, Any]]) -> list[int]:
    return [item["position"] for one in found for item in one["items"]]


def test_its_items_come_in_pages_each_once_and_in_order(chat: Chat, intent: str) -> None:
    found = pages(chat, intent)
    assert [len(one["items"]) for one in found] == [1000] * 5
    assert positions(found) == list(range(1, ARRIVALS + 1))
    for one in found:
        assert {**one, "items": 0, "next_items": 0} == {**found[0], "items": 0, "next_items": 0}
    lists = ("succeeded", "failed", "pending", "unknown", "cancelled")
    assert sorted(place for name in lists for place in found[0][name]) == list(range(1, ARRIVALS + 1))
    for name in ("failed", "unknown", "pending"):
        assert positions(pages(chat, intent, items=name, limit=300)) == found[0][name]
    taken = times("a page of 5,000 reminders", 10, lambda: chat.api.poll(intent))
    assert taken[0] < 0.4


def test_all_that_failed_are_retried_at_once(chat: Chat, intent: str) -> None:
    unguarded(chat.api.engine)
    error = error_of("rate_limited").model_dump_json()
    change = "UPDATE items SET state = 'failed', error = CAST(:error AS jsonb) WHERE effect = 'reminder'"
    run(chat.api.engine, change, error=error)
    answers: list[Any] = []
    taken = seconds(lambda: answers.append(retry(chat, intent)))
    log.info("POST retry of %d reminders: %d ms", ARRIVALS, taken * 1e3)
    assert (answers[0].status_code, len(answers[0].json()["pending"])) == (202, ARRIVALS)
    assert len(answers[0].json()["items"]) == 1000


def test_it_is_added_in_as_many_statements_as_ten(chat: Chat) -> None:
    sent = [expand(chat.api.engine, chat.api.tenant.id, number, f"c-{number}")[1] for number in (10, 1000)]
    assert sent[0] == sent[1]
