"""Arrivals that change while somebody reads them, page by page."""

import httpx

from tests.pms import Pms
from tests.simulator.calls import FIRST_NIGHT, LAST_DAY, arrivals, error

STAY = ("BER", "suite", FIRST_NIGHT, LAST_DAY)
SEVEN = [{"name": f"Guest {n}", "email": f"g{n}@guests.example"} for n in range(7)]


def test_a_quiet_list_is_the_same_at_any_page_size(pms: Pms, http: httpx.Client) -> None:
    ids = pms.seed(*STAY, SEVEN * 6)
    assert arrivals(http, 20) == [ids[:20], ids[20:40], ids[40:]]
    assert arrivals(http, 42) == [ids]


def test_a_booking_put_in_before_this_page_is_missed_and_another_is_repeated(pms: Pms, http: httpx.Client) -> None:
    ids = pms.seed(*STAY, SEVEN)
    pms.fault("arrivals_shift", change="insert", skip=1, times=1)
    assert arrivals(http, 3) == [ids[:3], ids[3:6], ids[5:]]
    assert arrivals(http) == [["B-1000", *ids]]
    late = http.get("/v1/bookings/B-1000").json()
    assert (late["status"], late["guest"]) == ("confirmed", {"name": "Late Guest", "email": "late-7@guests.example"})


def test_a_booking_cancelled_on_this_page_lets_another_one_slip_through(pms: Pms, http: httpx.Client) -> None:
    ids = pms.seed(*STAY, SEVEN)
    pms.fault("arrivals_shift", change="cancel", times=1)
    assert arrivals(http, 3) == [ids[:3], ids[4:]]
    assert arrivals(http) == [ids[1:]]


def test_the_last_page_and_the_only_one_stay_the_last(pms: Pms, http: httpx.Client) -> None:
    ids = pms.seed(*STAY, SEVEN)
    for change in ("insert", "cancel"):
        pms.fault("arrivals_shift", change=change, times=1)
        pages = arrivals(http)
    assert pages == [["B-1000", *ids]]
    assert arrivals(http) == [ids]


def test_the_one_that_slips_through_may_be_the_last_of_all(pms: Pms, http: httpx.Client) -> None:
    ids = pms.seed(*STAY, SEVEN)
    pms.fault("arrivals_shift", change="cancel", times=1)
    assert arrivals(http, 6) == [ids[:6], []]


def test_pages_of_one_with_a_booking_before_each_never_end(pms: Pms, http: httpx.Client) -> None:
    (id, *_) = pms.seed(*STAY, SEVEN)
    pms.fault("arrivals_shift", change="insert", skip=1)
    query = {"property": "BER", "date": FIRST_NIGHT, "limit": "1"}
    cursor = http.get("/v1/arrivals", params=query).json()["next_cursor"]
    page = http.get("/v1/arrivals", params=query | {"cursor": cursor}).json()
    assert (cursor, page["next_cursor"]) == (id, id)


def test_what_lists_no_arrivals_is_left_alone(pms: Pms, http: httpx.Client) -> None:
    pms.fault("arrivals_shift")
    assert arrivals(http) == [[]]
    assert error(http.get("/v1/arrivals", params={"property": "BER"})) == (422, "invalid", "date")
    assert http.get("/v1/availability", params={"property": "BER", "check_in": FIRST_NIGHT, "check_out": LAST_DAY})
    assert pms.bookings() == []


def test_a_shift_is_no_effect_of_the_call(pms: Pms, http: httpx.Client) -> None:
    pms.seed(*STAY, SEVEN)
    pms.fault("arrivals_shift")
    arrivals(http)
    assert [(call["effect"], call["fault"]) for call in pms.ledger(operation="arrivals")] == [(False, "arrivals_shift")]
