"""Getting ready: what can't be opened is unreachable, in time; a password is shown to nobody who must not see it."""

import base64
import socket
from contextlib import closing

import pytest
from pydantic import SecretStr

from booking.outcomes import Done, Misconfigured
from booking.settings import Provider, ProviderKind
from providers.ports import Unreachable
from providers.smtp import smtp_mail
from providers.smtp_line import SmtpLine, server_of
from providers.sockets import Deadline
from tests.mail.mail_servers import Act, drop, hang, say, standing, trickle
from tests.mail.sending import ME, MESSAGE_ID, PLAIN, hasty, message, send, unreachable
from tests.providers.lines import in_time

AUTH = say(b"250-mx\r\n250 AUTH LOGIN PLAIN\r\n")
LOGIN = say(b"250-mx\r\n250 auth LOGIN XOAUTH2\r\n")


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [
        (b"421 4.3.2 not now\r\n", "greeting 421 4.3.2"),
        (b"554 no\r\n", "greeting 554"),
        (b"250 ok\r\n", "greeting 250"),
        (b"SSH-2.0-x\r\n", "the answer is not SMTP"),
        (b"220-x\r\n" * 20_000, "the answer is too large"),
        (b"220 mx\r\n250 what?\r\n", "the provider spoke before it was asked"),
    ],
)
def test_a_bad_greeting_is_unreachable(greeting: bytes, reason: str) -> None:
    with standing({"greeting": say(greeting)}) as (url, server):
        assert unreachable(hasty(url, seconds=5)) == reason
    assert server.heard == []


@pytest.mark.parametrize("step", ["greeting", "EHLO", "STARTTLS", "AUTH"])
@pytest.mark.parametrize("act", [hang, trickle(b"220-" + b"x" * 5000), drop])
def test_whatever_hangs_before_a_line_is_ready_is_unreachable_in_time(step: str, act: Act) -> None:
    offering = {} if step == "greeting" else {"EHLO": say(b"250-mx\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n")}
    if step == "AUTH":
        offering = {"EHLO": AUTH}
    with standing({**offering, step: act}) as (url, _), in_time():
        assert unreachable(hasty(url, ME)) in ("deadline passed", "closed without an answer")


def test_the_time_for_getting_ready_is_the_shorter_of_both() -> None:
    with standing({"greeting": hang}) as (url, _), in_time(0.2), pytest.raises(Unreachable, match="deadline"):
        hasty(url, seconds=30).connect(within=0.2)


def test_nobody_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert unreachable(hasty(f"smtp://127.0.0.1:{port}")) == "connection refused"
    assert unreachable(hasty("smtp://no-such-host.invalid", seconds=5)) == "name not resolved"


def test_a_server_that_is_offered_no_log_in_is_sent_none() -> None:
    with standing({"EHLO": AUTH}) as (url, server):
        assert send(hasty(url)) == Done({"message_id": MESSAGE_ID})
    assert not any(line.startswith(b"AUTH") for line in server.heard)


def test_we_log_in_with_user_and_password() -> None:
    with standing({"EHLO": AUTH}) as (url, server):
        assert send(hasty(url, ME)) == Done({"message_id": MESSAGE_ID})
    assert server.heard[1] == b"AUTH PLAIN " + PLAIN + b"\r\n"


def test_we_log_in_the_older_way_where_the_server_knows_no_other() -> None:
    user, password = base64.b64encode(b"stay").decode(), base64.b64encode(b"hush, pass").decode()
    asked = say(b"334 VXNlcm5hbWU6\r\n")
    with standing({"EHLO": LOGIN, "AUTH": asked, user.upper(): asked, password.upper(): say(b"235 in\r\n")}) as (
        url,
        server,
    ):
        assert send(hasty(url, ME)) == Done({"message_id": MESSAGE_ID})
    assert server.heard[1:4] == [b"AUTH LOGIN\r\n", f"{user}\r\n".encode(), f"{password}\r\n".encode()]


@pytest.mark.parametrize("ehlo", [AUTH, LOGIN])
@pytest.mark.parametrize(
    ("code", "certain"), [(535, True), (534, True), (538, True), (530, True), (500, False), (554, False)]
)
def test_a_log_in_that_is_refused_is_our_mistake_and_no_mail_is_tried(ehlo: Act, code: int, certain: bool) -> None:
    with standing({"EHLO": ehlo, "AUTH": say(b"%d 5.7.8 no\r\n" % code)}) as (url, server):
        mail = hasty(url, ME)
        with closing(mail.connect()) as line:
            assert line.refused == Misconfigured(f"AUTH {code} 5.7.8", certain)
            assert mail.send(line, message(mail)) == Misconfigured(f"AUTH {code} 5.7.8", certain)
    assert not any(line.startswith(b"MAIL") for line in server.heard)


@pytest.mark.parametrize("answer", [b"454 4.7.0 later\r\n", b"421 bye\r\n", b"334 more?\r\n", b"250 ok\r\n"])
def test_a_log_in_that_can_not_be_checked_now_is_unreachable(answer: bytes) -> None:
    with standing({"EHLO": AUTH, "AUTH": say(answer)}) as (url, _):
        assert unreachable(hasty(url, ME)).startswith("AUTH ")


def test_a_server_without_a_way_to_log_in_is_unreachable() -> None:
    with standing({"EHLO": say(b"250-mx\r\n250 AUTH XOAUTH2\r\n")}) as (url, _):
        assert unreachable(hasty(url, ME)) == "it offers no way to log in that we know"


@pytest.mark.usefixtures("elsewhere")
def test_a_password_never_leaves_the_machine_in_plain() -> None:
    with standing({"EHLO": AUTH}) as (url, server):
        assert unreachable(hasty(url, ME)) == "it offers no TLS, and a password is never sent in plain"
    assert server.heard == [b"EHLO [127.0.0.1]\r\n"]


@pytest.mark.usefixtures("elsewhere")
def test_without_a_password_a_server_without_tls_is_sent_to_in_plain() -> None:
    with standing() as (url, _):
        assert send(hasty(url)) == Done({"message_id": MESSAGE_ID})


@pytest.mark.parametrize(
    ("peer", "here"),
    [
        *((here, True) for here in ("127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1")),
        *((other, False) for other in ("10.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "169.254.1.1")),
    ],
)
def test_only_loopback_is_this_machine(peer: str, here: bool) -> None:
    class Peer(socket.socket):
        def getpeername(self) -> tuple[str, int]:
            return peer, 25

    with Peer() as sock:
        assert SmtpLine(sock, Deadline(1)).stays_here is here


@pytest.mark.parametrize(
    ("url", "host", "port", "tls"),
    [
        ("smtp://mx.example", "mx.example", 587, False),
        ("smtps://mx.example/", "mx.example", 465, True),
        ("smtp://MX.example:25", "mx.example", 25, False),
        ("smtp://[::1]:2525", "::1", 2525, False),
    ],
)
def test_a_url_names_the_server(url: str, host: str, port: int, tls: bool) -> None:
    server = server_of(url)
    assert (server.host, server.port, server.tls) == (host, port, tls)


@pytest.mark.parametrize(
    "url",
    [
        *("mx.example", "http://mx.example", "smtp://", "smtp:///x", "smtp://:25", "smtp://mx.example/inbox"),
        *("smtp://mx.example?x=1", "smtp://mx.example#x", "smtp://me:hush@mx.example", "smtp://me@mx.example"),
        *("smtp://mx.example:x", "smtp://mx.example:70000"),
    ],
)
def test_a_url_that_can_not_be_used_is_refused_without_repeating_its_secrets(url: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        smtp_mail(Provider(kind=ProviderKind.SMTP), url)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"username": "stay"},
        {"token": SecretStr("hush")},
        {"username": "", "token": SecretStr("hush")},
        {"username": "stay", "token": SecretStr("")},
        {"username": "stay", "token": SecretStr("hu\0sh")},
        {"sender": "zoë@hotel-demo.com"},
    ],
)
def test_credentials_and_senders_that_can_not_be_used_are_refused(given: dict[str, object]) -> None:
    provider = Provider.model_validate({"kind": "smtp", **given})
    with pytest.raises(ValueError, match=r"username|sender") as caught:
        smtp_mail(provider, "smtp://mx.example")
    assert "hu" not in str(caught.value)


def test_a_login_does_not_show_its_password() -> None:
    assert "hush" not in repr(ME)
