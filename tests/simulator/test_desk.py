"""What happens to bookings behind a caller's back."""

import json
import time
from typing import Any

import httpx
import pytest

from tests.pms import Pms
from tests.simulator.calls import FIRST_NIGHT, LAST_DAY, arrivals, book, error, found, free_suites

STAY = ("BER", "suite", FIRST_NIGHT, LAST_DAY)
ODD: list[dict[str, str]] = [
    {"name": "Ana"},
    {"email": "no-name@guests.example"},
    {},
    {"name": "", "email": ""},
    {"name": "Jürgen\tMüller", "email": "jürgen@bücher.example"},
    {"name": "Eve\r\nBcc: all@guests.example", "email": "a@b\r\nBcc: x"},
    {"name": "x" * 1000, "email": "two@at@signs"},
    {"name": "\u202eevE\x00", "email": "<script>@", "phone": "call me"},
]


def arriving(http: httpx.Client, day: str = FIRST_NIGHT) -> list[str]:
    (page,) = arrivals(http, day=day)
    return page


def test_seeded_guests_are_shown_exactly_as_they_were_typed(pms: Pms, http: httpx.Client) -> None:
    ids = pms.seed(*STAY, ODD)
    assert [http.get(f"/v1/bookings/{id}").json()["guest"] for id in ids] == ODD
    assert arriving(http) == ids
    assert {booking["reference"] for booking in pms.bookings()} == {None}
    assert [call["operation"] for call in pms.ledger()] == ["get"] * len(ODD) + ["arrivals"]


def test_thousands_are_seeded_at_once_though_no_room_is_free(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 0)
    begun = time.monotonic()
    ids = pms.seed(*STAY, [{"name": f"Guest {n}", "email": f"g{n}@guests.example"} for n in range(3000)])
    assert time.monotonic() - begun < 10
    assert len(set(ids)) == 3000
    assert error(book(http)) == (409, "sold_out", None)


def test_a_seeded_booking_is_one_like_any_other(pms: Pms, http: httpx.Client) -> None:
    (id,) = pms.seed(*STAY, [{"name": "Ana"}], reference="r-7")
    assert found(http, "r-7") == [id]
    assert free_suites(http) == 1
    booking = http.post(f"/v1/bookings/{id}/cancel").json()
    assert (booking["status"], booking["price"]) == ("cancelled", {"amount": "580.00", "currency": "EUR"})
    assert free_suites(http) == 2
    refund = {"amount": "580.00", "currency": "EUR", "reference": "f-1"}
    assert http.post(f"/v1/payments/{booking['payment_id']}/refunds", json=refund).status_code == 201


def test_the_desk_moves_a_booking_with_its_nights_even_where_no_room_is_free(pms: Pms, http: httpx.Client) -> None:
    (id,) = pms.seed(*STAY, [{"name": "Ana"}])
    pms.set_rooms("BER", "suite", 0, night="2027-04-01")
    moved = pms.desk(id, check_in="2027-04-01", check_out="2027-04-02")
    assert (moved["check_in"], moved["check_out"], moved["price"]["amount"]) == ("2027-04-01", "2027-04-02", "290.00")
    assert (arriving(http), arriving(http, "2027-04-01")) == ([], [id])
    assert free_suites(http) == 2
    assert pms.desk(id, check_out="2027-04-03")["check_in"] == "2027-04-01"


def test_the_desk_cancels_and_revives(pms: Pms, http: httpx.Client) -> None:
    (id,) = pms.seed(*STAY, [{"name": "Ana"}])
    for _ in range(2):  # the second time it changes nothing
        assert pms.desk(id, status="cancelled")["status"] == "cancelled"
        assert (arriving(http), free_suites(http)) == ([], 2)
    for _ in range(2):
        pms.desk(id, status="confirmed")
        assert (arriving(http), free_suites(http)) == ([id], 1)


def test_the_desk_writes_another_guest_and_leaves_the_rest(pms: Pms, http: httpx.Client) -> None:
    before = book(http).json()
    pms.set_price("BER", "suite", "999.00")
    pms.desk(before["booking_id"], guest={"name": "Bo"})
    assert http.get(f"/v1/bookings/{before['booking_id']}").json() == before | {"guest": {"name": "Bo"}}


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/desk/B-9", {"status": "cancelled"}, (404, "not_found", None)),
        ("/desk/B-1001", {"status": "gone"}, (422, "invalid", "status")),
        ("/desk/B-1001", {"check_out": FIRST_NIGHT}, (422, "invalid", "check_out")),
        ("/desk/B-1001", {"price": 5}, (422, "invalid", "price")),
        ("/seed", {"room_type": "igloo"}, (422, "invalid", "room_type")),
        ("/seed", {"property": "PAR"}, (422, "invalid", "property")),
        ("/seed", {"check_out": "2027-02-30"}, (422, "invalid", "check_out")),
        ("/seed", {"guests": [{"name": "\ud800"}]}, (422, "invalid", "guests.0.name")),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    pms: Pms, http: httpx.Client, path: str, body: dict[str, Any], expected: tuple[int, str, str | None]
) -> None:
    pms.seed(*STAY, [{"name": "Ana"}])
    before = pms.bookings()
    stay: dict[str, Any] = dict(zip(("property", "room_type", "check_in", "check_out"), STAY, strict=True)) | {
        "guests": [{}]
    }
    sent = stay | body if path == "/seed" else body
    # httpx would not encode half a surrogate pair.
    assert error(http.post(path, content=json.dumps(sent), headers={"content-type": "application/json"})) == expected
    assert pms.bookings() == before
