"""Answers, sound and broken. The broken ones reach through to the connection."""

import asyncio
import json
import socket
import struct
from http import HTTPStatus
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from providers.simulator.errors import CODES, error_body

# Where the protocol leaves the connection for us; see server.py.
TRANSPORT = "roomkey.transport"
COMPACT = json.JSONEncoder(separators=(",", ":"))
LINGER_NOTHING = struct.pack("ii", 1, 0)  # on, 0 s: closing sends RST instead of FIN


def json_answer(status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
    """ASCII JSON: whatever a caller sent can be repeated in it, even half a surrogate pair."""
    content = COMPACT.encode(body).encode()
    return Response(content, status, headers, media_type="application/json")


def error_answer(status: int, message: str, code: str | None = None) -> Response:
    """An error in the contract's shape, by the status's usual code."""
    return json_answer(status, error_body(code or CODES.get(status, "error"), message))


async def gone(receive: Receive) -> None:
    """Wait until the connection has ended, so that the server adds nothing to a broken answer."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _transport(scope: Scope) -> asyncio.Transport:
    transport: asyncio.Transport = scope["extensions"][TRANSPORT]
    return transport


class Reset(Response):
    """No answer: a TCP reset."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Close at once, with nothing sent and nothing waited for."""
        transport = _transport(scope)
        if not transport.is_closing():  # else the caller was first to hang up
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOTHING)
            transport.abort()
        await gone(receive)


class Cut(Response):
    """Promises the whole body, sends half and closes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Head and half a body through the server, then the end of the connection."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = bytes(self.body)
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        _transport(scope).close()
        await gone(receive)


class Slow(Response):
    """Byte by byte, past the server's own writer: it would send all headers at once."""

    interval_s: float = 0.05
    part: str = "body"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Head, then body, straight to the connection."""
        transport = _transport(scope)
        head, body = self._head(), bytes(self.body)
        for piece, slow in ((head, self.part != "body"), (body, self.part != "headers")):
            await self._write(transport, piece, slow)
        transport.close()
        await gone(receive)

    async def _write(self, transport: asyncio.Transport, piece: bytes, slow: bool) -> None:
        if not slow:
            transport.write(piece)
            return
        for n in range(len(piece)):
            if transport.is_closing():
                return
            transport.write(piece[n : n + 1])
            await asyncio.sleep(self.interval_s)

    def _head(self) -> bytes:
        phrase = HTTPStatus(self.status_code).phrase
        lines = [f"HTTP/1.1 {self.status_code} {phrase}".encode()]
        lines += [name + b": " + value for name, value in self.raw_headers]
        return b"\r\n".join([*lines, b"connection: close", b"", b""])
