"""Small servers on real sockets that misbehave in one way each."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

Behaviour = Callable[[socket.socket, threading.Event], None]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    """What a running server has seen. `stop` is set when the test is over."""

    def __init__(self, listener: socket.socket, scheme: str) -> None:
        self.port = listener.getsockname()[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.stop = threading.Event()
        self.connections = 0
        self.failures: list[Exception] = []


@contextmanager
def serving(behave: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run `behave(connection, stop)` for each connection, one after the other; a failed assertion in it is raised."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener, "https" if tls else "http")

    def loop() -> None:
        while not server.stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            with suppress(OSError), connection:
                if tls is None:
                    _guarded(behave, connection, server)
                else:
                    with tls.wrap_socket(connection, server_side=True) as wrapped:
                        _guarded(behave, wrapped, server)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield server
    finally:
        server.stop.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        listener.close()
        thread.join(timeout=10)
        assert not thread.is_alive()
    for failure in server.failures:
        raise failure


def _guarded(behave: Behaviour, connection: socket.socket, server: Server) -> None:
    try:
        behave(connection, server.stop)
    except OSError:
        raise
    except Exception as failure:  # noqa: BLE001 - raised again in the test's own thread
        server.failures.append(failure)


def read_request(connection: socket.socket) -> bytes:
    """One whole request: head and body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(v) for k, v in _headers(head) if k == b"content-length"), 0)
    while len(body) < length:
        body += _more(connection)
    return head + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionError
    return data


def _headers(head: bytes) -> Iterable[tuple[bytes, bytes]]:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        yield name.strip().lower(), value.strip()


def answering(*parts: bytes) -> Behaviour:
    """Read the request, send these bytes, close."""

    def behave(connection: socket.socket, _stop: threading.Event) -> None:
        read_request(connection)
        for part in parts:
            connection.sendall(part)

    return behave


def trickling(at_once: bytes, slowly: bytes) -> Behaviour:
    """Read the request, send one part at once and the other byte by byte, for ever if it takes that long."""

    def behave(connection: socket.socket, stop: threading.Event) -> None:
        read_request(connection)
        connection.sendall(at_once)
        for n in range(len(slowly)):
            if stop.wait(0.02):
                return
            connection.sendall(slowly[n : n + 1])

    return behave
