"""Changes and cancellations: their effect, their faults, their keys and their lines in the ledger."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.pms import Pms
from tests.simulator.calls import FIRST_NIGHT, IMPATIENT, LAST_DAY, arrivals, book, error, free_suites
from tests.waiting import eventually

THERE = {"check_in": "2027-04-01", "check_out": "2027-04-04"}
BACK = {"check_in": FIRST_NIGHT, "check_out": LAST_DAY}
Write = Callable[..., httpx.Response]


def change(http: httpx.Client, id: str, key: str | None = None, to: dict[str, str] = THERE, **more: Any) -> Any:
    return http.patch(f"/v1/bookings/{id}", json=to, headers={"Idempotency-Key": key} if key else {}, **more)


def cancel(http: httpx.Client, id: str, key: str | None = None, **more: Any) -> Any:
    return http.post(f"/v1/bookings/{id}/cancel", headers={"Idempotency-Key": key} if key else {}, **more)


WRITES = pytest.mark.parametrize("write", [change, cancel])


def happened(http: httpx.Client, id: str) -> bool:
    """Whether the change or the cancellation took effect."""
    booking = http.get(f"/v1/bookings/{id}").json()
    return bool(booking["status"] == "cancelled" or booking["check_in"] == THERE["check_in"])


def test_a_change_frees_the_old_nights_and_takes_the_new_ones(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 2)
    id = book(http).json()["booking_id"]
    assert (free_suites(http), free_suites(http, **THERE)) == (1, 2)
    assert change(http, id).json()["price"]["amount"] == "870.00"
    assert (free_suites(http), free_suites(http, **THERE)) == (2, 1)
    assert (arrivals(http), arrivals(http, day=THERE["check_in"])) == ([[]], [[id]])


def test_a_change_that_is_refused_leaves_nights_and_arrival_as_they_were(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 2)
    id = book(http).json()["booking_id"]
    pms.set_rooms("BER", "suite", 0, night="2027-04-03")
    assert error(change(http, id)) == (409, "sold_out", None)
    assert (free_suites(http), arrivals(http)) == (1, [[id]])
    assert error(change(http, "B-9")) == (404, "not_found", None)
    assert error(change(http, id, to=BACK | {"check_out": FIRST_NIGHT})) == (422, "invalid", "check_out")


def test_a_cancellation_frees_the_nights_once(pms: Pms, http: httpx.Client) -> None:
    pms.set_rooms("BER", "suite", 2)
    id = book(http).json()["booking_id"]
    change(http, id)
    for _ in range(2):
        assert cancel(http, id).json()["status"] == "cancelled"
        assert (free_suites(http, **THERE), arrivals(http, day=THERE["check_in"])) == (2, [[]])
    assert error(cancel(http, "B-9")) == (404, "not_found", None)


def test_the_ledger_tells_changes_and_cancellations_apart(pms: Pms, http: httpx.Client) -> None:
    id = book(http).json()["booking_id"]
    change(http, id, "k-1")
    change(http, id)
    cancel(http, id, "k-2")
    change(http, id)
    seen = ("method", "path", "key", "body", "status", "effect")
    changes = [tuple(call[name] for name in seen) for call in pms.ledger(operation="change")]
    assert changes == [
        ("PATCH", f"/v1/bookings/{id}", "k-1", THERE, 200, True),
        ("PATCH", f"/v1/bookings/{id}", None, THERE, 200, False),
        ("PATCH", f"/v1/bookings/{id}", None, THERE, 409, False),
    ]
    (call,) = pms.effects(operation="cancel")
    assert tuple(call[name] for name in seen) == ("POST", f"/v1/bookings/{id}/cancel", "k-2", None, 200, True)
    assert {call["booking_id"] for call in pms.effects()} == {id}


@WRITES
@pytest.mark.parametrize(
    ("fault", "status", "effect"),
    [
        ({"kind": "status", "status": 503}, 503, False),
        ({"kind": "status", "status": 500, "when": "after"}, 500, True),
        ({"kind": "rate_limited", "retry_after": "3"}, 429, False),
        ({"kind": "ok_with_error"}, 200, False),
        ({"kind": "ok_with_error", "when": "after"}, 200, True),
        ({"kind": "html", "status": 200, "when": "after"}, 200, True),
        ({"kind": "redirect", "location": "/elsewhere"}, 302, False),
        ({"kind": "empty"}, 200, True),
        ({"kind": "without_id"}, 200, True),
        ({"kind": "duplicate"}, 200, True),
        ({"kind": "big", "size": 5000}, 200, True),
        ({"kind": "trickle", "part": "both", "interval_ms": 0.1}, 200, True),
        ({"kind": "latency", "ms": 1}, 200, True),
        ({"kind": "reset_before_commit"}, None, False),
        ({"kind": "reset_after_commit"}, None, True),
        ({"kind": "truncated"}, None, True),
    ],
    ids=lambda value: value.get("kind") if isinstance(value, dict) else None,
)
def test_every_fault_can_hit_them(
    pms: Pms, http: httpx.Client, write: Write, fault: dict[str, Any], status: int | None, effect: bool
) -> None:
    id = book(http).json()["booking_id"]
    pms.fault(**fault, match={"operation": write.__name__})
    if status is None:
        with pytest.raises(httpx.TransportError):
            write(http, id)
    else:
        assert write(http, id).status_code == status
    assert happened(http, id) is effect
    (call,) = pms.ledger(operation=write.__name__)
    assert (call["effect"], call["fault"]) == (effect, fault["kind"])


@WRITES
@pytest.mark.parametrize(("kind", "at_once"), [("commit_then_timeout", True), ("hold_before_commit", False)])
def test_they_take_effect_though_the_caller_has_gone(
    pms: Pms, http: httpx.Client, write: Write, kind: str, at_once: bool
) -> None:
    id = book(http).json()["booking_id"]
    rule = pms.fault(kind, match={"operation": write.__name__}, times=1)
    with pytest.raises(httpx.ReadTimeout):
        write(http, id, timeout=IMPATIENT)
    assert happened(http, id) is at_once
    assert pms.release(rule) == 1
    assert eventually(lambda: happened(http, id))
    assert len(pms.effects(operation=write.__name__)) == 1


@WRITES
def test_a_repeated_key_replays_the_first_answer_whatever_was_done_since(
    pms: Pms, http: httpx.Client, write: Write
) -> None:
    id = book(http).json()["booking_id"]
    first = write(http, id, "k-1")
    pms.desk(id, status="confirmed", **BACK)
    second = write(http, id, "k-1")
    assert (second.status_code, second.content) == (200, first.content)
    assert second.headers["Idempotent-Replayed"] == "true"
    assert not happened(http, id)


@WRITES
def test_without_keys_a_repeat_takes_effect_again(pms: Pms, http: httpx.Client, write: Write) -> None:
    pms.set_mode("lookup-only")
    id = book(http).json()["booking_id"]
    write(http, id, "k-1")
    pms.desk(id, status="confirmed", **BACK)
    assert "Idempotent-Replayed" not in write(http, id, "k-1").headers
    assert happened(http, id)


@WRITES
def test_a_key_is_locked_from_arrival_and_stands_for_one_request(pms: Pms, http: httpx.Client, write: Write) -> None:
    id = book(http).json()["booking_id"]
    rule = pms.fault("hold_before_commit", times=1)
    with pytest.raises(httpx.ReadTimeout):
        write(http, id, "k-1", timeout=IMPATIENT)
    assert error(write(http, id, "k-1")) == (409, "key_in_progress", None)
    assert error(change(http, id, "k-1", to=BACK)) == (422, "key_reused", None)
    pms.release(rule)
    assert eventually(lambda: happened(http, id))
    assert len(pms.effects(operation=write.__name__)) == 1
