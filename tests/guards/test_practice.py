"""The practice table, row "new dates fully booked": the code, who retries, and the exact words."""

from tests.guards.chat import Chat
from tests.pms import Pms


def test_new_dates_fully_booked_is_a_conflict_that_nobody_retries(chat: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "suite", 0)
    answer = chat.ask("suite")
    [item] = answer["items"]
    stay = pms.ledger(operation="create_booking")[0]["body"]
    assert item["error"] == {
        "code": "CONFLICT",
        "message": f"No suite is free at BER from {stay['check_in']} to {stay['check_out']}.",
        "retryable": True,
        "fix": "Search again and offer the guest other room types or dates.",
    }
    assert (answer["outcome"], answer["error"]) == ("failed", item["error"])
    assert len(pms.ledger()) == 1


def test_the_answer_that_stops_says_one_thing_and_a_success_keeps_its_own_words(chat: Chat, pms: Pms) -> None:
    pms.set_rooms("BER", "suite", 0)
    booked = chat.ask("double")
    chat.ask("suite")
    stopping = chat.ask("suite")
    assert stopping["stop"]
    assert (stopping["error"]["code"], stopping["error"]["retryable"]) == ("STOPPED", False)
    assert stopping["fix"] == stopping["error"]["fix"]
    again = chat.look(booked["id"])
    assert (again["outcome"], again["error"], again["fix"], again["stop"]) == ("succeeded", None, None, None)


def test_other_values_for_what_exists_are_named(chat: Chat) -> None:
    chat.ask("double")
    refused = chat.call("double", notes="a quiet room").json()["tool_error"]
    assert refused["code"] == "INVALID_ARGUMENT"
    assert "another notes; it is succeeded as B-" in refused["message"]
