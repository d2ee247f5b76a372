"""A small Stripe as its own process: `python -m tests.stripe.stub`. It says its address on its first line.

Calls below /v1 are what callers know of Stripe; those below /control steer it and read its books.
"""

import argparse
import contextlib
import json
import socket
import struct
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.stripe.desk import Desk, Reset
from tests.stripe.faults import Fault
from tests.stripe.keys import LIFE, Answer

#: l_onoff, l_linger: a close becomes a reset.
_RESET = struct.pack("ii", 1, 0)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    #: s after which an unused connection is closed
    timeout = 10
    server: "Stub"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the ledger tells."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault: Fault | None = None
        try:
            if parts.path.startswith("/control/"):
                answer = self.server.control(self.command, parts.path.removeprefix("/control/"), body)
            else:
                answer, fault = self.server.desk.serve(self.command, parts.path, parts.query, body, headers)
        except Reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.close_connection = True
            return
        with contextlib.suppress(OSError):  # the caller has gone
            self._send(answer, fault)

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        raw = answer.raw if answer.raw is not None else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if fault is None or fault.kind != "trickle":
            self.wfile.write(raw)
            return
        for at in range(len(raw)):
            time.sleep(fault.seconds or 0.05)
            self.wfile.write(raw[at : at + 1])


class Stub(ThreadingHTTPServer):
    """The server: a thread for each connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, desk: Desk) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.desk = desk

    def control(self, method: str, name: str, body: bytes) -> Answer:
        """A control call."""
        desk = self.desk
        given = json.loads(body) if body else {}
        try:
            with desk.lock:
                return self._steer(desk, method, name, given)
        except (TypeError, ValueError) as error:
            return Answer(400, {"error": str(error)})

    def _steer(self, desk: Desk, method: str, name: str, given: dict[str, Any]) -> Answer:
        match method, name:
            case "GET", "ledger":
                return Answer(200, desk.calls())
            case "GET", "refunds":
                return Answer(200, desk.books.refunds)
            case "GET", "held":
                return Answer(200, len(desk.faults.held))
            case "POST", "payments":
                desk.books.seed(**given)
            case "POST", "faults":
                desk.faults.rules.append(Fault(**given))
            case "DELETE", "faults":
                desk.faults.rules.clear()
                return Answer(200, desk.faults.release())
            case "POST", "release":
                return Answer(200, desk.faults.release())
            case "POST", "clock":
                desk.ahead += given["seconds"]
            case "POST", "reset":
                desk.reset()
            case _:
                return Answer(404, {"error": "no such control call"})
        return Answer(200, {})


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--secret", default="sk_test_stub")
    parser.add_argument("--key-life", type=float, default=LIFE, help="seconds that a key is remembered")
    chosen = parser.parse_args()
    server = Stub(chosen.port, Desk(chosen.secret, chosen.key_life))
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)  # noqa: T201 - the starter reads it
    server.serve_forever()


if __name__ == "__main__":
    main()
