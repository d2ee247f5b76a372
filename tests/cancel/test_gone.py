"""A pruned intent is gone, and says so; asked again, it lives again and books nothing twice."""

from dedupe.prune import prune_once
from tests.api.checks import refused
from tests.dedupe.rows import row, rows
from tests.dedupe.test_prune import grow_old
from tests.guards.chat import Chat
from tests.pms import Pms


def age(chat: Chat) -> None:
    grow_old(chat.api.engine)
    while prune_once(chat.api.engine):
        pass


def test_a_pruned_intent_is_410_wherever_it_is_asked_for(chat: Chat) -> None:
    intent = chat.ask("double", key="order-17")
    age(chat)
    for response in (chat.api.poll(intent["id"]), chat.api.poll(intent["id"], 5), chat.cancel(intent["id"])):
        problem = refused(response, 410, "NOT_FOUND")
        assert problem.type == "urn:roomkey:problem:gone"
    refused(chat.call("double", key="order-17"), 410, "NOT_FOUND")
    refused(chat.api.poll("int_00"), 404, "NOT_FOUND")


def test_asked_again_it_lives_and_is_kept_from_then_on(chat: Chat, pms: Pms) -> None:
    intent = chat.ask("double")
    age(chat)
    again = chat.call("double")
    assert (again.status_code, again.json()["id"]) == (202, intent["id"])
    assert again.json()["items"] == intent["items"] or again.json()["items"][0]["state"] == "succeeded"
    assert prune_once(chat.api.engine) == 0, "it was asked for today"
    assert chat.api.poll(intent["id"]).status_code == 200
    assert len(pms.bookings()) == 1


def test_a_failed_one_that_is_armed_again_has_its_guest_again_and_is_blanked_again(chat: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "suite", 0)
    intent = chat.ask("suite")
    item = intent["items"][0]["id"]
    age(chat)
    assert "guest" not in row(chat.api.engine, item).request
    pms.set_rooms("BER", "suite", 1)
    assert chat.ask("suite")["outcome"] == "succeeded"
    assert row(chat.api.engine, item).request["guest"]["name"] == "Anna Moser"
    age(chat)
    assert "Moser" not in str(rows(chat.api.engine, "SELECT * FROM items"))


def test_the_verified_guest_is_forgotten_with_the_conversation(chat: Chat) -> None:
    chat.put({"guest": {"name": "Anna Moser", "email": "anna.moser@example.com"}})
    chat.ask("double")
    age(chat)
    assert chat.conversation()["guest"] == {"name": "Anna Moser"}, "named today"
    with chat.api.engine.connect() as connection:
        connection.exec_driver_sql("UPDATE conversations SET guest_at = guest_at - interval '31 days'")
    assert prune_once(chat.api.engine) == 1
    assert chat.conversation()["guest"] is None
