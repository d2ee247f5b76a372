"""One reservation, and whose it is; arrivals, and who may list them."""

import datetime as dt
from typing import Any

import httpx
import pytest

from booking.guests import VerifiedGuest
from booking.reads import ReadAnswer
from dedupe.conversations import name
from tests.api.checks import refused
from tests.api.serving import stay
from tests.reads.conftest import Desk

ANNA = {"name": "Anna Moser", "email": "anna.moser@example.com"}
BEN = {"name": "Ben Kern", "email": "ben@example.com"}
DENIED = "This is not allowed. Do not try again."
MISSING = "The reservation was not found."


def booked(desk: Desk, guest: dict[str, str] = ANNA, **changes: Any) -> str:
    """The id of a booking that the hotel system has."""
    body = {**stay(guest=guest, **changes), "reference": "elsewhere"}
    made = httpx.post(f"{desk.pms.url}/v1/bookings", json=body, headers={"Idempotency-Key": f"{guest}{changes}"})
    assert made.status_code == 201, made.text
    return str(made.json()["booking_id"])


def verify(desk: Desk, conversation: str, guest: dict[str, str]) -> None:
    name(desk.api.engine, desk.api.tenant.id, conversation, VerifiedGuest.model_validate(guest))


def test_number_and_name_open_a_reservation(desk: Desk) -> None:
    number = booked(desk)
    response = desk.read("get_reservation", reservation_id=number, guest_name="anna moser")
    ReadAnswer.model_validate(response.json(), extra="forbid")
    asked = stay()
    assert response.json()["result"] == {
        "reservation": {
            "booking_id": number,
            "status": "confirmed",
            "property": "BER",
            "room_type": "double",
            "check_in": asked["check_in"],
            "check_out": asked["check_out"],
            "guest_name": "Anna Moser",
        }
    }
    assert "@" not in response.text
    assert "elsewhere" not in response.text


def test_number_and_mail_address_open_a_reservation(desk: Desk) -> None:
    number = booked(desk)
    response = desk.read("get_reservation", reservation_id=number, email="Anna.Moser@example.com")
    assert response.status_code == 200


@pytest.mark.parametrize("claim", [{"guest_name": "Ben Kern"}, {"email": "ben@example.com"}, {"guest_name": "Anna"}])
def test_a_mismatch_is_byte_for_byte_a_missing_one(desk: Desk, claim: dict[str, str]) -> None:
    number = booked(desk)
    wrong = desk.read("get_reservation", reservation_id=number, **claim)
    missing = desk.read("get_reservation", reservation_id="B-999999", **claim)
    assert refused(wrong, 404, "NOT_FOUND").tool_error.message == MISSING
    assert wrong.content == missing.content
    assert {**wrong.headers, "date": ""} == {**missing.headers, "date": ""}
    assert [call["operation"] for call in desk.pms.ledger(method="GET")] == ["get", "get"]


def test_a_number_alone_opens_nothing_and_costs_no_call(desk: Desk) -> None:
    problem = refused(desk.read("get_reservation", reservation_id=booked(desk)), 422)
    assert problem.tool_error.message == (
        "guest_name: is required, or email: a number alone opens no reservation. You sent nothing."
    )
    assert desk.calls("get") == []


def test_the_hotel_systems_own_no_tells_somebody_unverified_nothing(desk: Desk) -> None:
    number = booked(desk)
    desk.pms.fault("status", status=403, body={"error": {"code": "forbidden", "message": "not yours"}}, times=1)
    hidden = desk.read("get_reservation", reservation_id=number, guest_name="Ben Kern")
    missing = desk.read("get_reservation", reservation_id="B-999999", guest_name="Ben Kern")
    assert refused(hidden, 404, "NOT_FOUND").tool_error.message == MISSING
    assert hidden.content == missing.content


def test_a_verified_guest_needs_only_the_number(desk: Desk) -> None:
    verify(desk, "c-anna", ANNA)
    number = booked(desk)
    assert desk.read("get_reservation", conversation="c-anna", reservation_id=number).status_code == 200


def test_another_guests_reservation_is_denied_in_the_same_words_whatever_it_is(desk: Desk) -> None:
    verify(desk, "c-ben", BEN)
    numbers = [booked(desk), booked(desk, room_type="suite", property="AKL")]
    answers = [
        desk.read("get_reservation", conversation="c-ben", reservation_id=number, **claim)
        for number in numbers
        for claim in ({}, {"guest_name": "Anna Moser"}, {"email": "anna.moser@example.com"})
    ]
    assert refused(answers[0], 403, "PERMISSION_DENIED").tool_error.message == DENIED
    assert {answer.content for answer in answers} == {answers[0].content}
    for told in ("Moser", "B-1", "suite", "AKL"):
        assert told not in answers[0].text


def test_another_conversations_verified_guest_is_nobody_here(desk: Desk) -> None:
    number = booked(desk)
    verify(desk, "c-here", ANNA)
    assert desk.read("get_reservation", conversation="c-there", reservation_id=number).status_code == 422


def test_case_49_no_readable_reservation_is_an_error(desk: Desk) -> None:
    number = booked(desk)
    desk.pms.fault("status", status=200, body={"booking_id": "B-77", "status": "confirmed"})
    response = desk.read("get_reservation", reservation_id=number, guest_name="Anna Moser")
    refused(response, 503, "UNAVAILABLE")
    assert len(desk.calls("get")) == 3


@pytest.mark.parametrize("number", ["..", "../availability", "B-1/cancel", "B-1?x=1", "", "B 1", "%2e%2e"])
def test_a_number_that_is_none_is_refused_before_any_call(desk: Desk, number: str) -> None:
    response = desk.read("get_reservation", reservation_id=number, guest_name="Anna Moser")
    assert refused(response, 422).tool_error.message.startswith("reservation_id: ")
    assert desk.pms.ledger() == []


def test_a_hotel_named_with_the_number_must_be_the_reservations(desk: Desk) -> None:
    number = booked(desk)
    asked = {"reservation_id": number, "guest_name": "Anna Moser"}
    assert desk.read("get_reservation", property="BER", **asked).status_code == 200
    refused(desk.read("get_reservation", property="AKL", **asked), 404, "NOT_FOUND")


def test_arrivals_come_in_pages_for_the_hotels_own_people(desk: Desk) -> None:
    date = stay()["check_in"]
    for number in range(51):
        booked(desk, {"name": f"Guest {number}", "email": f"g{number}@example.com"}, room_type="double")
        desk.pms.set_rooms("BER", "double", 20)
    for key in (desk.api.tenant.host, desk.api.tenant.ops):
        first = desk.read("list_arrivals", key, property="BER", date=date).json()["result"]
        following = desk.read("list_arrivals", key, property="BER", date=date, cursor=first["next_cursor"])
        rest = following.json()["result"]
        assert (len(first["arrivals"]), len(rest["arrivals"]), rest["next_cursor"]) == (50, 1, None)
        names = {one["guest_name"] for one in first["arrivals"] + rest["arrivals"]}
        assert len(names) == 51


def test_nobody_arrives_is_an_empty_list_and_an_outage_is_not(desk: Desk) -> None:
    date = str(dt.date.today() + dt.timedelta(days=400))  # noqa: DTZ011 - any day far off
    asked = {"key": desk.api.tenant.host, "property": "HNL", "date": date}
    assert desk.read("list_arrivals", **asked).json()["result"] == {"arrivals": [], "next_cursor": None}
    desk.pms.fault("status", status=503)
    refused(desk.read("list_arrivals", **asked), 503, "UNAVAILABLE")


def test_an_agent_must_not_list_other_guests(desk: Desk) -> None:
    response = desk.read("list_arrivals", property="BER", date=stay()["check_in"])
    problem = refused(response, 403, "PERMISSION_DENIED")
    assert problem.tool_error.message == "This key has the scope agent; the call needs host or ops."
    assert desk.pms.ledger() == []


@pytest.mark.parametrize("tool", ["search_availability", "get_reservation"])
def test_guests_reads_are_not_for_operations(desk: Desk, tool: str) -> None:
    refused(desk.read(tool, desk.api.tenant.ops), 403, "PERMISSION_DENIED")
