"""What a guest owns."""

from tests.api.serving import Api, request, stay
from tests.api.work import book, lose, refuse


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
