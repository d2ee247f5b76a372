"""Opening a line: what can't be opened is unreachable, in time; over TLS the line behaves as without."""

import os
import socket
import ssl
import threading

import pytest

from providers.line import Broken, NothingSent, address_of, bound_name_resolution, open_line
from providers.ports import Unreachable
from tests.providers.lines import DEADLINE, HEAD, ask, in_time
from tests.providers.servers import OK, answering, serving, trickling


def test_a_refused_connection_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(Unreachable, match="connection refused"):
        open_line(f"http://127.0.0.1:{port}", 2)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "x" * 70 + ".invalid", "a..invalid"])
def test_a_name_that_does_not_resolve_is_unreachable(host: str) -> None:
    with pytest.raises(Unreachable):
        open_line(f"http://{host}", 2)


def test_a_full_backlog_is_unreachable_at_the_connect_deadline() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
        with in_time(), pytest.raises(Unreachable, match="deadline passed"):
            open_line(f"http://127.0.0.1:{listener.getsockname()[1]}", DEADLINE)
        for sock in waiting:
            sock.close()


def test_tls_to_a_plaintext_port_is_unreachable() -> None:
    def plain(connection: socket.socket, _stop: threading.Event) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with serving(plain) as server, pytest.raises(Unreachable, match="TLS failed"):
        open_line(server.url.replace("http:", "https:"), 2)


def test_a_handshake_that_hangs_is_unreachable_at_the_connect_deadline() -> None:
    def silent(connection: socket.socket, stop: threading.Event) -> None:
        while connection.recv(1000):
            pass

    with serving(silent) as server, in_time(), pytest.raises(Unreachable, match="deadline passed"):
        open_line(server.url.replace("http:", "https:"), DEADLINE)


def _anonymous(side: int) -> ssl.SSLContext:
    """TLS that needs no certificate: real records on the wire, no key file in the repository."""
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ADH-AES128-GCM-SHA256:AECDH-AES128-SHA:@SECLEVEL=0")
    return context


CLIENT, SERVER = ssl.PROTOCOL_TLS_CLIENT, ssl.PROTOCOL_TLS_SERVER


def test_a_reply_over_tls() -> None:
    with serving(answering(OK), _anonymous(SERVER)) as server:
        assert ask(server, tls=_anonymous(CLIENT)).body == b"{}"


def test_a_trickled_body_over_tls_ends_at_the_deadline() -> None:
    behave = trickling(HEAD + b"Content-Length: 1000\r\n\r\n", b"x" * 1000)
    with serving(behave, _anonymous(SERVER)) as server, in_time(), pytest.raises(Broken, match="deadline passed"):
        ask(server, tls=_anonymous(CLIENT))


def test_an_idle_tls_line_closed_by_the_provider_sends_nothing() -> None:
    gone = threading.Event()

    def hang_up(connection: socket.socket, _stop: threading.Event) -> None:
        connection.close()
        gone.set()

    with serving(hang_up, _anonymous(SERVER)) as server:
        line = open_line(server.url, 2, _anonymous(CLIENT))
        assert gone.wait(5)
        with pytest.raises(NothingSent):
            line.request("POST", "/v1/bookings", b"{}", {}, DEADLINE)


def test_an_untrusted_certificate_is_unreachable() -> None:
    with serving(answering(OK), _anonymous(SERVER)) as server, pytest.raises(Unreachable, match="TLS failed"):
        open_line(server.url, 2)


@pytest.mark.parametrize(
    "url", ["ftp://x", "x", "http://", "http://x:99999", "http://u:p@x", "https://x/?token=1", "http://x/#a"]
)
def test_an_unusable_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"url|[Pp]ort"):
        address_of(url)


def test_an_ipv6_address_is_understood() -> None:
    address = address_of("https://[::1]/pms/")
    assert (address.host, address.port, address.tls, address.path) == ("::1", 443, True, "/pms")


def test_name_resolution_is_bounded_unless_the_operator_has_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RES_OPTIONS", raising=False)
    bound_name_resolution()
    assert "timeout:1" in os.environ["RES_OPTIONS"]
    monkeypatch.setenv("RES_OPTIONS", "timeout:3")
    bound_name_resolution()
    assert os.environ["RES_OPTIONS"] == "timeout:3"
