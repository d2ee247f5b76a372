"""Calls that are received and answered late or never: where doubt comes from."""

import threading

import httpx
import pytest

from tests.pms import Pms
from tests.simulator.calls import book, book_in_vain, error, found
from tests.waiting import eventually


def test_commit_then_timeout_books_though_the_caller_saw_nothing(pms: Pms, http: httpx.Client) -> None:
    pms.fault("commit_then_timeout", match={"operation": "create_booking"}, times=1)
    book_in_vain(http)
    assert found(http) == ["B-1001"]
    (call,) = pms.ledger(operation="create_booking")
    assert (call["effect"], call["status"], call["fault"]) == (True, None, "commit_then_timeout")
    assert [held["n"] for held in pms.held()] == [call["n"]]
    assert pms.release() == 1
    eventually(lambda: not pms.held())
    assert pms.ledger(operation="create_booking")[0]["status"] is None


def test_commit_later_is_received_first_and_takes_effect_after_the_caller_has_gone(
    pms: Pms, http: httpx.Client
) -> None:
    rule = pms.fault("hold_before_commit", match={"reference": "r-1"}, times=1)
    book_in_vain(http)
    assert found(http) == []
    assert [(c["effect"], c["status"]) for c in pms.ledger(operation="create_booking")] == [(False, None)]
    assert pms.release(rule) == 1
    assert eventually(lambda: found(http)) == ["B-1001"]


def test_a_held_call_goes_on_by_itself_after_its_time(pms: Pms, http: httpx.Client) -> None:
    pms.fault("hold_before_commit", hold_ms=300, times=1)
    book_in_vain(http)
    assert eventually(lambda: pms.bookings(reference="r-1"))


def test_a_released_call_is_answered(pms: Pms, http: httpx.Client) -> None:
    pms.fault("hold_before_commit", match={"method": "POST"}, times=1)
    answers: list[httpx.Response] = []
    caller = threading.Thread(target=lambda: answers.append(book(http)))
    caller.start()
    (held,) = pms.wait_held()
    assert (held["kind"], held["reference"], held["effect"]) == ("hold_before_commit", "r-1", False)
    assert pms.release(n=held["n"]) == 1
    caller.join(5)
    assert answers[0].status_code == 201
    assert pms.ledger()[0]["status"] == 201


def test_dropping_the_rules_lets_everything_go_on(pms: Pms, http: httpx.Client) -> None:
    pms.fault("hold_before_commit", match={"reference": "r-1"})
    pms.fault("commit_then_timeout", match={"reference": "r-2"})
    book_in_vain(http, "r-1")
    book_in_vain(http, "r-2")
    assert pms.clear_faults() == 2
    assert pms.faults() == []
    eventually(lambda: len(pms.bookings()) == 2)


@pytest.mark.parametrize(("kind", "ids"), [("reset_after_commit", ["B-1001"]), ("reset_before_commit", [])])
def test_a_reset_tells_nothing_about_the_effect(pms: Pms, http: httpx.Client, kind: str, ids: list[str]) -> None:
    pms.fault(kind, times=1)
    with pytest.raises(httpx.ReadError, match="reset"):
        book(http)
    assert found(http) == ids
    (call,) = pms.ledger(operation="create_booking")
    assert (call["effect"], call["status"]) == (bool(ids), None)


def test_latency_before_or_after_the_effect(pms: Pms, http: httpx.Client) -> None:
    pms.fault("latency", ms=60_000, match={"reference": "r-1"}, times=1)
    pms.fault("latency", ms=60_000, when="after", match={"reference": "r-2"}, times=1)
    book_in_vain(http, "r-1")
    book_in_vain(http, "r-2")
    assert [booking["reference"] for booking in pms.bookings()] == ["r-2"]
    assert len(pms.held()) == 2
    pms.release()
    eventually(lambda: len(pms.bookings()) == 2)


def test_a_delay_and_a_failure_come_together(pms: Pms, http: httpx.Client) -> None:
    pms.fault("latency", percentiles={"p50": 2, "p99": 5})
    pms.fault("status", status=503)
    assert error(book(http)) == (503, "unavailable", None)
    assert pms.ledger()[0]["fault"] == "latency+status"
