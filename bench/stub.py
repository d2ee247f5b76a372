"""A hotel system that costs nearly nothing: the reference contract's create and look-up, after a set delay.

Run as a process: `python -m bench.stub`. It says where it listens in one line. The same key always gets the same
booking. `POST /control?delay_ms=&reset=1` steers it, `GET /stats` counts.
"""

import asyncio
import json
import sys
from collections import defaultdict
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httptools
import uvloop

_ECHOED = ("reference", "property", "room_type", "check_in", "check_out", "guest")
_REASONS = {200: b"OK", 201: b"Created", 400: b"Bad Request", 404: b"Not Found"}


class Hotel:
    """What has been booked, and how often we were called."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.inflight = 0
        self.reset()

    def reset(self) -> None:
        """Forget all bookings and counts; the delay stays."""
        self.by_key: dict[str, bytes] = {}
        self.by_reference: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.calls = self.lookups = 0
        self.max_inflight = self.inflight

    def book(self, key: str, body: bytes) -> bytes:
        """The answer to a create; made once a key."""
        self.calls += 1
        known = self.by_key.get(key)
        if known is not None:
            return known
        asked = json.loads(body)
        booking = {"booking_id": f"B-{len(self.by_key) + 1}", "status": "confirmed"}
        booking |= {name: asked[name] for name in _ECHOED}
        self.by_reference[asked["reference"]].append(booking)
        self.by_key[key] = answer = json.dumps(booking).encode()
        return answer

    def find(self, reference: str) -> bytes:
        """The answer to a look-up."""
        self.lookups += 1
        return json.dumps({"bookings": self.by_reference.get(reference, [])}).encode()

    def stats(self) -> bytes:
        """The counts: `calls` are creates, `effects` those of a new key."""
        counts = {"calls": self.calls, "effects": len(self.by_key), "lookups": self.lookups}
        return json.dumps({**counts, "max_inflight": self.max_inflight, "delay_ms": self.delay * 1000}).encode()


class Connection(asyncio.Protocol):
    """One client connection, kept alive if the client wants that."""

    def __init__(self, hotel: Hotel) -> None:
        self._hotel = hotel
        self._parser = httptools.HttpRequestParser(self)
        self._url = self._body = b""
        self._key = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._transport.close()

    def on_message_begin(self) -> None:
        """Called by httptools, as are the next four."""
        self._url = self._body = b""
        self._key = ""

    def on_url(self, url: bytes) -> None:
        """A part of the target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        if name.lower() == b"idempotency-key":
            self._key = value.decode()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._body += body

    def on_message_complete(self) -> None:
        """The whole request is here."""
        url, method = urlsplit(self._url.decode()), self._parser.get_method()
        keep = self._parser.should_keep_alive()
        match method, url.path:
            case b"POST", "/v1/bookings":
                self._book(keep)
            case b"GET", "/v1/bookings":
                self._later(200, self._hotel.find(parse_qs(url.query)["reference"][0]), keep)
            case b"GET", "/stats":
                self._answer(200, self._hotel.stats(), keep)
            case b"POST", "/control":
                self._control(parse_qs(url.query))
                self._answer(200, b"{}", keep)
            case _:
                self._answer(404, b'{"error":{"code":"not_found","message":"no such path"}}', keep)

    def _book(self, keep: bool) -> None:
        try:
            answer = self._hotel.book(self._key or self._body.hex(), self._body)
        except (ValueError, KeyError):  # a malformed request must fail loudly, not be measured
            self._answer(400, b'{"error":{"code":"invalid","message":"not a booking"}}', keep)
        else:
            self._later(201, answer, keep)

    def _control(self, asked: dict[str, list[str]]) -> None:
        if "delay_ms" in asked:
            self._hotel.delay = float(asked["delay_ms"][0]) / 1000
        if "reset" in asked:
            self._hotel.reset()

    def _later(self, status: int, body: bytes, keep: bool) -> None:
        hotel = self._hotel
        hotel.inflight += 1
        hotel.max_inflight = max(hotel.max_inflight, hotel.inflight)

        def answer() -> None:
            hotel.inflight -= 1
            self._answer(status, body, keep)

        if hotel.delay:
            asyncio.get_running_loop().call_later(hotel.delay, answer)
        else:
            answer()

    def _answer(self, status: int, body: bytes, keep: bool) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(
            b"HTTP/1.1 %d %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%b\r\n%b"
            % (status, _REASONS[status], len(body), b"" if keep else b"Connection: close\r\n", body)
        )
        if not keep:
            self._transport.close()


async def serve() -> None:
    """Serve on a free loopback port until the process is ended."""
    hotel = Hotel()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(hotel), "127.0.0.1", 0, backlog=1024)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"listening on http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve())
