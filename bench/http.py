"""The load generator's HTTP client: small on purpose, because it shares the machine with what it measures."""

import asyncio
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Answer:
    """A complete answer."""

    status: int
    body: bytes


class Link:
    """One kept-alive connection; one request at a time, no retry. Reads answers with a Content-Length."""

    def __init__(self, url: str, headers: str = "") -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._head = f"Host: {self._host}:{self._port}\r\n{headers}"

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    async def ask(self, method: str, target: str, body: bytes | None = None, headers: str = "") -> Answer:
        """Send a request and read the answer."""
        sized = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body is not None else ""
        head = f"{method} {target} HTTP/1.1\r\n{self._head}{headers}{sized}\r\n"
        self._writer.write(head.encode() + (body or b""))
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = _content_length(answer)
        return Answer(int(answer[9:12]), await self._reader.readexactly(length) if length else b"")


def _content_length(head: bytes) -> int:
    low = head.lower()
    at = low.find(b"\r\ncontent-length:")
    if at < 0:
        raise ValueError("an answer without a Content-Length")
    return int(low[at + 17 : low.index(b"\r\n", at + 2)])


async def once(url: str, method: str, target: str, body: bytes | None = None, headers: str = "") -> Answer:
    """One request on a connection of its own."""
    async with Link(url) as link:
        return await link.ask(method, target, body, f"Connection: close\r\n{headers}")
