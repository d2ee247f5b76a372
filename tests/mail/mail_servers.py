"""Mail servers on real sockets that behave in one step as a test wants it, and soundly in all others."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.providers.servers import serving

RESET = struct.pack("ii", 1, 0)
#: What a step does with the connection; False ends the conversation.
Act = Callable[[socket.socket, threading.Event], bool]

SOUND = {
    "greeting": b"220 mx.hotel.example ESMTP\r\n",
    "EHLO": b"250-mx.hotel.example\r\n250-SMTPUTF8\r\n250 8BITMIME\r\n",
    "STARTTLS": b"220 go ahead\r\n",
    "AUTH": b"235 2.7.0 in\r\n",
    "MAIL": b"250 2.1.0 ok\r\n",
    "RCPT": b"250 2.1.5 ok\r\n",
    "DATA": b"354 go on\r\n",
    "message": b"250 2.0.0 queued\r\n",
}
STEPS = ("MAIL", "RCPT", "DATA", "message")


def say(*pieces: bytes) -> Act:
    def act(connection: socket.socket, _stop: threading.Event) -> bool:
        for piece in pieces:
            connection.sendall(piece)
        return True

    return act


def drop(connection: socket.socket, _stop: threading.Event) -> bool:
    """Close without an answer."""
    return False


def reset(connection: socket.socket, _stop: threading.Event) -> bool:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    return False


def hang(connection: socket.socket, stop: threading.Event) -> bool:
    """Say nothing until the caller has gone."""
    while not stop.is_set() and connection.recv(1000):
        pass
    return False


def trickle(answer: bytes) -> Act:
    """The answer byte by byte, for ever if it takes that long."""

    def act(connection: socket.socket, stop: threading.Event) -> bool:
        for n in range(len(answer)):
            if stop.wait(0.02):
                return False
            connection.sendall(answer[n : n + 1])
        return True

    return act


@dataclass
class MailServer:
    """A behaviour for `tests.providers.servers.serving`. `does`: step -> what it does there, instead of SOUND.

    `tls`: what STARTTLS goes on with. `heard` are the lines received, of all connections; `messages` what came whole.
    """

    does: dict[str, Act] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    heard: list[bytes] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    connections: int = 0

    def __call__(self, connection: socket.socket, stop: threading.Event) -> None:
        self.connections += 1
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is said is there at once
        self._talk(connection, stop, self._act("greeting")(connection, stop))

    def _talk(self, connection: socket.socket, stop: threading.Event, going: bool) -> None:
        lines = connection.makefile("rb", 0)
        while going and (line := lines.readline()):
            self.heard.append(line)
            verb = line.split()[0].decode().upper()
            going = self._act(verb)(connection, stop)
            if verb == "STARTTLS" and going and self.tls is not None:
                with self.tls.wrap_socket(connection, server_side=True) as wrapped:
                    return self._talk(wrapped, stop, True)
            if verb == "DATA" and going and self._hears_message(lines):
                going = self._act("message")(connection, stop)
        return None

    def _hears_message(self, lines: socket.SocketIO) -> bool:
        """Whether the final dot came."""
        received = b""
        while line := lines.readline():
            if line == b".\r\n":
                self.messages.append(received)
                return True
            received += line
        return False

    def _act(self, step: str) -> Act:
        return self.does.get(step) or say(SOUND.get(step, b"502 5.5.1 what?\r\n"))


@contextmanager
def standing(does: dict[str, Act] | None = None, tls: ssl.SSLContext | None = None) -> Iterator[tuple[str, MailServer]]:
    """The URL of a running server, and the server."""
    behave = MailServer(does or {}, tls)
    with serving(behave) as server:
        yield f"smtp://127.0.0.1:{server.port}", behave
