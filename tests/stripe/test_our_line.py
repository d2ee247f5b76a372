"""Stripe's package on our line: one request, in time, on a connection that was opened before; nothing else leaves."""

import logging
import socket
import threading
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import stripe as package
import stripe._telemetry_id as telemetry
from pydantic import SecretStr

from booking.capabilities import Capabilities, ReferenceMatch
from booking.outcomes import NotSent, Unknown
from booking.settings import Provider, ProviderKind
from providers.ports import Unreachable
from providers.stripe_payments import stripe_payments
from tests.providers.lines import in_time
from tests.providers.servers import answering, read_request, serving, trickling
from tests.stripe.answers import INTENT, adapter, give_back, look
from tests.stripe.running import SECRET, Stripe

NOWHERE = "http://127.0.0.1:1"
HEAD = b"HTTP/1.1 200 OK\r\n"


def answer(status: str, body: bytes, *headers: bytes) -> bytes:
    """A whole answer."""
    lines = [b"HTTP/1.1 " + status.encode(), b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@pytest.mark.parametrize("status", ["409 Conflict", "500 Internal Server Error", "503 Service Unavailable"])
def test_what_the_package_likes_to_repeat_leaves_once(status: str) -> None:
    with serving(answering(answer(status, b"{}", b"Stripe-Should-Retry: true"))) as server:
        assert isinstance(give_back(adapter(server.url)), Unknown)
        assert isinstance(look(adapter(server.url)), Unknown)
        assert server.connections == 2


def test_the_packages_own_retries_are_off() -> None:
    made = adapter(NOWHERE).client(package.HTTPClient())
    assert made._requestor._options.max_network_retries == 0


def test_a_connection_that_breaks_is_not_opened_again() -> None:
    with serving(answering()) as server:
        assert isinstance(give_back(adapter(server.url)), Unknown)
        assert server.connections == 1


def test_no_connection_is_no_line() -> None:
    with pytest.raises(Unreachable):
        adapter(NOWHERE).connect()


def test_a_line_that_was_closed_meanwhile_sent_nothing() -> None:
    gone = threading.Event()
    received: list[bytes] = []

    def hang_up(connection: socket.socket, _stop: threading.Event) -> None:
        connection.shutdown(socket.SHUT_WR)
        gone.set()
        received.append(connection.recv(1))

    with serving(hang_up) as server:
        stripe = adapter(server.url)
        body = stripe.refund_body(INTENT, Decimal(1), "EUR", "rk1")
        line = stripe.connect()
        assert gone.wait(5)
        assert isinstance(stripe.refund(line, body, "k-1"), NotSent)
    assert b"".join(received) == b""


def test_a_trickled_answer_ends_at_the_deadline() -> None:
    with serving(trickling(HEAD + b"Content-Length: 1000\r\n\r\n", b"x" * 1000)) as server, in_time(0.5):
        assert isinstance(give_back(adapter(server.url)), Unknown)


def test_a_path_before_the_api_stays() -> None:
    seen = []

    def behave(connection: socket.socket, _stop: threading.Event) -> None:
        seen.append(read_request(connection).split(b"\r\n")[0])

    with serving(behave) as server:
        stripe = adapter(server.url + "/proxy/")
        give_back(stripe)
        look(stripe)
        stripe.get_payment(stripe.connect(), INTENT)
    assert seen == [
        b"POST /proxy/v1/refunds HTTP/1.1",
        b"GET /proxy/v1/refunds?limit=100&payment_intent=pi_1001 HTTP/1.1",
        b"GET /proxy/v1/payment_intents/pi_1001?expand[0]=latest_charge HTTP/1.1",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": []}',
        b'{"error": "invalid_grant"}',
        b'{"error": {"type": {}}}',
        b'{"object": ["refund"]}',
        b"\xff",
        b"",
    ],
)
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "500 Internal Server Error"])
def test_what_the_package_could_not_read_is_unknown(status: str, body: bytes) -> None:
    with serving(answering(answer(status, body, b"Stripe-Notice: buy more", b"Request-Id: req_1"))) as server:
        stripe = adapter(server.url)
        assert isinstance(give_back(stripe), Unknown)
        assert isinstance(look(stripe), Unknown)
        assert isinstance(stripe.get_payment(stripe.connect(), INTENT), Unknown)


def test_proxies_of_the_environment_are_not_used(server: Stripe, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, NOWHERE)
    server.seed(INTENT, 18_00)
    give_back(adapter(server.url))
    assert len(server.refunds()) == 1


def test_the_package_writes_no_file(server: Stripe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(telemetry, "_loaded", False)
    monkeypatch.setattr(package, "enable_telemetry", True)
    look(adapter(server.url))
    assert list(tmp_path.iterdir()) == []


def test_the_secret_is_nowhere_to_be_read(server: Stripe, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    stripe = adapter(server.url)
    server.seed(INTENT, 18_00)
    ends = [
        give_back(stripe),
        give_back(stripe, "99"),
        look(stripe),
        give_back(adapter(server.url, token=SecretStr("sk_x"))),
    ]
    assert SECRET not in caplog.text + repr(stripe) + repr(ends) + repr(stripe.capabilities)


@pytest.mark.parametrize("token", [None, "", "sk_a b", "sk_ä", "sk_a\r\nb: c", "x" * 256])
def test_an_unusable_key_is_refused_at_the_start_and_not_repeated(token: str | None) -> None:
    with pytest.raises(ValueError, match="secret key") as raised:
        adapter(NOWHERE, token=token)
    assert not token or token not in str(raised.value)


@pytest.mark.parametrize("url", ["http://", "https://user:word@api.example.com", "http://127.0.0.1/?x=1"])
def test_an_unusable_address_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        adapter(url)


def test_without_a_url_it_is_stripes_own_address() -> None:
    made = adapter(None).client(package.HTTPClient())
    assert made._requestor.base_addresses["api"] == "https://api.stripe.com"


def test_what_it_declares() -> None:
    def declared(**settings: Any) -> Capabilities:
        return stripe_payments(Provider(kind=ProviderKind.STRIPE, token=SecretStr(SECRET), **settings)).capabilities

    usual = declared()
    assert usual == Capabilities(
        keyed=frozenset({"refund"}),
        key_life=timedelta(hours=23),
        key_locks=True,
        key_survives_errors=True,
        reference_match=ReferenceMatch.EXACT,
        absence_provable=False,  # it may still finish what it answered with a 500
        shows=frozenset({"refund"}),
    )
    assert usual.honours_key("refund")
    other = declared(absence_provable=True, settle_time=7, read_deadline=1, write_deadline=3, idle_timeout=4)
    assert other.absence_provable
    assert (other.settle_time, other.idle_timeout) == (timedelta(seconds=7), timedelta(seconds=4))
    assert (other.read_deadline, other.write_deadline) == (1, 3)
    assert declared(key_life=timedelta(hours=2)).key_life == timedelta(hours=2)
