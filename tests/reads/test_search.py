"""Searches against a real hotel system that fails in every way: an answer or an error, never an empty list instead."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from booking.reads import NOTICE, ReadAnswer
from booking.results import Problem
from tests.api.checks import refused
from tests.api.serving import PROPERTIES
from tests.conftest import Servers
from tests.pms import Pms
from tests.reads.conftest import Desk, desk_at, within

UNAVAILABLE = "The hotel system did not answer in time, so it is not known what it would have said."
LIMITED = "The hotel system is taking no more requests for now, so it is not known what it would have said."


def offers(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    ReadAnswer.model_validate(response.json(), extra="forbid")
    found: list[dict[str, Any]] = response.json()["result"]["offers"]
    return found


def unavailable(response: httpx.Response) -> Problem:
    """503 with the exact words, and not a trace of a result."""
    problem = refused(response, 503, "UNAVAILABLE")
    assert problem.tool_error.message == UNAVAILABLE
    assert not problem.tool_error.retryable
    assert int(response.headers["retry-after"]) >= 1
    assert "[]" not in response.text
    return problem


def test_a_search_finds_offers_with_one_call(desk: Desk) -> None:
    response = desk.search(adults=3)
    found = offers(response)
    assert {offer["room_type"] for offer in found} == {"suite", "family"}
    assert {offer["price"]["currency"] for offer in found} == {"EUR"}
    assert set(found[0]) == {
        *("quote_id", "property", "room_type", "rate_plan", "price", "cancellation_terms", "valid_until")
    }
    assert response.json()["tool"] == "search_availability"
    assert response.json()["notice"] is None
    assert len(desk.calls()) == 1


def test_an_offer_can_be_booked_by_its_quote(desk: Desk) -> None:
    offer = offers(desk.search(room_type="suite"))[0]
    assert (offer["room_type"], offer["price"]["amount"]) == ("suite", "580.00")


def test_nothing_free_is_an_empty_list_since_the_hotel_system_said_so(desk: Desk) -> None:
    desk.pms.set_rooms("BER", "suite", 0)
    assert offers(desk.search(room_type="suite")) == []
    assert len(desk.calls()) == 1


def test_503_three_times_in_a_row_is_unavailable_after_three_calls(desk: Desk) -> None:
    desk.pms.fault("status", status=503)
    problem = unavailable(desk.search())
    assert problem.notice == NOTICE
    assert len(desk.calls()) == 3


def test_503_twice_then_an_answer_carries_a_notice(desk: Desk) -> None:
    desk.pms.fault("status", status=503, times=2)
    response = desk.search()
    assert offers(response)
    assert response.json()["notice"] == NOTICE == "The hotel system is slow today."
    assert len(desk.calls()) == 3


TROUBLES: list[dict[str, Any]] = [
    {"kind": "ok_with_error"},
    {"kind": "empty"},
    {"kind": "empty", "status": 204},
    {"kind": "html", "status": 200},
    {"kind": "html", "status": 502},
    {"kind": "truncated"},
    {"kind": "big"},
    {"kind": "status", "status": 200, "body": {"offers": [{}]}},
    {"kind": "status", "status": 200, "body": {"offers": None}},
    {"kind": "status", "status": 200, "body": []},
    {"kind": "reset_before_commit"},
    {"kind": "reset_after_commit"},
]


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: "-".join(map(str, trouble.values())))
def test_case_49_what_is_no_answer_is_an_error_and_never_an_empty_list(desk: Desk, trouble: dict[str, Any]) -> None:
    desk.pms.fault(**trouble)
    unavailable(desk.search())
    assert len(desk.calls()) == 3


def test_case_49_a_refusal_is_told_at_once(desk: Desk) -> None:
    body = {"error": {"code": "invalid", "message": "unknown rate season", "field": "check_in"}}
    desk.pms.fault("status", status=422, body=body)
    problem = refused(desk.search(), 422)
    assert problem.tool_error.message == "The hotel system does not accept check_in: unknown rate season."
    assert problem.tool_error.retryable
    assert problem.notice is None
    assert len(desk.calls()) == 1


@pytest.mark.parametrize("trouble", [{"kind": "status", "status": 401}, {"kind": "redirect", "location": "/elsewhere"}])
def test_our_own_mistake_is_one_call_and_never_told_as_not_allowed(desk: Desk, trouble: dict[str, Any]) -> None:
    desk.pms.fault(**trouble)
    assert "allowed" not in unavailable(desk.search()).model_dump_json()
    assert len(desk.calls()) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", None])
def test_a_hotel_system_that_can_not_be_reached_is_an_error(servers: Servers, pms: Pms, url: str | None) -> None:
    with desk_at(servers, pms, url=url) as desk, within(8):
        unavailable(desk.search())


def test_a_hotel_system_that_hangs_or_trickles_is_told_within_8_seconds(servers: Servers, pms: Pms) -> None:
    """Three at once, each at its own hotel."""
    pms.fault("latency", ms=60_000, match={"property": "BER"})
    pms.fault("trickle", interval_ms=200, match={"property": "AKL"})
    pms.fault("trickle", interval_ms=200, part="headers", match={"property": "HNL"})
    with desk_at(servers, pms) as desk, ThreadPoolExecutor(3) as pool:
        with within(8):
            answers = list(pool.map(lambda hotel: desk.search(property=hotel), PROPERTIES))
        for answer in answers:
            assert unavailable(answer).notice == NOTICE
        assert 6 <= len(desk.calls()) <= 9


def test_a_slow_answer_carries_a_notice(desk: Desk) -> None:
    desk.pms.fault("latency", ms=3100)
    response = desk.search()
    assert offers(response)
    assert response.json()["notice"] == NOTICE
    assert len(desk.calls()) == 1


@pytest.mark.parametrize(("sent", "least"), [("1", 1.0), ("1.5", 1.5)])
def test_case_54_a_wait_asked_for_is_kept(desk: Desk, sent: str, least: float) -> None:
    desk.pms.fault("rate_limited", retry_after=sent, times=1)
    begun = time.monotonic()
    assert offers(desk.search())
    assert least <= time.monotonic() - begun < least + 3
    first, second = (dt.datetime.fromisoformat(call["at"]) for call in desk.calls())
    assert (second - first).total_seconds() >= least


@pytest.mark.parametrize("sent", ["300", "100000000000000000000"])
def test_case_54_a_wait_beyond_the_budget_is_told_at_once(desk: Desk, sent: str) -> None:
    desk.pms.fault("rate_limited", retry_after=sent)
    with within(3):
        response = desk.search()
    problem = refused(response, 503, "RATE_LIMITED")
    assert problem.tool_error.message == LIMITED
    assert response.headers["retry-after"] == "300"
    assert len(desk.calls()) == 1


@pytest.mark.parametrize("sent", [None, "30,120", "-1", "soon", "Mon, 01 Jan 2024 00:00:00 GMT"])
def test_case_54_junk_or_a_past_date_costs_no_try(desk: Desk, sent: str | None) -> None:
    desk.pms.fault("rate_limited", retry_after=sent, times=1)
    assert offers(desk.search())
    assert len(desk.calls()) == 2


def test_429_for_ever_is_rate_limited_after_three_calls(desk: Desk) -> None:
    desk.pms.fault("rate_limited")
    with within(8):
        refused(desk.search(), 503, "RATE_LIMITED")
    assert len(desk.calls()) == 3


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Change the time zone of this process, and with it of the API in it."""

    def change(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield change
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("process", ["Pacific/Kiritimati", "Etc/GMT+12", "Europe/Berlin"])
@pytest.mark.parametrize("property", ["AKL", "HNL"])
def test_case_52_dates_are_the_hotels_whatever_the_process_says(
    desk: Desk, zone: Callable[[str], None], process: str, property: str
) -> None:
    zone(process)
    today = dt.datetime.now(ZoneInfo(PROPERTIES[property].time_zone)).date()
    tomorrow, yesterday = today + dt.timedelta(days=1), today - dt.timedelta(days=1)
    found = offers(desk.search(property=property, check_in=str(today), check_out=str(tomorrow)))
    # The hotel system's quotes name the dates that it understood.
    assert {offer["quote_id"].split(".", 3)[3] for offer in found} == {f"{today:%Y%m%d}.{tomorrow:%Y%m%d}"}
    problem = refused(desk.search(property=property, check_in=str(yesterday), check_out=str(today)), 422)
    assert problem.tool_error.message.startswith(f"check_in: must not be in the past; today is {today} at the hotel.")
    assert len(desk.calls()) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"property": "PAR"}, 'property: must be one of AKL, BER, HNL. You sent "PAR".'),
        ({"check_out": None}, "check_out: is required. You sent nothing."),
        ({"check_in": "2027-02-30"}, "check_in: must be a date of the calendar, in the form YYYY-MM-DD."),
        ({"adults": True}, "adults: must be a whole number. You sent true."),
        ({"check_in": 1767225600}, "check_in: must be a date in the form YYYY-MM-DD (the hotel's local date)."),
        ({"guests": 2}, "guests: is not a known field; known are property, check_in,"),
    ],
)
def test_wrong_arguments_are_named_and_cost_no_call(desk: Desk, changes: dict[str, Any], message: str) -> None:
    assert refused(desk.search(**changes), 422).tool_error.message.startswith(message)
    assert desk.calls() == []


def test_an_unknown_tool_names_the_known_ones(desk: Desk) -> None:
    problem = refused(desk.read("search_rooms"), 422)
    assert problem.tool_error.message == (
        'There is no tool "search_rooms". Allowed: search_availability, get_reservation, list_arrivals.'
    )


def test_a_body_that_is_no_read_is_refused(desk: Desk) -> None:
    refused(desk.api.http.post("/v1/reads/search_availability", content=b"[]"), 400)
    refused(desk.api.http.post("/v1/reads/search_availability", json={"arguments": {}}), 422)
