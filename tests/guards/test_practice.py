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
