"""The mail catcher as a mail server: it takes everything, does as its faults say, and writes all of it down."""

import json
import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.message import EmailMessage

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.catcher.faults import Faults, Terms
from providers.catcher.ledger import Ledger
from providers.catcher.mails import Mails, read_mail
from tests.mail.catching import Caught, start_catcher

ADA = "ada@lovelace.org"
NOW = datetime(2027, 3, 1, tzinfo=UTC)


@contextmanager
def client(catcher: Caught) -> Iterator[smtplib.SMTP]:
    """Another's client: what ours does isn't the measure."""
    host, _, port = catcher.smtp_url.removeprefix("smtp://").partition(":")
    with smtplib.SMTP(host, int(port), timeout=10) as smtp:
        yield smtp


def mail(subject: str = "Hi", **headers: str) -> EmailMessage:
    made = EmailMessage()
    for name, value in {"From": "stay@hotel-demo.com", "To": ADA, "Subject": subject, **headers}.items():
        made[name] = value
    made["Message-ID"] = "<1@hotel-demo.com>"
    made.set_content("plain ü")
    made.add_alternative("<b>rich</b>", subtype="html")
    return made


def hand_in(catcher: Caught, made: EmailMessage | None = None, to: str | list[str] = ADA) -> None:
    with client(catcher) as smtp:
        smtp.send_message(made or mail(), to_addrs=to)


def refused(catcher: Caught) -> tuple[int, bytes]:
    """The first answer that is no yes."""
    with client(catcher) as smtp:
        smtp.ehlo()
        smtp.mail("stay@hotel-demo.com")
        code, text = smtp.rcpt(ADA)
        return (code, text) if code != 250 else smtp.data(mail().as_bytes())


def test_a_mail_is_caught_with_all_that_is_in_it(catcher: Caught) -> None:
    hand_in(catcher, mail("Grüße"), to=[ADA, "bob@lovelace.org"])
    (caught,) = catcher.mails()
    assert caught.pop("received_at") > "2026"
    assert caught.pop("id").startswith("m-")
    assert ["Subject", "Grüße"] in caught.pop("headers")
    assert caught == {
        "to": f"{ADA}, bob@lovelace.org",
        "from": "stay@hotel-demo.com",
        "subject": "Grüße",
        "message_id": "<1@hotel-demo.com>",
        "text": "plain ü\r\n",
        "html": "<b>rich</b>\r\n",
    }
    assert len(catcher.mails("BOB@Lovelace.org")) == 1
    assert catcher.mails("eve@lovelace.org") == []


def test_the_ledger_has_every_recipient_at_every_step(catcher: Caught) -> None:
    hand_in(catcher, to=[ADA, "bob@lovelace.org"])
    seen = [
        (one["step"], one["recipient"], one["message_id"], one["code"], one["delivered"]) for one in catcher.ledger()
    ]
    assert seen == [
        ("RCPT", ADA, None, 250, False),
        ("RCPT", "bob@lovelace.org", None, 250, False),
        ("DATA", ADA, "<1@hotel-demo.com>", 250, True),
        ("DATA", "bob@lovelace.org", "<1@hotel-demo.com>", 250, True),
    ]
    assert [one["n"] for one in catcher.ledger(recipient=ADA)] == [catcher.ledger()[0]["n"], catcher.ledger()[2]["n"]]
    assert len(catcher.ledger(message_id="<1@hotel-demo.com>")) == 2
    assert catcher.ledger(after=catcher.ledger()[-1]["n"]) == []


@pytest.mark.parametrize("code", [421, 451, 550])
@pytest.mark.parametrize("kind", ["refuse", "refuse_data"])
def test_a_fault_answers_as_often_as_it_is_asked_for(catcher: Caught, code: int, kind: str) -> None:
    catcher.fault(ADA.upper(), kind=kind, code=code, times=2, text="a reason")
    assert [refused(catcher) for _ in range(2)] == [(code, b"a reason")] * 2
    hand_in(catcher)
    assert [one["code"] for one in catcher.ledger(step="RCPT" if kind == "refuse" else "DATA")] == [code, code, 250]
    assert len(catcher.mails()) == 1
    assert catcher.faults()[0]["hits"] == 2


def test_a_code_alone_is_a_refusal_of_the_recipient_for_ever(catcher: Caught) -> None:
    catcher.fault(ADA, code=550)
    assert [refused(catcher)[0] for _ in range(3)] == [550] * 3
    hand_in(catcher, to="bob@lovelace.org")
    catcher.clear_faults()
    hand_in(catcher)
    assert catcher.faults() == []


def test_a_fault_means_its_recipient_in_whatever_spelling(catcher: Caught) -> None:
    catcher.fault("Ada@bücher.example", code=550)
    with client(catcher) as smtp:
        smtp.ehlo()
        smtp.mail("stay@hotel-demo.com")
        assert smtp.rcpt("ADA@XN--bcher-kva.Example")[0] == 550
        assert smtp.rcpt("bob@xn--bcher-kva.example")[0] == 250


def test_421_ends_the_connection(catcher: Caught) -> None:
    catcher.fault(code=421, times=1)
    with client(catcher) as smtp:
        smtp.ehlo()
        smtp.mail("stay@hotel-demo.com")
        assert smtp.rcpt(ADA)[0] == 421
        with pytest.raises(smtplib.SMTPServerDisconnected):
            smtp.noop()


def test_what_is_lost_after_the_dot_was_taken(catcher: Caught) -> None:
    catcher.fault(ADA, kind="lost_after_dot", times=1)
    with pytest.raises(smtplib.SMTPServerDisconnected):
        hand_in(catcher)
    assert len(catcher.mails(ADA)) == len(catcher.delivered(ADA)) == 1
    assert catcher.delivered(ADA)[0]["code"] is None


def test_a_delay_comes_before_the_answer_and_after_the_mail_was_taken(catcher: Caught) -> None:
    catcher.fault(ADA, delay_ms=300)
    begun = datetime.now(UTC)
    hand_in(catcher)
    assert (datetime.now(UTC) - begun).total_seconds() >= 0.3
    assert datetime.fromisoformat(catcher.mails()[0]["received_at"]) < datetime.now(UTC)
    assert catcher.delivered()[0]["code"] == 250


def test_everything_can_be_forgotten(catcher: Caught) -> None:
    catcher.fault(code=550, times=1)
    refused(catcher)
    hand_in(catcher)
    catcher.clear()
    assert (catcher.mails(), catcher.ledger(), catcher.faults()) == ([], [], [])


@pytest.mark.parametrize(
    "rule",
    [
        *({"code": 200}, {"code": 600}, {"kind": "refuse"}, {"kind": "refuse_data"}, {"kind": "explode"}, {"times": 0}),
        *(
            {"kind": "lost_after_dot", "code": 550},
            {"delay_ms": -1},
            {"text": "a\r\nb", "code": 550},
            {"recipent": ADA},
        ),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(catcher: Caught, rule: dict[str, object]) -> None:
    assert catcher.post("/faults", rule).status_code == 422
    assert catcher.faults() == []


def test_there_are_only_so_many_rules() -> None:
    faults = Faults()
    for _ in range(1000):
        faults.add(Terms(code=550))
    with pytest.raises(ValueError, match="1000 rules"):
        faults.add(Terms(code=550))


def test_a_message_that_is_too_large_is_refused(catcher: Caught) -> None:
    with pytest.raises(smtplib.SMTPResponseException) as caught, client(catcher) as smtp:
        smtp.sendmail("stay@hotel-demo.com", [ADA], (b"x" * 990 + b"\r\n") * 1100)
    assert caught.value.smtp_code == 552
    assert catcher.mails() == []


def test_only_the_newest_are_kept() -> None:
    def content(number: int) -> bytes:
        return f"Subject: {number}\r\n\r\n{'x' * 100}\r\n".encode()

    few, small = Mails(most=3), Mails(most_bytes=250)
    for number in range(6):
        for mails in (few, small):
            mails.keep(mails.read(content(number), [ADA], NOW))
    assert [one.subject for one in few.all()] == ["3", "4", "5"]
    assert [one.subject for one in small.all()] == ["4", "5"]
    assert few.get("m-1") is None
    assert few.get("m-6") is not None
    ledger = Ledger(most=2)
    for _ in range(5):
        ledger.receive("RCPT", "", ADA)
    assert [one["n"] for one in ledger.read()] == [4, 5]


pieces = st.sampled_from(
    [
        *(
            b"Subject: ",
            b"From: ",
            b"Message-ID: ",
            b"Content-Type: ",
            b"MIME-Version: 1.0",
            b"\r\n",
            b"\r\n\r\n",
            b"\n",
        ),
        *(b"multipart/alternative; boundary=x", b"text/html; charset=", b"text/plain; charset=none", b"--x", b"--x--"),
        *(
            b"Content-Transfer-Encoding: base64",
            b"=?utf-8?B?",
            b"=?none?Q?",
            b"?=",
            b"\xff",
            b"\0",
            b"<a",
            b"=ED=A0=80",
        ),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=100) | st.lists(pieces, max_size=15).map(b"".join))
def test_whatever_a_stranger_sends_can_be_shown(content: bytes) -> None:
    shown = read_mail("m-1", content, ["a\ud800@b.c"], NOW).shown()
    assert json.dumps(shown, ensure_ascii=False).encode()
    assert all(value is None or isinstance(value, str | list) for value in shown.values())


def test_it_listens_to_this_machine_only_unless_told_otherwise(catcher: Caught) -> None:
    listening = {one.laddr.ip for one in psutil.Process(catcher.pid).net_connections() if one.status == "LISTEN"}
    assert listening == {"127.0.0.1"}


def test_it_ends_though_somebody_is_still_connected() -> None:
    with start_catcher() as catcher:
        host, _, port = catcher.smtp_url.removeprefix("smtp://").partition(":")
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            assert connection.recv(100).startswith(b"220 ")
            process = psutil.Process(catcher.pid)
            process.terminate()
            process.wait(timeout=5)
