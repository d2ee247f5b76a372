"""Answers that are wrong, broken or cut off, and the rules that make them."""

import socket
from typing import Any

import httpx
import pytest

from tests.pms import Pms
from tests.simulator.calls import book, error, found, stay


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 500, 503])
def test_any_status_without_effect(pms: Pms, http: httpx.Client, status: int) -> None:
    pms.fault("status", status=status, times=1)
    assert error(book(http))[0] == status
    assert pms.bookings() == []
    assert pms.ledger()[0]["status"] == status


def test_a_status_can_lie_about_the_effect_and_be_remembered(pms: Pms, http: httpx.Client) -> None:
    pms.fault("status", status=500, body={"oops": 1}, when="after", times=1)
    assert book(http).json() == {"oops": 1}
    assert len(pms.bookings()) == 1
    pms.fault("status", status=500, remember=True, times=1)
    assert [book(http, key="k-1").status_code for _ in range(2)] == [500, 500]


@pytest.mark.parametrize("value", ["3", "0.5", "Wed, 21 Oct 2026 07:28:00 GMT", "soon", "-1", "", None])
def test_rate_limited_with_any_retry_after(pms: Pms, http: httpx.Client, value: str | None) -> None:
    pms.fault("rate_limited", retry_after=value, times=1)
    answer = book(http)
    assert error(answer) == (429, "rate_limited", None)
    assert answer.headers.get("Retry-After") == value


def test_success_with_an_error_inside(pms: Pms, http: httpx.Client) -> None:
    pms.fault("ok_with_error", times=1)
    assert error(book(http))[0] == 200
    pms.fault("ok_with_error", body={"success": False}, when="after", times=1)
    assert book(http).json() == {"success": False}
    assert len(pms.bookings()) == 1


@pytest.mark.parametrize("status", [200, 201, 204])
def test_no_body_at_all(pms: Pms, http: httpx.Client, status: int) -> None:
    pms.fault("empty", status=status, times=1)
    answer = book(http)
    assert (answer.status_code, answer.content) == (status, b"")
    assert len(pms.bookings()) == 1
    assert found(http) == ["B-1001"]


@pytest.mark.parametrize("status", [200, 502])
def test_a_page_where_json_was_due(pms: Pms, http: httpx.Client, status: int) -> None:
    pms.fault("html", status=status, times=1)
    answer = book(http)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert pms.bookings() == []


def test_an_answer_cut_off(pms: Pms, http: httpx.Client) -> None:
    pms.fault("truncated", times=1)
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete"):
        book(http)
    assert len(pms.bookings()) == 1


@pytest.mark.parametrize("part", ["headers", "body", "both"])
def test_a_trickled_answer_is_true_and_slow(pms: Pms, http: httpx.Client, part: str) -> None:
    pms.fault("trickle", part=part, interval_ms=0.1, times=1)
    answer = book(http)
    assert answer.status_code == 201
    assert answer.json()["booking_id"] == "B-1001"
    assert answer.headers["connection"] == "close"


def test_a_trickle_arrives_in_pieces_and_ends_when_nobody_listens(pms: Pms, http: httpx.Client) -> None:
    pms.fault("trickle", part="both", interval_ms=5, times=1)
    host, port = pms.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(b"GET /v1/bookings?reference=r-1 HTTP/1.1\r\nhost: pms\r\n\r\n")
        assert [len(connection.recv(1000)) for _ in range(3)] == [1, 1, 1]
    assert book(http).status_code == 201


def test_a_very_large_answer(pms: Pms, http: httpx.Client) -> None:
    pms.fault("big", times=1)
    answer = book(http)
    assert len(answer.content) > 10_000_000
    assert answer.json()["booking_id"] == "B-1001"


def test_an_effect_that_happens_twice(pms: Pms, http: httpx.Client) -> None:
    pms.fault("duplicate", times=1)
    assert book(http, key="k-1").json()["booking_id"] == "B-1001"
    assert found(http) == ["B-1001", "B-1002"]
    assert pms.ledger(effect=True)[0]["booking_id"] == "B-1001"


def test_a_confirmation_without_its_id(pms: Pms, http: httpx.Client) -> None:
    pms.fault("without_id", times=1)
    answer = book(http)
    assert answer.status_code == 201
    assert "booking_id" not in answer.json()
    assert found(http) == ["B-1001"]


@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_redirect(pms: Pms, http: httpx.Client, status: int) -> None:
    pms.fault("redirect", location="http://127.0.0.1:1/elsewhere", status=status, times=1)
    answer = book(http)
    assert (answer.status_code, answer.headers["location"]) == (status, "http://127.0.0.1:1/elsewhere")
    assert pms.bookings() == []


@pytest.mark.parametrize(
    ("match", "hits"),
    [
        ({}, 4),
        ({"operation": "create_booking"}, 1),
        ({"operation": "get"}, 1),
        ({"method": "GET"}, 2),
        ({"path": "/v1/bookings/"}, 2),
        ({"path": "/v1/bookings/*/cancel"}, 1),
        ({"reference": "r-1"}, 4),
        ({"reference": "r-2"}, 0),
        ({"room_type": "suite", "property": "BER"}, 3),
        ({"property": "AKL"}, 0),
        ({"key": "k-1"}, 1),
    ],
)
def test_a_rule_hits_what_it_names(pms: Pms, http: httpx.Client, match: dict[str, str], hits: int) -> None:
    pms.fault("latency", ms=0, match=match)
    id = book(http, key="k-1").json()["booking_id"]
    http.get(f"/v1/bookings/{id}")
    found(http)
    http.post(f"/v1/bookings/{id}/cancel")
    assert pms.faults()[0]["hits"] == hits


def test_skip_times_and_share(pms: Pms, http: httpx.Client) -> None:
    def statuses(count: int) -> list[int]:
        return [http.get("/v1/bookings", params={"reference": "x"}).status_code for _ in range(count)]

    pms.fault("status", skip=1, times=2)
    assert statuses(4) == [200, 503, 503, 200]
    pms.clear_faults()
    pms.fault("status", share=0.3, seed=7)
    first = statuses(40)
    assert 4 <= first.count(503) <= 20
    pms.clear_faults()
    pms.fault("status", share=0.3, seed=7)
    assert statuses(40) == first


def test_one_rule_can_be_dropped(pms: Pms, http: httpx.Client) -> None:
    rule = pms.fault("status")
    assert http.delete(f"/faults/{rule}").json() == {"released": 0}
    assert error(http.delete(f"/faults/{rule}")) == (404, "not_found", None)
    assert book(http).status_code == 201


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"kind": "earthquake"}, "kind"),
        ({}, "kind"),
        ({"kind": "status", "status": 99}, "status.status"),
        ({"kind": "status", "hold_ms": 1}, "status.hold_ms"),
        ({"kind": "status", "share": 2}, "share"),
        ({"kind": "status", "match": {"operation": "create"}}, "match.operation"),
        ({"kind": "rate_limited", "retry_after": "1\r\nx: y"}, "rate_limited.retry_after"),
        ({"kind": "latency", "percentiles": {"median": 1}}, "latency.percentiles.median.[key]"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(http: httpx.Client, rule: dict[str, Any], field: str) -> None:
    assert error(http.post("/faults", json=rule)) == (422, "invalid", field)


def test_the_ledger_has_all_calls_in_order_and_none_of_the_controls(pms: Pms, http: httpx.Client) -> None:
    book(http, "r-1", key="k-1")
    book(http, "r-2", check_in="never")
    found(http, "r-1")
    http.get("/v1/nowhere")
    calls = pms.ledger()
    assert [(c["method"], c["path"], c["status"], c["effect"]) for c in calls] == [
        ("POST", "/v1/bookings", 201, True),
        ("POST", "/v1/bookings", 422, False),
        ("GET", "/v1/bookings", 200, False),
        ("GET", "/v1/nowhere", 404, False),
    ]
    assert calls[0]["body"] == stay("r-1")
    assert (calls[0]["key"], calls[0]["booking_id"]) == ("k-1", "B-1001")
    assert [c["n"] for c in calls] == sorted(c["n"] for c in calls)
    assert len(pms.ledger(reference="r-1")) == 2
    assert len(pms.ledger(method="get")) == 2
    assert pms.ledger(key="k-1", effect=False) == []
    assert [c["n"] for c in pms.ledger(after=calls[2]["n"])] == [calls[3]["n"]]
    pms.clear_ledger()
    assert pms.ledger() == []
