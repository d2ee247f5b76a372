"""The reference contract, call by call."""

import httpx
import pytest

from tests.pms import Pms
from tests.simulator.calls import FIRST_NIGHT, LAST_DAY, book, error, found, stay

STAY = {"property": "BER", "check_in": FIRST_NIGHT, "check_out": LAST_DAY}


def test_a_booking_is_made_and_found_by_id_and_by_reference(http: httpx.Client) -> None:
    made = book(http)
    assert made.status_code == 201
    assert made.json()["status"] == "confirmed"
    assert made.json()["price"] == {"amount": "580.00", "currency": "EUR"}
    id = made.json()["booking_id"]
    assert id == "B-1001"
    assert http.get(f"/v1/bookings/{id}").json() == made.json()
    assert found(http) == [id]
    assert found(http, "r-") == []
    assert error(http.get("/v1/bookings/B-9")) == (404, "not_found", None)


def test_a_cancelled_booking_is_still_found_and_gives_its_room_back(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 1)
    id = book(http).json()["booking_id"]
    assert error(book(http, "r-2")) == (409, "sold_out", None)
    assert http.post(f"/v1/bookings/{id}/cancel").json()["status"] == "cancelled"
    assert http.post(f"/v1/bookings/{id}/cancel").status_code == 200
    assert [call["effect"] for call in pms.ledger(operation="cancel")] == [True, False]
    assert found(http) == [id]
    assert book(http, "r-2").status_code == 201


def test_a_suite_sells_out_for_one_night_and_comes_free_again(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 0, night="2027-03-06")
    refusal = book(http)
    assert error(refusal) == (409, "sold_out", None)
    assert refusal.json()["error"]["night"] == "2027-03-06"
    assert book(http, check_out="2027-03-06").status_code == 201
    pms.set_rooms("BER", "suite", 1, check_in=FIRST_NIGHT, check_out=LAST_DAY)
    assert book(http).status_code == 201
    assert error(book(http)) == (409, "sold_out", None)


def test_a_dearer_stay_is_refused_with_the_new_price(pms: Pms, http: httpx.Client) -> None:
    limit = {"amount": "580.00", "currency": "EUR"}
    assert book(http, max_price=limit).status_code == 201
    pms.set_price("BER", "suite", "310.00")
    refusal = book(http, max_price=limit)
    assert error(refusal) == (409, "price_changed", None)
    assert refusal.json()["error"]["price"] == {"amount": "620.00", "currency": "EUR"}
    assert error(book(http, max_price={"amount": "900", "currency": "USD"})) == (
        422,
        "invalid",
        "max_price.currency",
    )
    assert book(http, max_price=620).status_code == 201


def test_a_change_moves_the_nights_or_nothing(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 1)
    id = book(http).json()["booking_id"]
    longer = {"check_in": FIRST_NIGHT, "check_out": "2027-03-08"}
    assert http.patch(f"/v1/bookings/{id}", json=longer).json()["price"]["amount"] == "870.00"
    assert http.patch(f"/v1/bookings/{id}", json=longer).status_code == 200
    assert book(http, "r-2", check_in="2027-03-08", check_out="2027-03-09").status_code == 201
    too_long = {"check_in": FIRST_NIGHT, "check_out": "2027-03-09"}
    assert error(http.patch(f"/v1/bookings/{id}", json=too_long)) == (409, "sold_out", None)
    assert http.get(f"/v1/bookings/{id}").json()["check_out"] == "2027-03-08"
    assert [call["effect"] for call in pms.ledger(operation="change")] == [True, False, False]
    http.post(f"/v1/bookings/{id}/cancel")
    assert error(http.patch(f"/v1/bookings/{id}", json=longer)) == (409, "cancelled", None)


def test_refunds_never_exceed_the_payment(http: httpx.Client) -> None:
    payment = book(http).json()["payment_id"]
    part = {"amount": "500.00", "currency": "EUR", "reference": "f-1"}
    made = http.post(f"/v1/payments/{payment}/refunds", json=part)
    assert made.status_code == 201
    assert made.json()["refund_id"] == "R-1001"
    assert http.get("/v1/refunds", params={"reference": "f-1"}).json() == {"refunds": [made.json()]}
    again = http.post(f"/v1/payments/{payment}/refunds", json=part)
    assert error(again) == (422, "invalid", "amount")
    assert "80.00" in again.json()["error"]["message"]


@pytest.mark.parametrize(
    ("payment", "currency", "expected"),
    [
        ("P-501", "USD", (422, "invalid", "currency")),
        ("P-504", "EUR", (403, "forbidden", None)),
        ("P-0", "EUR", (404, "not_found", None)),
    ],
)
def test_a_refund_that_can_not_be_made_is_refused(
    http: httpx.Client, payment: str, currency: str, expected: tuple[int, str, str | None]
) -> None:
    body = {"amount": 1, "currency": currency, "reference": "f-1"}
    assert error(http.post(f"/v1/payments/{payment}/refunds", json=body)) == expected


def test_offers_name_what_is_free_and_can_be_booked_by_their_quote(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 0)
    offers = http.get("/v1/availability", params=STAY).json()["offers"]
    assert {offer["room_type"] for offer in offers} == {"single", "double", "family"}
    saver = next(o for o in offers if (o["room_type"], o["rate_plan"]) == ("double", "saver"))
    assert saver["price"] == {"amount": "252.00", "currency": "EUR"}
    assert saver["cancellation_terms"]
    assert saver["valid_until"]
    made = book(http, room_type="double", quote_id=saver["quote_id"], max_price=saver["price"])
    assert made.json()["rate_plan"] == "saver"
    other = book(http, room_type="single", quote_id=saver["quote_id"])
    assert error(other) == (422, "invalid", "quote_id")


def test_a_full_hotel_has_an_empty_list_of_offers(pms: Pms, http: httpx.Client) -> None:
    for room_type in ("single", "double", "suite", "family"):
        pms.set_rooms("BER", room_type, 0)
    assert http.get("/v1/availability", params=STAY).json() == {"offers": []}


def test_arrivals_come_in_pages_without_cancelled_or_moved_ones(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("AKL", "double", 20)
    where = {"property": "AKL", "room_type": "double"}
    ids = [book(http, f"r-{n}", **where).json()["booking_id"] for n in range(9)]
    http.post(f"/v1/bookings/{ids[0]}/cancel")
    http.patch(f"/v1/bookings/{ids[4]}", json={"check_in": "2027-03-06", "check_out": "2027-03-07"})
    query = {"property": "AKL", "date": FIRST_NIGHT, "limit": "3"}
    pages: list[list[str]] = []
    cursor: str | None = None
    while cursor or not pages:
        page = http.get("/v1/arrivals", params=query | ({"cursor": cursor} if cursor else {})).json()
        pages.append([booking["booking_id"] for booking in page["arrivals"]])
        cursor = page["next_cursor"]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sum(pages, []) == [id for id in ids if id not in (ids[0], ids[4])]  # noqa: RUF017 - three pages


def test_extra_fields_of_a_booking_are_kept(http: httpx.Client) -> None:
    made = book(http, adults=2, children=1, notes="late", phone="+49 30 1", rate_plan="saver").json()
    assert (made["adults"], made["children"], made["notes"], made["rate_plan"]) == (2, 1, "late", "saver")
    assert made["guest"] == {**stay()["guest"], "phone": "+49 30 1"}
