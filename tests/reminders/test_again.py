"""A batch that is asked for again, stopped or corrected half-way: nothing untrue is told, no mail goes astray."""

import threading
from typing import Any

import pytest

from dedupe.pauses import pause
from tasks.write import run_item
from tests.dedupe.rows import change, rows, run
from tests.reminders.office import Office

ANN, BEN = ("Ann First", "ann@hotel-demo.com"), ("Ben Second", "ben@hotel-demo.com")


def test_a_list_that_can_not_be_read_again_hides_nobody_who_was_mailed(office: Office) -> None:
    office.arrive(ANN, BEN)
    office.remind()
    office.pms.fault("status", status=503, match={"operation": "arrivals"})
    again = office.ask()
    for _ in range(2):
        office.later()
    expire(office)
    told = office.look(again)
    assert told["outcome"] == "partial"
    assert told["error"]["message"] == ("The list of arrivals could not be read again. 2 arrivals: 2 already sent.")
    assert "book_rooms" not in str(told)
    assert "provider" not in str(told)
    office.pms.clear_faults()
    assert office.remind()["reminders"]["said"] == "2 arrivals: 2 already sent."
    assert len(office.mailed()) == 2


def expire(office: Office) -> None:
    for row in rows(office.engine, "SELECT id FROM items WHERE state = 'queued'"):
        change(office.engine, row.id, "expires_at = now() - interval '1 s'")
    office.later()


def test_an_address_that_was_corrected_while_the_mail_waited_gets_it(office: Office) -> None:
    [number] = office.arrive(("Ann First", "old@hotel-demo.com"))
    office.caught.fault("old@hotel-demo.com", code=451, times=1)
    intent = office.remind()
    assert intent["state"] == "pending"
    office.pms.desk(number, guest={"name": "Ann First", "email": "new@hotel-demo.com"})
    office.later()
    assert office.look(intent)["outcome"] == "succeeded"
    assert office.mailed() == ["new@hotel-demo.com"]


def test_a_paused_hotel_system_is_not_asked_for_its_arrivals(office: Office) -> None:
    office.arrive(ANN)
    pause(office.engine, "pms", "by hand")
    intent = office.remind()
    assert intent["state"] == "pending"
    assert office.pms.ledger(operation="arrivals") == []
    run(office.engine, "UPDATE pauses SET lifted_at = now()")
    office.later()
    assert office.look(intent)["outcome"] == "succeeded"


def test_refused_credentials_pause_the_hotel_system_and_tell_a_person(office: Office) -> None:
    office.arrive(ANN)
    office.pms.fault("status", status=401, match={"operation": "arrivals"})
    intent = office.remind()
    assert intent["state"] == "pending"
    assert [row.provider for row in rows(office.engine, "SELECT provider FROM pauses WHERE lifted_at IS NULL")] == [
        "pms"
    ]
    assert [row.reason for row in rows(office.engine, "SELECT reason FROM dead_letters")] == ["misconfigured"]


def test_nobody_is_reminded_of_a_day_that_is_over(office: Office) -> None:
    office.arrive(ANN)
    intent = office.ask()
    office.work_on("arrivals")
    run(office.engine, "UPDATE items SET request = jsonb_set(request, '{date}', '\"2024-05-01\"')")
    office.work()
    assert office.mailed() == []
    assert office.look(intent)["reminders"]["left_out"] == 1


def test_a_refusal_by_the_servers_policy_is_not_the_addresses_fault(office: Office) -> None:
    office.arrive(ANN)
    office.caught.fault("ann@hotel-demo.com", code=554, text="5.7.1 relaying denied", times=1)
    first = office.remind()
    assert first["items"][0]["error"]["code"] == "UNAVAILABLE"
    assert "corrected" not in str(first["fix"])
    again = office.remind()
    assert again["outcome"] == "succeeded", "the same address, once the server is mended"


@pytest.mark.parametrize("turn", range(6))
def test_cancelling_while_the_arrivals_are_read_again_waits_for_nobody_for_ever(office: Office, turn: int) -> None:
    office.arrive(*[(f"Guest Number {n}", f"guest{n}@hotel-demo.com") for n in range(40)])
    first = office.ask()
    office.work_on("arrivals")
    office.ask()
    arrivals = rows(office.engine, "SELECT id FROM items WHERE effect = 'arrivals'")[0].id
    failures: list[BaseException] = []

    def quietly(work: Any) -> None:
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 - whatever ends a thread is what the test looks for
            failures.append(failure)

    works = [
        lambda: run_item(office.runtime, arrivals),
        lambda: cancelled(office, first),
    ]
    threads = [threading.Thread(target=quietly, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    office.work()
    assert office.look(first)["state"] == "done"


def cancelled(office: Office, intent: dict[str, Any]) -> None:
    answer = office.api.http.post(f"/v1/intents/{intent['id']}/cancel")
    assert answer.status_code == 202, answer.text
