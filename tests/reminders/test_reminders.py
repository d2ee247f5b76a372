"""Reminders: everyone who arrives gets one mail, whatever fails, and however often it is asked for."""

from typing import Any

from tests.reminders.office import DAY, Office

GUESTS: list[tuple[str, str | None]] = [(f"Guest Number {n}", f"guest{n}@hotel-demo.com") for n in range(30)]


def thirty(office: Office) -> list[str]:
    """Thirty arrivals, of which two have no usable address, one is told to slow down, and one gets lost at the end."""
    guests = [*GUESTS[:26], ("Nobody Known", "not an address"), ("Empty Field", None), *GUESTS[28:]]
    office.caught.fault("guest28@hotel-demo.com", code=451, times=1)
    office.caught.fault("guest29@hotel-demo.com", kind="lost_after_dot")
    return office.arrive(*guests)


def codes(answer: dict[str, Any]) -> list[str]:
    return [item["error"]["code"] for item in answer["items"] if item["error"]]


def test_thirty_reminders_with_four_failures(office: Office) -> None:
    numbers = thirty(office)
    first = office.remind()
    assert len(first["succeeded"]) == 26
    assert sorted(codes(first)) == ["INVALID_ARGUMENT", "INVALID_ARGUMENT", "UNKNOWN_OUTCOME"]
    assert len(first["pending"]) == 1
    assert first["state"] == "pending"

    office.later()  # the mail server takes the one that it had asked to come back
    done = office.look(first)
    assert (done["state"], done["outcome"]) == ("done", "partial")
    assert done["reminders"]["said"] == "30 arrivals: 27 sent now, 1 being confirmed by a person, 2 to be corrected."
    assert done["error"]["code"] == "PARTIAL_FAILURE"
    assert numbers[26] in done["fix"]
    assert numbers[27] in done["fix"]

    sent = len(office.caught.delivered())
    again = office.remind()
    assert again["id"] == first["id"]
    assert len(office.caught.delivered()) == sent == 28
    said = "30 arrivals: 27 already sent, 1 being confirmed by a person, 2 to be corrected."
    assert again["reminders"]["said"] == said
    assert again["error"]["message"] == said
    counts = {name: count for name, count in again["reminders"].items() if count and name != "said"}
    assert counts == {"arrivals": 30, "already_sent": 27, "being_confirmed": 1, "to_be_corrected": 2}
    assert len(set(office.mailed())) == 28, "nobody got two"
    assert again["stop"] is None
    assert office.remind()["stop"]["reason"] == "same_call", "twice in vain: a loop ends by code"


def test_an_address_that_was_corrected_is_mailed_when_asked_again_and_nobody_else(office: Office) -> None:
    [good, bad] = office.arrive(("Ann Good", "ann@hotel-demo.com"), ("Ben Wrong", "ben(at)hotel-demo.com"))
    assert codes(office.remind()) == ["INVALID_ARGUMENT"]
    office.pms.desk(bad, guest={"name": "Ben Wrong", "email": "ben@hotel-demo.com"})
    again = office.remind()
    assert again["outcome"] == "succeeded"
    assert again["reminders"]["said"] == "2 arrivals: 1 already sent, 1 sent now."
    assert office.mailed() == ["ann@hotel-demo.com", "ben@hotel-demo.com"]
    assert good != bad


def test_new_arrivals_are_mailed_when_asked_again(office: Office) -> None:
    office.arrive(("Ann First", "ann@hotel-demo.com"))
    office.remind()
    office.arrive(("Ben Second", "ben@hotel-demo.com"))
    again = office.remind()
    assert again["reminders"]["said"] == "2 arrivals: 1 already sent, 1 sent now."
    assert office.mailed() == ["ann@hotel-demo.com", "ben@hotel-demo.com"]


def test_who_cancelled_between_the_list_and_the_mail_gets_none(office: Office) -> None:
    [stays, leaves, moves] = office.arrive(
        ("Ann Stays", "ann@hotel-demo.com"), ("Ben Leaves", "ben@hotel-demo.com"), ("Cid Moves", "cid@hotel-demo.com")
    )
    intent = office.ask()
    office.work_on("arrivals")
    office.pms.desk(leaves, status="cancelled")
    office.pms.desk(moves, check_in="2030-01-01", check_out="2030-01-02")
    office.work()
    done = office.look(intent)
    assert office.mailed() == ["ann@hotel-demo.com"]
    assert len(done["cancelled"]) == 2
    assert done["reminders"]["said"] == "3 arrivals: 1 sent now, 2 no longer arriving."
    assert stays in str(done["items"])


def test_a_day_without_arrivals_is_told_as_such(office: Office) -> None:
    done = office.remind()
    assert (done["state"], done["outcome"]) == ("done", "succeeded")
    assert done["reminders"]["said"] == "Nobody arrives."
    assert done["items"] == []


def test_it_is_never_done_before_its_arrivals_are_known(office: Office) -> None:
    office.arrive(("Ann First", "ann@hotel-demo.com"))
    intent = office.ask()
    assert intent["state"] == "pending"
    office.pms.fault("status", status=503, match={"operation": "arrivals"})
    office.work()
    waiting = office.look(intent)
    assert (waiting["state"], waiting["outcome"]) == ("pending", None)
    assert office.mailed() == []
    office.pms.clear_faults()
    office.later()
    assert office.look(intent)["outcome"] == "succeeded"
    assert office.mailed() == ["ann@hotel-demo.com"]


def test_a_mail_says_what_the_reservation_says(office: Office) -> None:
    [number] = office.arrive(("Zoë \u202b<b>علي</b>\u202c 🎉", "zoe@hotel-demo.com"))
    office.remind()
    [mail] = office.caught.mails("zoe@hotel-demo.com")
    assert number in mail["text"]
    assert "<b>" not in mail["html"].split("<bdi", 1)[1].split("</bdi>", 1)[0]
    assert DAY[:4] in mail["text"]
    assert mail["subject"]
