"""What the guest may be told while the runtime goes on."""

from tests.guards.chat import Chat
from tests.pms import Pms


def test_a_poll_after_the_first_failed_try_carries_the_notice_until_it_is_booked(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    assert intent["notice"] is None
    item = intent["items"][0]["id"]
    chat.away.run(item)
    told = chat.look(intent["id"])
    assert (told["state"], told["notice"]) == ("pending", "The hotel system is slow today; still trying.")
    assert told["items"][0]["error"] is None
    assert chat.call("double").json()["notice"] == "The hotel system is slow today; still trying.", "asked again, too"
    chat.desk.later(item)
    told = chat.look(intent["id"])
    assert (told["outcome"], told["notice"]) == ("succeeded", None)
    assert len(pms.bookings()) == 1


def test_a_write_without_an_answer_carries_the_notice_while_it_is_looked_for(chat: Chat, pms: Pms) -> None:
    intent = chat.call("double").json()
    pms.fault("status", match={"operation": "create_booking"}, status=500)
    pms.fault("status", match={"operation": "find"}, status=500)
    chat.desk.run(intent["items"][0]["id"])
    told = chat.look(intent["id"])
    assert (told["state"], told["notice"]) == ("pending", "The hotel system is slow today; still trying.")
