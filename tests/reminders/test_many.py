"""Public cases: repeated triggers, overlapping batches, one bad recipient among many."""

import threading
from typing import Any

from tasks.write import run_item
from tests.reminders.office import Office


def guests(count: int, name: str = "guest") -> list[tuple[str, str | None]]:
    return [(f"Guest Number {n}", f"{name}{n}@hotel-demo.com") for n in range(count)]


def each_once(office: Office, count: int) -> None:
    mailed = office.mailed()
    assert len(mailed) == count
    assert len(set(mailed)) == count


def test_case_34_the_batch_triggered_twice_at_once_mails_once_and_says_already_sent(office: Office) -> None:
    office.arrive(*guests(20))
    first, second = office.remind(), office.remind()
    other = office.remind(conversation="c-2")
    each_once(office, 20)
    assert first["reminders"]["said"] == "20 arrivals: 20 sent now."
    for later in (second, other):
        assert later["outcome"] == "succeeded"
        assert later["reminders"]["already_sent"] == 20
        assert later["reminders"]["said"] == "20 arrivals: 20 already sent."
    assert {item["key"] for item in first["items"]} == {item["key"] for item in other["items"]}


def test_case_36_two_overlapping_batches_over_500_bookings_send_500_mails(office: Office) -> None:
    office.arrive(*guests(500))
    one, two = office.ask("c-1"), office.ask("c-2")

    def work() -> None:
        while due := office.due():
            for item_id in due:
                run_item(office.runtime, item_id)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    office.work()
    each_once(office, 500)
    for intent in (one, two):
        done = office.look(intent)
        assert (done["state"], done["outcome"], len(done["succeeded"])) == ("done", "succeeded", 500)


def told(answer: dict[str, Any], number: str) -> str | None:
    """The code that is told of a reservation's mail."""
    items = answer["items"]
    known = [item for item in items if (item["result"] or {}).get("reservation_id") == number]
    if known:
        return None
    return next(str(item["error"]["code"]) for item in items if item["error"] and number in item["error"]["message"])


def test_case_58_a_refused_or_delayed_recipient_stops_nobody_else(office: Office) -> None:
    bad: list[tuple[str, str | None]] = [
        ("Five Fifty", "five@hotel-demo.com"),
        ("Missing", None),
        ("Malformed", "no address at all"),
        ("Injecting", "a@b.de\r\nBcc: x@hotel-demo.com"),
        ("Busy", "busy@hotel-demo.com"),
        ("Leaving", "leaving@hotel-demo.com"),
        ("Idna", "gast@bücher.de"),
    ]
    office.caught.fault("five@hotel-demo.com", code=550)
    office.caught.fault("busy@hotel-demo.com", code=451, times=2)
    office.caught.fault("leaving@hotel-demo.com", code=421, times=1)
    numbers = office.arrive(*guests(50, "before"), *bad, *guests(43, "after"))
    office.remind()
    for _ in range(4):
        office.later()
    done = office.look(office.ask())
    office.work()
    done = office.look(done)
    assert len(done["succeeded"]) == 96
    assert [told(done, number) for number in numbers[50:57]] == [
        "INVALID_ARGUMENT",
        "INVALID_ARGUMENT",
        "INVALID_ARGUMENT",
        "INVALID_ARGUMENT",
        None,
        None,
        None,
    ]
    each_once(office, 96)
    assert "gast@xn--bcher-kva.de" in office.mailed()
    assert "x@hotel-demo.com" not in office.mailed()


def test_arrivals_that_change_between_the_pages_are_all_found_and_mailed_once(office: Office) -> None:
    office.arrive(*guests(120))
    office.pms.fault("arrivals_shift", change="insert", times=2)
    office.remind()
    arriving = [one for one in office.pms.bookings() if one["status"] == "confirmed"]
    expected = sorted(one["guest"]["email"] for one in arriving if "@" in one["guest"].get("email", ""))
    assert office.mailed() == expected
    assert len(expected) >= 121


def test_a_booking_cancelled_between_two_pages_hides_nobody(office: Office) -> None:
    office.arrive(*guests(120))
    office.pms.fault("arrivals_shift", change="cancel", times=1)
    office.remind()
    alive = [one for one in office.pms.bookings() if one["status"] == "confirmed"]
    assert office.mailed() == sorted(one["guest"]["email"] for one in alive)
