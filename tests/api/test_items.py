"""Which items a poll shows: by state and page. All else stays that of the whole intent."""

import threading
from typing import Any

import pytest

from dedupe.prune import prune_once
from tests.api.checks import refused
from tests.api.serving import Api, bearer, stay
from tests.api.work import book, lose, refuse, start
from tests.conftest import make_tenant
from tests.dedupe.rows import change
from tests.dedupe.test_prune import grow_old
from tests.waiting import eventually

ROOMS = {"tool": "book_rooms", "conversation_id": "c-77", "arguments": {**stay(), "rooms": [{}] * 8}}
#: state asked for -> the positions of the batch below.
PLACES = {
    "all": [0, 1, 2, 3, 4, 5, 6, 7],
    "succeeded": [0],
    "failed": [1, 6],
    "unknown": [2],
    "cancelled": [3],
    "pending": [4, 5],
    "none": [],
}


@pytest.fixture
def intent(api: Api) -> dict[str, Any]:
    """One of each state: succeeded, failed, unknown, cancelled, queued, running, failed, superseded."""
    made: dict[str, Any] = api.submit(ROOMS).json()
    ids = [item["id"] for item in made["items"]]
    book(api.engine, ids[0])
    refuse(api.engine, ids[1])
    lose(api.engine, ids[2])
    refuse(api.engine, ids[3], "cancelled")
    change(api.engine, ids[3], "state = 'cancelled'")
    start(api.engine, ids[5])
    refuse(api.engine, ids[6])
    book(api.engine, ids[7])
    change(api.engine, ids[7], "state = 'superseded'")
    return made


def poll(api: Api, intent: dict[str, Any], **query: Any) -> dict[str, Any]:
    response = api.http.get(f"/v1/intents/{intent['id']}", params=query)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def shown(answer: dict[str, Any]) -> list[int]:
    return [item["position"] for item in answer["items"]]


def test_items_are_shown_by_state_and_nothing_else_changes(api: Api, intent: dict[str, Any]) -> None:
    whole = poll(api, intent)
    assert whole == poll(api, intent, items="all") == poll(api, intent, items="all", after=-1, limit=1000)
    for which, places in PLACES.items():
        answer = poll(api, intent, items=which)
        assert shown(answer) == places
        assert answer["items"] == [item for item in whole["items"] if item["position"] in places]
        assert {**answer, "items": whole["items"]} == whole
        if which not in ("all", "none"):
            assert whole[which] == places


def test_pages_follow_one_another_by_position(api: Api, intent: dict[str, Any]) -> None:
    first = poll(api, intent, limit=3)
    assert (shown(first), first["next_items"]) == ([0, 1, 2], 2)
    second = poll(api, intent, limit=3, after=2)
    assert (shown(second), second["next_items"]) == ([3, 4, 5], 5)
    last = poll(api, intent, limit=3, after=5)
    assert (shown(last), last["next_items"]) == ([6, 7], None)
    assert (shown(poll(api, intent, limit=2, after=5)), poll(api, intent, limit=2, after=5)["next_items"]) == (
        [6, 7],
        None,
    )
    assert first["failed"] == last["failed"] == PLACES["failed"]
    assert (shown(poll(api, intent, after=7)), shown(poll(api, intent, after=10**30))) == ([], [])


def test_pages_of_one_state_count_its_items_only(api: Api, intent: dict[str, Any]) -> None:
    first = poll(api, intent, items="failed", limit=1)
    assert (shown(first), first["next_items"]) == ([1], 1)
    last = poll(api, intent, items="failed", limit=1, after=1)
    assert (shown(last), last["next_items"]) == ([6], None)
    nothing = poll(api, intent, items="none", limit=1)
    assert (shown(nothing), nothing["next_items"]) == ([], None)


def test_a_poll_that_waits_shows_the_part_at_its_end(api: Api) -> None:
    intent = api.submit({**ROOMS, "arguments": {**stay(), "rooms": [{}, {}]}}).json()
    answers: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: answers.append(poll(api, intent, wait=25, items="failed", limit=1)))
    waiting.start()
    eventually(lambda: api.server.parts.waiting.count == 1)
    book(api.engine, intent["items"][0]["id"])
    refuse(api.engine, intent["items"][1]["id"])
    waiting.join(20)
    assert [(answer["state"], shown(answer), answer["succeeded"]) for answer in answers] == [("done", [1], [0])]
    begun = poll(api, intent, wait=25, items="succeeded")
    assert (begun["state"], shown(begun)) == ("done", [0]), "what has ended is not waited for"


@pytest.mark.parametrize("wait", [0, 5])
def test_a_part_of_what_is_not_theirs_or_gone_is_refused_like_the_whole(
    api: Api, intent: dict[str, Any], wait: int
) -> None:
    query: dict[str, str | int] = {"items": "failed", "wait": wait}
    stranger = bearer(make_tenant(api.engine, "other").agent)
    refused(api.http.get(f"/v1/intents/{intent['id']}", params=query, headers=stranger), 404, "NOT_FOUND")
    refused(api.http.get("/v1/intents/int_00", params=query), 404, "NOT_FOUND")
    for item in intent["items"]:
        change(api.engine, item["id"], "state = 'failed', error = '{}', settled_at = now()")
    grow_old(api.engine)
    while prune_once(api.engine):
        pass
    refused(api.http.get(f"/v1/intents/{intent['id']}", params=query), 410, "NOT_FOUND")


@pytest.mark.parametrize(
    ("query", "allowed"),
    [
        ({"items": "done"}, "'all', 'failed', 'pending', 'unknown', 'succeeded', 'cancelled' or 'none'"),
        ({"items": ""}, "'all', 'failed'"),
        ({"items": "FAILED"}, "'all', 'failed'"),
        ({"after": "-2"}, "must be at least -1"),
        ({"after": "x"}, "must be a whole number"),
        ({"limit": "0"}, "must be at least 1"),
        ({"limit": "1001"}, "must be at most 1000"),
        ({"limit": "1.5"}, "must be a whole number"),
    ],
)
def test_what_is_not_allowed_is_named_with_what_is(shared_api: Api, query: dict[str, str], allowed: str) -> None:
    problem = refused(shared_api.http.get("/v1/intents/int_00", params=query), 422)
    [name] = query
    assert problem.errors is not None
    assert [error.field for error in problem.errors] == [name]
    assert allowed in problem.errors[0].problem
    assert name in problem.tool_error.message
