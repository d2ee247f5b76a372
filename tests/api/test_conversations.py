"""What a guest owns."""

from dedupe.read import MOST_ITEMS
from tests.api.serving import Api, request, stay
from tests.api.work import book, lose, refuse
from tests.dedupe.rows import run

# Booked before all others.
_OLDER = """
INSERT INTO items (id, tenant_id, conversation_id, key, base, k, reference, effect, queue, provider, fingerprint,
                   request, state, result, expires_at, due_at)
OVERRIDING SYSTEM VALUE
SELECT -n, i.tenant_id, i.conversation_id, 'older:' || n, i.base, n, i.reference, i.effect, i.queue, i.provider,
       i.fingerprint, i.request, 'succeeded', jsonb_build_object('booking_id', 'O-' || n), now(), NULL
FROM items i, generate_series(CAST(:first AS int), CAST(:last AS int)) n WHERE i.id = :id
"""


def test_a_conversation_shows_what_is_owned_failed_and_open(api: Api) -> None:
    types = ["double", "suite", "single", "twin"]
    arguments = {**stay(), "rooms": [{"room_type": name} for name in types]}
    intent = api.submit({**request(), "tool": "book_rooms", "arguments": arguments}).json()
    ids = [item["id"] for item in intent["items"]]
    book(api.engine, ids[0], "B-1")
    refuse(api.engine, ids[1], "unavailable")
    lose(api.engine, ids[2])
    answer = api.http.get("/v1/conversations/c-77").json()
    assert answer["id"] == "c-77"
    assert [(one["booking_id"], one["item_id"]) for one in answer["owned"]] == [("B-1", ids[0])]
    failed = [(one["request"]["room_type"], one["error"]["code"]) for one in answer["failed"]]
    assert failed == [("suite", "UNAVAILABLE")]
    still_open = [(one["state"], one["error"] and one["error"]["code"]) for one in answer["open"]]
    assert still_open == [("unknown", "UNKNOWN_OUTCOME"), ("queued", None)]


def test_rooms_of_several_intents_are_all_there(api: Api) -> None:
    for room_type in ("double", "suite"):
        intent = api.submit(request(room_type=room_type)).json()
        book(api.engine, intent["items"][0]["id"], f"B-{room_type}")
    owned = api.http.get("/v1/conversations/c-77").json()["owned"]
    assert [one["booking_id"] for one in owned] == ["B-double", "B-suite"]


def test_of_very_many_the_newest_are_told_in_order_and_that_there_are_more(api: Api) -> None:
    newest = [api.submit(request(room_type=name)).json()["items"][0]["id"] for name in ("double", "suite")]
    for item in newest:
        book(api.engine, item, f"B-{item}")
    run(api.engine, _OLDER, first=1, last=MOST_ITEMS - 2, id=newest[0])
    whole = api.http.get("/v1/conversations/c-77").json()
    assert (whole["truncated"], len(whole["owned"])) == (False, MOST_ITEMS)
    assert "Older requests" not in whole["handoff"]
    run(api.engine, _OLDER, first=MOST_ITEMS - 1, last=MOST_ITEMS, id=newest[0])
    told = api.http.get("/v1/conversations/c-77").json()
    ids = [one["item_id"] for one in told["owned"]]
    assert (told["truncated"], len(ids)) == (True, MOST_ITEMS)
    assert ids[-2:] == newest
    assert ids == sorted(ids)
    assert ids[0] == 2 - MOST_ITEMS
    assert told["handoff"].endswith("Older requests are not listed here. A colleague will call you.")
