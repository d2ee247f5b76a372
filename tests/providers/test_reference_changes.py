"""Changes and cancellations by the reference adapter: against the simulator, and byte by byte on a socket."""

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from booking.errors import ErrorCode
from booking.outcomes import Done, Misconfigured, NotSent, Outcome, Rejected, Reservation, Unknown
from booking.reads import GetReservation
from booking.settings import Provider
from providers.ports import Line, Pms
from providers.reference import ReferencePms, capabilities_of, reference_pms
from tests.pms import Pms as Simulator
from tests.pms import start_simulator
from tests.providers.lines import in_time
from tests.providers.servers import answering, read_request, serving

TOKEN = "s3cret-t0ken"
HERE = ("2027-01-10", "2027-01-12")
THERE = ("2027-02-01", "2027-02-04")
GUEST = {"name": "Ada Lovelace", "email": "ada@example.com"}
Write = Callable[..., Outcome]


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    with start_simulator(token=TOKEN) as simulator:
        yield simulator


@pytest.fixture
def simulator(running: Simulator) -> Simulator:
    running.reset()
    return running


def adapter(url: str, *keyed: str, token: str = TOKEN) -> Pms:
    """An adapter whose provider honours keys for these effects."""
    declared = capabilities_of(Provider(write_deadline=0.5))
    return ReferencePms(url, replace(declared, keyed=frozenset(keyed)), {"Authorization": f"Bearer {token}"})


def booked(simulator: Simulator) -> str:
    (id,) = simulator.seed("BER", "suite", *HERE, [GUEST])
    return id


def change(pms: Pms, id: str, key: str = "k-1", to: tuple[str, str] = THERE, line: Line | None = None) -> Outcome:
    return pms.change_dates(line or pms.connect(), id, pms.change_body(*to), key)


def cancel(pms: Pms, id: str, key: str = "k-1", line: Line | None = None) -> Outcome:
    return pms.cancel_booking(line or pms.connect(), id, key)


WRITES = pytest.mark.parametrize("write", [change, cancel])


def shown(pms: Pms, id: str) -> Reservation:
    found = pms.get_booking(pms.connect(), GetReservation(reservation_id=id), 5)
    assert isinstance(found, Reservation)
    return found


def happened(pms: Pms, id: str) -> bool:
    """Whether the write took effect, read off the reservation."""
    found = shown(pms, id)
    return not found.is_live() or (found.check_in, found.check_out) == THERE


@WRITES
def test_it_is_done_and_gives_the_reservation_as_it_is_now(simulator: Simulator, write: Write) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    outcome = write(pms, id)
    assert isinstance(outcome, Done)
    assert Reservation(**outcome.result) == shown(pms, id)
    assert happened(pms, id)


@WRITES
def test_what_is_so_already_is_done_without_a_second_effect(simulator: Simulator, write: Write) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    assert write(pms, id) == write(pms, id, "k-2")
    assert isinstance(write(pms, id), Done)
    assert len(simulator.effects(operation=write.__name__)) == 1


@pytest.mark.parametrize(
    ("keyed", "sent"),
    [((), (None, None)), (("booking",), (None, None)), (("change",), ("k-1", None)), (("cancel",), (None, "k-1"))],
)
def test_the_key_is_sent_only_for_the_effects_that_honour_it(
    simulator: Simulator, keyed: tuple[str, ...], sent: tuple[str | None, str | None]
) -> None:
    pms, id = adapter(simulator.url, *keyed), booked(simulator)
    change(pms, id)
    cancel(pms, id)
    assert tuple(call["key"] for call in simulator.ledger()) == sent


def test_a_refusal_names_its_row(simulator: Simulator) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    simulator.set_rooms("BER", "suite", 0, night="2027-02-02")
    assert change(pms, id) == Rejected("dates_taken", "HTTP 409 sold_out")
    assert change(pms, "B-9") == Rejected("not_found", "HTTP 404 not_found", {"what": "The reservation"})
    assert cancel(pms, "B-9") == change(pms, "B-9")
    backwards = change(pms, id, to=THERE[::-1])
    assert isinstance(backwards, Rejected)
    assert (backwards.row, backwards.values["field"]) == ("refused_argument", "check_out")
    simulator.desk(id, status="cancelled")
    assert change(pms, id) == Rejected("not_changeable", "HTTP 409 cancelled")
    assert simulator.effects() == []


@WRITES
def test_who_may_not_write_is_denied_and_who_is_not_known_is_our_mistake(simulator: Simulator, write: Write) -> None:
    id = booked(simulator)
    reader, stranger = adapter(simulator.url, token=f"{TOKEN}-readonly"), adapter(simulator.url, token="wrong")
    assert write(reader, id) == Rejected("denied", "HTTP 403 forbidden")
    assert write(stranger, id) == Misconfigured("HTTP 401 unauthorized", certain=True)
    assert not happened(adapter(simulator.url), id)


@WRITES
@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "commit_then_timeout"},
        {"kind": "reset_after_commit"},
        {"kind": "trickle", "part": "both"},
        {"kind": "truncated"},
        {"kind": "big"},
        {"kind": "empty"},
        {"kind": "without_id"},
        {"kind": "html", "status": 200, "when": "after"},
        {"kind": "status", "status": 503, "when": "after"},
        {"kind": "ok_with_error", "when": "after"},
        {"kind": "redirect", "location": "/v1/bookings", "when": "after"},
    ],
    ids=lambda fault: fault["kind"],
)
def test_a_lost_answer_is_unknown_and_the_reservation_tells(simulator: Simulator, write: Write, fault: Any) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    simulator.fault(**fault, match={"operation": write.__name__})
    with in_time(0.5):
        assert isinstance(write(pms, id), Unknown)
    assert happened(pms, id)
    assert len(simulator.ledger(operation=write.__name__)) == 1  # nothing below repeats a call, or follows


@WRITES
@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "hold_before_commit"},
        {"kind": "reset_before_commit"},
        {"kind": "status", "status": 503},
        {"kind": "status", "status": 400},
        {"kind": "html", "status": 502},
        {"kind": "ok_with_error"},
        {"kind": "redirect", "location": "/v1/bookings"},
    ],
    ids=lambda fault: fault["kind"],
)
def test_what_looks_like_a_failure_is_unknown_though_nothing_happened_yet(
    simulator: Simulator, write: Write, fault: Any
) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    simulator.fault(**fault, match={"operation": write.__name__})
    assert isinstance(write(pms, id), Unknown)
    assert not happened(pms, id)


def test_a_409_on_a_cancellation_is_left_to_the_reservation_itself(simulator: Simulator) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    body = {"error": {"code": "cancelled", "message": "it is cancelled already"}}
    simulator.fault("status", status=409, body=body, when="after", match={"operation": "cancel"})
    assert isinstance(cancel(pms, id), Unknown)
    assert not shown(pms, id).is_live()


@WRITES
def test_under_a_key_the_same_bytes_give_the_first_answer_again(simulator: Simulator, write: Write) -> None:
    pms, id = adapter(simulator.url, write.__name__), booked(simulator)
    simulator.fault("reset_after_commit", times=1)
    assert isinstance(write(pms, id), Unknown)
    assert isinstance(write(pms, id), Done)
    assert [call["replayed"] for call in simulator.ledger(key="k-1")] == [False, True]
    assert len(simulator.effects()) == 1


@WRITES
def test_a_key_in_use_or_used_otherwise_decides_nothing(simulator: Simulator, write: Write) -> None:
    pms, id = adapter(simulator.url, write.__name__), booked(simulator)
    simulator.fault("hold_before_commit", times=1, match={"operation": write.__name__})
    write(pms, id)
    assert write(pms, id) == Unknown("HTTP 409 key_in_progress")
    assert write(pms, booked(simulator)) == Unknown("HTTP 422 key_reused")


@WRITES
def test_case_54_a_429_carries_the_wait(simulator: Simulator, write: Write) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    simulator.fault("rate_limited", retry_after="3")
    assert write(pms, id) == NotSent("HTTP 429 rate_limited", ErrorCode.RATE_LIMITED, 3)


def test_the_desk_moving_it_at_the_same_moment_is_no_success(simulator: Simulator) -> None:
    pms, id = adapter(simulator.url), booked(simulator)
    simulator.desk(id, check_in="2027-02-02", check_out="2027-02-04")
    body = next(booking for booking in simulator.bookings() if booking["booking_id"] == id)
    simulator.fault("ok_with_error", body=body, when="after", match={"operation": "change"})
    assert change(pms, id) == Unknown("success with other dates")


def test_the_bytes_of_both_requests() -> None:
    seen: list[bytes] = []

    def listen(connection: socket.socket, _stop: threading.Event) -> None:
        seen.append(read_request(connection))

    with serving(listen) as server:
        pms = adapter(server.url, "change", "cancel")
        assert isinstance(change(pms, "B/1~@:x", "k-7"), Unknown)
        assert isinstance(cancel(pms, "B/1~@:x", "k-8"), Unknown)
    changing, cancelling = (request.partition(b"\r\n\r\n") for request in seen)
    assert changing[0].startswith(b"PATCH /v1/bookings/B%2F1~%40%3Ax HTTP/1.1\r\n")
    assert {b"Content-Type: application/json", b"Idempotency-Key: k-7"} <= set(changing[0].split(b"\r\n"))
    assert changing[2] == b'{"check_in":"2027-02-01","check_out":"2027-02-04"}'
    assert cancelling[0].startswith(b"POST /v1/bookings/B%2F1~%40%3Ax/cancel HTTP/1.1\r\n")
    assert {b"Content-Length: 0", b"Idempotency-Key: k-8"} <= set(cancelling[0].split(b"\r\n"))
    assert b"Content-Type" not in cancelling[0]
    assert cancelling[2] == b""


@WRITES
def test_an_interim_answer_confirms_nothing(write: Write) -> None:
    with serving(answering(b"HTTP/1.1 100 Continue\r\n\r\n")) as server:
        assert isinstance(write(adapter(server.url), "B-1"), Unknown)


@WRITES
def test_case_56_a_line_closed_while_idle_sent_nothing(write: Write) -> None:
    gone = threading.Event()

    def hang_up(connection: socket.socket, _stop: threading.Event) -> None:
        connection.shutdown(socket.SHUT_WR)
        gone.set()
        connection.recv(1)

    with serving(hang_up) as server:
        pms = adapter(server.url)
        line = pms.connect()
        assert gone.wait(5)
        assert isinstance(write(pms, "B-1", line=line), NotSent)


@WRITES
def test_nothing_of_guest_or_token_is_logged_or_in_a_refusal(
    simulator: Simulator, caplog: pytest.LogCaptureFixture, write: Write
) -> None:
    caplog.set_level(logging.DEBUG)
    pms, id = adapter(simulator.url), booked(simulator)
    write(pms, id)
    simulator.fault("status", status=503)
    text = caplog.text + repr(pms) + repr(write(pms, id)) + repr(write(pms, "B-9"))
    for secret in (TOKEN, "Ada", "ada@example.com"):
        assert secret not in text


def test_the_adapter_of_the_settings_can_do_both(simulator: Simulator) -> None:
    pms, id = reference_pms(Provider(token=SecretStr(TOKEN)), simulator.url), booked(simulator)
    assert isinstance(change(pms, id), Done)
    assert isinstance(cancel(pms, id, "k-2"), Done)
