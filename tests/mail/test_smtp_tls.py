"""TLS: who the server is counts, and what was said before it doesn't. Certificates are made on the spot."""

import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from booking.outcomes import Done, NotSent, Unknown
from tests.mail.mail_servers import MailServer, drop, hang, say, standing
from tests.mail.sending import ME, MESSAGE_ID, PLAIN, hasty, send, unreachable
from tests.providers.lines import in_time
from tests.providers.servers import serving


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for `localhost` that vouches for itself, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    place = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(place / "key"), "-out", str(place / "cert")]
    subprocess.run([*command, *files], check=True, capture_output=True, timeout=60)
    return place


@pytest.fixture
def vouched(certified: Path) -> ssl.SSLContext:
    """The server's side."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certified / "cert", certified / "key")
    return context


@pytest.fixture
def trusting(certified: Path) -> ssl.SSLContext:
    """Our side, as with the system's trust, but for one authority more."""
    return ssl.create_default_context(cafile=str(certified / "cert"))


OFFERED = say(b"250-mx\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n")


def named(url: str) -> str:
    return url.replace("127.0.0.1", "localhost")


@pytest.mark.usefixtures("elsewhere")
def test_where_starttls_is_offered_it_is_taken_before_the_log_in(
    vouched: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    with standing({"EHLO": OFFERED}, vouched) as (url, server):
        assert send(hasty(named(url), ME, trusting, seconds=5)) == Done({"message_id": MESSAGE_ID})
    assert [line.split()[0] for line in server.heard] == [
        b"EHLO",
        b"STARTTLS",
        b"EHLO",
        *b"AUTH MAIL RCPT DATA".split(),
    ]


def test_tls_from_the_first_byte_on(vouched: ssl.SSLContext, trusting: ssl.SSLContext) -> None:
    behave = MailServer({"EHLO": OFFERED})
    with serving(behave, vouched) as server:
        url = f"smtps://localhost:{server.port}"
        assert send(hasty(url, ME, trusting, seconds=5)) == Done({"message_id": MESSAGE_ID})
    assert behave.heard[1] == b"AUTH PLAIN " + PLAIN + b"\r\n"


def test_a_certificate_that_nobody_vouches_for_is_refused(vouched: ssl.SSLContext) -> None:
    with standing({"EHLO": OFFERED}, vouched) as (url, server):
        assert unreachable(hasty(named(url), ME, seconds=5)) == "certificate not trusted"
    with serving(MailServer(), vouched) as tls_server:
        assert unreachable(hasty(f"smtps://localhost:{tls_server.port}", seconds=5)) == "certificate not trusted"
    assert [line.split()[0] for line in server.heard] == [b"EHLO", b"STARTTLS"]


def test_a_certificate_of_another_name_is_refused(vouched: ssl.SSLContext, trusting: ssl.SSLContext) -> None:
    with standing({"EHLO": OFFERED}, vouched) as (url, _):
        assert unreachable(hasty(url, ME, trusting, seconds=5)) == "certificate not trusted"


def test_what_was_said_in_plain_is_not_taken_for_said_under_tls(
    vouched: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    slipped_in = say(b"220 go ahead\r\n250-mx\r\n250 AUTH PLAIN\r\n")
    with standing({"EHLO": OFFERED, "STARTTLS": slipped_in}, vouched) as (url, server):
        assert unreachable(hasty(named(url), ME, trusting, seconds=5)) == "the provider spoke before it was asked"
    assert not any(line.startswith(b"AUTH") for line in server.heard)


def test_what_was_offered_in_plain_counts_no_more_under_tls(vouched: ssl.SSLContext, trusting: ssl.SSLContext) -> None:
    offers = iter([b"250-mx\r\n250-STARTTLS\r\n250-SMTPUTF8\r\n250 AUTH PLAIN\r\n", b"250 mx\r\n"])

    def ehlo(connection: socket.socket, _stop: threading.Event) -> bool:
        connection.sendall(next(offers))
        return True

    with standing({"EHLO": ehlo}, vouched) as (url, _):
        assert unreachable(hasty(named(url), ME, trusting, seconds=5)) == "it offers no way to log in that we know"


@pytest.mark.parametrize("answer", [b"454 4.7.0 no TLS now\r\n", b"502 no\r\n"])
def test_starttls_that_is_offered_and_refused_is_unreachable(answer: bytes) -> None:
    with standing({"EHLO": OFFERED, "STARTTLS": say(answer)}) as (url, _):
        assert unreachable(hasty(url)).startswith("STARTTLS ")


def test_a_tls_handshake_that_hangs_ends_in_time() -> None:
    def silent(connection: socket.socket, stop: threading.Event) -> bool:
        connection.sendall(b"220 go ahead\r\n")
        return hang(connection, stop)

    with standing({"EHLO": OFFERED, "STARTTLS": silent}) as (url, _), in_time():
        assert unreachable(hasty(url)) == "deadline passed"


def test_a_connection_over_tls_that_is_lost_at_the_end_leaves_it_unknown(
    vouched: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    for step, kind in (("DATA", NotSent), ("message", Unknown)):
        with standing({"EHLO": OFFERED, step: drop}, vouched) as (url, _):
            assert isinstance(send(hasty(named(url), tls=trusting, seconds=5)), kind)
