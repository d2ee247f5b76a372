"""The line on real sockets: every way to be slow ends at the deadline, every way to break says what was sent."""

import select
import socket
import struct
import threading

import pytest

from providers.line import Broken, HttpLine, NothingSent, TooLarge, open_line
from tests.providers.lines import DEADLINE, HEAD, ask, in_time
from tests.providers.servers import OK, answering, read_request, serving, trickling
from tests.waiting import eventually

MEGABYTE = 1 << 20
RESET = struct.pack("ii", 1, 0)


def test_one_request_one_reply() -> None:
    seen = []

    def behave(connection: socket.socket, _stop: threading.Event) -> None:
        seen.append(read_request(connection))
        connection.sendall(
            b"HTTP/1.1 201 Created\r\nX-One: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
        )

    with serving(behave) as server:
        reply = open_line(server.url + "/pms/", 2).request("POST", "/v1/x?y=1", b'{"a":1}', {"K": "v"}, 2)
    assert (reply.status, reply.body, reply.headers["x-one"]) == (201, b"{}", "1")
    head, _, body = seen[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /pms/v1/x?y=1 HTTP/1.1\r\n")
    assert body == b'{"a":1}'
    assert f"Host: 127.0.0.1:{server.port}".encode() in head
    assert b"Connection: close" in head


@pytest.mark.parametrize(
    ("at_once", "slowly"),
    [
        pytest.param(b"", HEAD + b"X: y\r\n" * 9, id="status line"),
        pytest.param(HEAD, b"X-Padding: " + b"x" * 1000, id="headers"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50, id="interim answers"),
        pytest.param(HEAD + b"Content-Length: 1000\r\n\r\n", b"x" * 1000, id="body"),
        pytest.param(HEAD + b"\r\n", b"x" * 1000, id="body without a length"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 200, id="chunks"),
    ],
)
def test_a_trickled_reply_ends_at_the_deadline(at_once: bytes, slowly: bytes) -> None:
    with serving(trickling(at_once, slowly)) as server, in_time(), pytest.raises(Broken, match="deadline passed"):
        ask(server)


def test_a_silent_provider_ends_at_the_deadline() -> None:
    def silent(connection: socket.socket, stop: threading.Event) -> None:
        read_request(connection)
        stop.wait(10)

    with serving(silent) as server:
        with in_time(), pytest.raises(Broken, match="deadline passed"):
            ask(server)
        server.stop.set()


def test_a_provider_that_never_reads_ends_the_send_at_the_deadline_and_gets_no_rest_later() -> None:
    gave_up = threading.Event()
    ended: list[str] = []

    def deaf(connection: socket.socket, _stop: threading.Event) -> None:
        gave_up.wait(10)
        try:
            while connection.recv(MEGABYTE):
                pass
            ended.append("whole")
        except ConnectionResetError:
            ended.append("reset")

    with serving(deaf) as server:
        with in_time(), pytest.raises(Broken, match="deadline passed"):
            ask(server, body=b"x" * 32 * MEGABYTE)
        gave_up.set()
        eventually(lambda: ended)
    assert ended == ["reset"]  # the kernel dropped what it still held; else it would retransmit for minutes


def test_case_56_reset_after_the_request_was_read_may_have_been_executed() -> None:
    def read_and_reset(connection: socket.socket, _stop: threading.Event) -> None:
        read_request(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    with serving(read_and_reset) as server:
        with pytest.raises(Broken):
            ask(server)
        assert server.connections == 1


def test_case_56_closed_without_an_answer_is_not_sent_again() -> None:
    with serving(answering()) as server:
        with pytest.raises(Broken, match="closed without an answer"):
            ask(server)
        assert server.connections == 1


@pytest.mark.parametrize("reset", [False, True])
def test_case_56_an_idle_line_closed_by_the_provider_sends_nothing(reset: bool) -> None:
    late: list[bytes] = []
    connected = threading.Event()

    def hang_up(connection: socket.socket, _stop: threading.Event) -> None:
        assert connected.wait(5)  # a reset before that is no idle line, but an unreachable provider
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            return
        connection.shutdown(socket.SHUT_WR)
        late.append(connection.recv(100))

    with serving(hang_up) as server:
        line = open_line(server.url, 2)
        connected.set()
        eventually(lambda: _readable(line))
        with pytest.raises(NothingSent):
            line.request("POST", "/v1/bookings", b"{}", {}, DEADLINE)
    assert b"".join(late) == b""


def _readable(line: HttpLine) -> bool:
    """Whether the end of the connection has arrived; without it the test would race with the network."""
    return bool(select.select([line._sock], [], [], 0)[0])


def test_a_provider_that_speaks_first_is_sent_nothing() -> None:
    said = threading.Event()

    def early(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        said.set()
        assert connection.recv(100) == b""

    with serving(early) as server:
        line = open_line(server.url, 2)
        assert said.wait(5)
        eventually(lambda: _readable(line))
        with pytest.raises(NothingSent, match="spoke before"):
            line.request("POST", "/v1/bookings", b"{}", {}, DEADLINE)


def test_a_deadline_that_passed_before_the_send_sends_nothing() -> None:
    def nothing(connection: socket.socket, _stop: threading.Event) -> None:
        with pytest.raises(ConnectionError):
            read_request(connection)

    with serving(nothing) as server, pytest.raises(NothingSent, match="deadline passed"):
        ask(server, deadline=0)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(HEAD + b"Content-Length: 100\r\n\r\n{}", id="length"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n64\r\n{}", id="in a chunk"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", id="between chunks"),
    ],
)
def test_a_cut_body_is_not_a_reply(answer: bytes) -> None:
    with serving(answering(answer)) as server, pytest.raises(Broken, match="ended early"):
        ask(server)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param(b"Content-Length: 10485760\r\n\r\n", b"x" * 10 * MEGABYTE, id="10 MB"),
        pytest.param(b"\r\n", b"x" * 10 * MEGABYTE, id="10 MB without a length"),
        pytest.param(b"Transfer-Encoding: chunked\r\n\r\n", b"80000\r\n" + b"x" * 0x80000 + b"\r\n", id="chunk"),
        pytest.param(
            b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n", b"x" * 2 * MEGABYTE, id="claimed chunk"
        ),
        pytest.param(b"Content-Length: 1000000000000000\r\n\r\n", b"", id="claimed length"),
        pytest.param(b"", b"X-Padding: " + b"x" * 60_000 + b"\r\n", id="headers"),
    ],
)
def test_an_endless_reply_is_cut_off(head: bytes, body: bytes) -> None:
    def behave(connection: socket.socket, stop: threading.Event) -> None:
        read_request(connection)
        connection.sendall(HEAD + head)
        while body and not stop.is_set():
            connection.sendall(body)

    with serving(behave) as server, in_time(3), pytest.raises(TooLarge):
        ask(server, deadline=3)


def test_a_body_of_just_the_limit_is_read() -> None:
    body = b"x" * MEGABYTE
    with serving(answering(HEAD + b"Content-Length: 1048576\r\n\r\n", body)) as server:
        assert ask(server, deadline=3).body == body


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/9 200\r\n\r\n", b"\0" * 99]
)
def test_what_is_not_http_is_not_a_reply(answer: bytes) -> None:
    with serving(answering(answer)) as server, pytest.raises(Broken):
        ask(server)


def test_a_redirect_is_a_reply_and_is_not_followed() -> None:
    with serving(answering(OK)) as elsewhere:
        moved = f"HTTP/1.1 307 Moved\r\nLocation: {elsewhere.url}/v1\r\nContent-Length: 0\r\n\r\n".encode()
        with serving(answering(moved)) as server:
            assert ask(server).status == 307
            assert (server.connections, elsewhere.connections) == (1, 0)


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answering(OK)) as proxy, serving(answering(OK)) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert ask(server).status == 200
        assert proxy.connections == 0


def test_a_header_that_cannot_be_sent_is_a_bug_and_sends_nothing() -> None:
    def nothing(connection: socket.socket, _stop: threading.Event) -> None:
        assert connection.recv(100) == b""

    with serving(nothing) as server:
        line = open_line(server.url, 2)
        line._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))  # an EOF, not a reset
        with pytest.raises(ValueError, match="header"):
            line.request("POST", "/v1/bookings", b"{}", {"Idempotency-Key": "a\r\nb: c"}, DEADLINE)


def test_closing_twice_is_fine() -> None:
    with serving(answering(OK)) as server:
        line = open_line(server.url, 2)
        line.close()
        line.close()
