"""Requests to the servers of this folder, and how long they may take."""

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager

from providers.line import Reply, open_line
from tests.providers.servers import Server

HEAD = b"HTTP/1.1 200 OK\r\n"
DEADLINE = 0.4


@contextmanager
def in_time(deadline: float = DEADLINE) -> Iterator[None]:
    """What is in the block takes no longer than that, with room for a slow machine."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun <= deadline + 0.5


def ask(server: Server, deadline: float = DEADLINE, body: bytes = b"{}", tls: ssl.SSLContext | None = None) -> Reply:
    """One request on a line of its own."""
    line = open_line(server.url, 2, tls)
    return line.request("POST", "/v1/bookings", body, {"Content-Type": "application/json"}, deadline)
