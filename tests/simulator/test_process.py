"""The process: its token, its connections, its end."""

import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import httpx
import psutil

from tests.pms import Pms, start_simulator
from tests.processes import ROOT
from tests.simulator.calls import book, book_in_vain, error


def test_a_token_is_asked_for_if_there_is_one() -> None:
    with start_simulator(token="letmein") as pms, httpx.Client(base_url=pms.url) as http:
        assert error(book(http)) == (401, "unauthorized", None)
        http.headers["authorization"] = "Bearer letmeout"
        assert error(book(http)) == (401, "unauthorized", None)
        http.headers["authorization"] = "Bearer letmein-readonly"
        assert error(book(http)) == (403, "forbidden", None)
        assert http.get("/v1/bookings", params={"reference": "r-1"}).status_code == 200
        http.headers["authorization"] = "Bearer letmein"
        assert book(http).status_code == 201
        assert [call["status"] for call in pms.ledger()] == [401, 401, 403, 200, 201]


HALF = b"POST /v1/bookings HTTP/1.1\r\nhost: pms\r\ncontent-length: 9\r\ncontent-type: application/json\r\n\r\n{"


def test_silent_connections_are_closed_whatever_was_sent_before(pms: Pms) -> None:
    with ExitStack() as open_ones:
        connections = [open_ones.enter_context(connected(pms)) for _ in range(4)]
        whole = b"GET /healthz HTTP/1.1\r\nhost: pms\r\n\r\n"
        for connection, sent in zip(connections, (b"", b"GET /v1/book", HALF, whole), strict=True):
            connection.sendall(sent)
        for connection in connections:
            while connection.recv(1000):
                pass  # the stream ends within the 5 s of `connected`, from a server with 1 s of patience
    assert pms.ledger() == []


def test_a_caller_that_hangs_up_in_the_middle_of_a_request_was_never_received(pms: Pms, http: httpx.Client) -> None:
    with connected(pms) as connection:
        connection.sendall(HALF)
    assert book(http).status_code == 201
    assert len(pms.ledger()) == 1


def connected(pms: Pms) -> socket.socket:
    host, port = pms.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=5)


def test_it_stops_while_it_holds_calls() -> None:
    with start_simulator("lookup-only") as pms, httpx.Client(base_url=pms.url) as http:
        pms.fault("hold_before_commit")
        book_in_vain(http)
        process = psutil.Process(pms.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=5)


def test_an_unknown_mode_is_refused_at_the_start() -> None:
    command = [sys.executable, "-m", "providers.simulator", "--mode", "psychic"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == 2
    assert "lookup-only" in ended.stderr
