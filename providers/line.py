"""One HTTP request on one fresh connection, with a deadline that holds at the socket.

Built on http.client because it can split connecting from sending: what fails before the send provably sent nothing.
There is no pool, no proxy, no redirect and no repeat in here.

The deadline is `sockets.Deadline`: a reply that trickles in byte by byte ends there too.
"""

import http.client
import io
import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from providers.ports import Unreachable
from providers.sockets import Deadline, connected, encrypted, limit_retransmission, not_idle, say

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

#: A booking's answer has about 1 kB; a look-up's a few. More is a fault, and memory is shared by 64 threads.
MAX_BODY = 1 << 20
#: Room for the status line and the headers beside the body, interim (100) answers included.
_MAX_HEAD = 1 << 16


class NothingSent(Exception):
    """The open line could not be used: provably no byte of the request left."""


class Broken(Exception):
    """Sending had begun and no complete reply came: the request may have been executed."""


class TooLarge(Broken):
    """The reply is larger than `MAX_BODY`."""


@dataclass(frozen=True)
class Reply:
    """A complete answer. Header names are in lower case; of a repeated header the last one counts."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Address:
    """Where a provider is. `path` is put before every request's path; it has no slash at its end."""

    host: str
    port: int
    tls: bool
    path: str


def address_of(url: str) -> Address:
    """Parse an http or https URL. Raises ValueError for anything else."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("a provider's url must be http(s)://host[:port][/path]")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a provider's url must not hold credentials; use the token setting")
    tls = parts.scheme == "https"
    return Address(parts.hostname, parts.port or (443 if tls else 80), tls, parts.path.rstrip("/"))


def bound_name_resolution() -> None:
    """Make name resolution in this process give up early. Call it at process start, before any look-up of a name.

    glibc reads RES_OPTIONS when a thread first resolves. Measured with two silent name servers: 4 s instead of 40. What
    the operator has set stays. Other C libraries ignore it: there, run a caching resolver, or name the provider by its
    address, which resolves nothing.
    """
    os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:1")


def open_line(url: str, connect_deadline: float, tls: ssl.SSLContext | None = None) -> "HttpLine":
    """Resolve, connect and shake hands within `connect_deadline` seconds, or raise Unreachable. Sends no request.

    `tls` is for private authorities; by default the system's trust counts.
    """
    address = address_of(url)
    deadline = Deadline(connect_deadline)
    try:
        sock = connected(address.host, address.port, deadline)
        if address.tls:
            sock = encrypted(sock, address.host, tls, deadline)
    except (OSError, ValueError) as error:  # ValueError: a host name that can't be encoded
        raise Unreachable(say(error)) from error
    return HttpLine(sock, address)


class HttpLine:
    """An open connection for one request. A `providers.ports.Line`."""

    def __init__(self, sock: socket.socket, address: Address) -> None:
        self._sock = sock
        self._address = address

    def close(self) -> None:
        """Drop the connection at once, with anything still undelivered; safe to call twice."""
        self._sock.close()

    def request(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], deadline_seconds: float
    ) -> Reply:
        """Send once and read the whole reply within `deadline_seconds`. The line is closed afterwards.

        Raises NothingSent, or Broken once sending had begun. Redirects are replies like any other.
        """
        wire = _Wire(self._sock, Deadline(deadline_seconds))
        try:
            if reason := not_idle(self._sock):
                raise NothingSent(reason)
            limit_retransmission(self._sock, deadline_seconds)
            self._send(wire, method, path, body, headers)
            return _read_reply(wire, method)
        except (OSError, http.client.HTTPException) as error:
            raise (Broken if wire.begun else NothingSent)(_say(error)) from error
        except ValueError as error:
            if not wire.begun:  # a header of ours that can't be sent: a bug, not the provider's doing
                raise
            raise Broken("the answer is not HTTP") from error
        finally:
            self.close()

    def _send(self, wire: "_Wire", method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> None:
        connection = http.client.HTTPConnection(self._address.host, self._address.port)
        connection.auto_open = 0  # never a second connection behind our back
        connection.default_port = 443 if self._address.tls else 80  # the Host header names the port otherwise
        connection.sock = cast("Any", wire)
        connection.request(method, self._address.path + path, body, {**headers, "Connection": "close"})


class _Wire(io.RawIOBase):
    """The part of a socket that http.client needs, under one deadline and one size limit for the whole exchange."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        self._room = MAX_BODY + _MAX_HEAD
        self.begun = False

    def sendall(self, data: "ReadableBuffer") -> None:
        rest = memoryview(data).cast("B")
        while rest:
            self._sock.settimeout(self._deadline.left())
            self.begun = True  # before the call: one that fails may have sent a part
            rest = rest[self._sock.send(rest) :]

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._sock.settimeout(self._deadline.left())
        count = self._sock.recv_into(buffer)
        self._room -= count
        if self._room < 0:
            raise TooLarge("the answer is too large")
        return count


def _read_reply(wire: _Wire, method: str) -> Reply:
    response = http.client.HTTPResponse(cast("Any", wire), method=method)
    try:
        response.begin()
        if (response.length or 0) > MAX_BODY:
            raise TooLarge("the answer is too large")
        # Bounded on purpose: read() without a size would allocate whatever length the peer claims.
        body = response.read(MAX_BODY + 1)
        if len(body) > MAX_BODY:
            raise TooLarge("the answer is too large")
        if response.length:  # a bounded read does not complain of a short body itself
            raise http.client.IncompleteRead(b"", response.length)
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, headers, body)
    finally:
        response.close()


def _say(error: Exception) -> str:
    """A cause for the log, without addresses or content."""
    match error:
        case http.client.RemoteDisconnected():
            return "closed without an answer"
        case http.client.IncompleteRead():
            return "the answer ended early"
        case http.client.HTTPException():
            return "the answer is not HTTP"
        case _:
            return say(error)
