"""What a caller in doubt can rely on: keys, look-ups, or neither."""

from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.pms import Pms
from tests.simulator.calls import book, book_in_vain, error, found


def test_a_repeated_key_replays_the_first_answer(pms: Pms, http: httpx.Client) -> None:
    first, second = book(http, key="k-1"), book(http, key="k-1")
    assert second.status_code == 201
    assert second.content == first.content
    assert second.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert [(call["effect"], call["replayed"]) for call in pms.ledger(key="k-1")] == [(True, False), (False, True)]


def test_a_key_with_another_body_is_refused(pms: Pms, http: httpx.Client) -> None:
    book(http, key="k-1")
    assert error(book(http, "r-2", key="k-1")) == (422, "key_reused", None)
    assert len(pms.bookings()) == 1


def test_a_refusal_is_kept_under_its_key(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 0)
    assert error(book(http, key="k-1")) == (409, "sold_out", None)
    pms.set_rooms("BER", "suite", 1)
    assert error(book(http, key="k-1")) == (409, "sold_out", None)
    assert book(http, key="k-2").status_code == 201


def test_a_key_is_locked_from_arrival(pms: Pms, http: httpx.Client) -> None:
    pms.fault("hold_before_commit", times=1)
    book_in_vain(http, key="k-1")
    assert error(book(http, key="k-1")) == (409, "key_in_progress", None)
    assert pms.release() == 1
    assert book(http, key="k-1").headers["Idempotent-Replayed"] == "true"
    assert len(pms.bookings()) == 1


def test_a_call_that_never_reached_the_hotel_leaves_its_key_free(pms: Pms, http: httpx.Client) -> None:
    pms.fault("status", status=503, times=1)
    pms.fault("latency", ms=1, times=1)
    assert error(book(http, key="k-1")) == (503, "unavailable", None)
    assert book(http, key="k-1").status_code == 201


def test_a_key_dies_of_age(pms: Pms, http: httpx.Client) -> None:
    book(http, key="k-1")
    pms.set_mode("keyed", key_life_s=0)
    assert book(http, key="k-1").status_code == 201
    pms.set_mode("keyed", key_life_s=86_400)
    assert found(http) == ["B-1001", "B-1002"]


def test_one_key_at_once_from_many_makes_one_booking(pms: Pms, http: httpx.Client) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: book(http, key="k-1"), range(20)))
    assert {answer.json()["booking_id"] for answer in answers} == {"B-1001"}
    assert len(pms.effects()) == 1


def test_without_keys_a_repeat_books_again_and_both_are_found(pms: Pms, http: httpx.Client) -> None:
    pms.set_mode("lookup-only")
    book(http, key="k-1")
    book(http, key="k-1")
    assert found(http) == ["B-1001", "B-1002"]
    assert [call["booking_id"] for call in pms.effects(reference="r-1")] == ["B-1001", "B-1002"]


def test_a_blind_system_has_no_look_up(pms: Pms, http: httpx.Client) -> None:
    pms.set_mode("blind")
    id = book(http, key="k-1").json()["booking_id"]
    for path in ("/v1/bookings", "/v1/refunds"):
        assert error(http.get(path, params={"reference": "r-1"})) == (501, "not_supported", None)
    assert http.get(f"/v1/bookings/{id}").status_code == 200
    assert book(http, key="k-1").json()["booking_id"] != id


def test_twenty_callers_get_one_last_room(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("HNL", "suite", 1)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda n: book(http, f"r-{n}", property="HNL"), range(20)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 19
    assert len(pms.bookings()) == 1
    assert len(pms.ledger(operation="create_booking")) == 20
    assert len(pms.effects()) == 1
