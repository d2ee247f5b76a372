"""The bytes of a mail: whatever is in the letter, it reads as it was written and nothing slips into the headers."""

import re
import unicodedata
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from booking.settings import Provider, ProviderKind
from providers.ports import Letter
from providers.smtp import smtp_mail
from providers.smtp_message import envelope_of, mail_address, message_bytes, on_the_wire
from tests.mail.sending import LETTER, MESSAGE_ID, NOW, SENDER, adapter, message

HEADERS = [
    *("from", "to", "subject", "date", "message-id", "auto-submitted", "content-language", "mime-version"),
    "content-type",
]
LONGEST_WORD = "Donaudampfschifffahrt " * 9


def parsed(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


def built(letter: Letter, name: str = "Roomkey Berlin") -> bytes:
    return message_bytes(letter, name, SENDER, "rkabcdefghijklmnopqr", NOW)


def sender_shown(data: bytes) -> str:
    """By the older of the library's readers: the newer one leaves blanks between the words of a name."""
    return str(make_header(decode_header(str(message_from_bytes(data)["From"]))))


def part(mail: EmailMessage, kind: str) -> str:
    found = mail.get_body((kind,))
    assert found is not None
    return str(found.get_content()).replace("\r\n", "\n").removesuffix("\r")


def test_a_letter_has_all_that_readers_and_machines_want_to_know() -> None:
    data = message(adapter("smtp://mx.example"))
    mail = parsed(data)
    assert [name.lower() for name in mail] == HEADERS
    assert str(mail["from"]) == "Roomkey Berlin <stay@hotel-demo.com>"
    assert str(mail["to"]) == "ada@lovelace.org"
    assert mail["subject"] == "Your stay"
    assert mail["date"].datetime == NOW
    assert mail["message-id"] == MESSAGE_ID
    assert mail["auto-submitted"] == "auto-generated"
    assert mail["content-language"] == "en"
    assert mail.get_content_type() == "multipart/alternative"
    assert [one.get_content_type() for one in mail.iter_parts()] == ["text/plain", "text/html"]
    assert (part(mail, "plain"), part(mail, "html")) == (LETTER.text, LETTER.html)


def test_the_same_letter_is_the_same_bytes() -> None:
    mail = adapter("smtp://mx.example")
    assert message(mail) == message(mail)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Zoe\u0308 Mu\u0308ller", id="NFD"),
        pytest.param("Hôtel “Élysée”, Zürich", id="NFC"),
        pytest.param("فندق البحر الأبيض المتوسط الكبير في مدينة الإسكندرية", id="RTL"),
        pytest.param("👩‍👩‍👧‍👦 🏨 " * 20, id="emoji"),
        pytest.param("ホテル・ローマ「東京」" * 9, id="long"),
        pytest.param(LONGEST_WORD, id="long ASCII"),
        pytest.param('"Best, <Hotel>" (Berlin); a@b \\', id="ASCII specials"),
        pytest.param("=?utf-8?Q?=0D=0ABcc:_x@y?=", id="looks encoded"),
        pytest.param("x" * 500, id="one long word"),
    ],
)
def test_names_and_subjects_read_as_they_were_written(text: str) -> None:
    data = built(Letter("ada@lovelace.org", text, text, text, "en"), name=text)
    mail = parsed(data)
    assert max(map(len, data.split(b"\r\n"))) <= 76
    wanted = " ".join(unicodedata.normalize("NFC", text).split())
    assert mail["subject"] == wanted
    assert [one.addr_spec for one in mail["from"].addresses] == [SENDER]
    assert sender_shown(data) == f"{wanted} <{SENDER}>"
    assert part(mail, "plain").strip() == unicodedata.normalize("NFC", text).strip()


INJECTIONS = [
    "{}\r\nBcc: eve@evil.org",
    "{}\nBcc: eve@evil.org",
    "{}\rBcc: eve@evil.org",
    "{}\r\n\r\n<script>",
    "{}\u2028Bcc: eve@evil.org",
    "{}\u0085Bcc: eve@evil.org",
    "{}\x0bBcc: eve@evil.org\x00",
    "{}\x1cBcc: eve@evil.org\ud800",
]


@pytest.mark.parametrize("injection", INJECTIONS)
@pytest.mark.parametrize("field", ["to", "subject", "language", "name"])
def test_no_header_can_be_slipped_in(injection: str, field: str) -> None:
    fields = {"to": "ada@lovelace.org", "subject": "Hi", "text": "t", "html": "h", "language": "en", "name": "Hotel"}
    fields[field] = injection.format(fields[field])
    name = fields.pop("name")
    data = built(Letter(**fields), name)
    mail = parsed(data)
    assert [header.lower() for header in mail if header.lower() != "content-language"] == [
        header for header in HEADERS if header != "content-language"
    ]
    assert b"\r\nBcc" not in data
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)", data)
    assert envelope_of(data).recipient == (None if field == "to" else "ada@lovelace.org")


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("ada@lovelace.org", "ada@lovelace.org"),
        ("Ada.King+x@Lovelace.ORG", "Ada.King+x@lovelace.org"),
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
        ("ada@bu\u0308cher.example", "ada@xn--bcher-kva.example"),
        ("ada@faß.de", "ada@xn--fa-hia.de"),
        ("ada@مثال.إختبار", "ada@xn--mgbh0fb.xn--kgbechtv"),
        ("ada@例え。jp", "ada@xn--r8jz45g.jp"),
        ("Zoe\u0308@lovelace.org", "Zoë@lovelace.org"),
        ("用户@例え.jp", "用户@xn--r8jz45g.jp"),
    ],
)
def test_an_address_as_mail_servers_know_it(address: str, known: str) -> None:
    assert mail_address(address) == known
    assert envelope_of(message(adapter("smtp://mx.example"), to=address)).recipient == known


@pytest.mark.parametrize(
    "address",
    [
        *("", "@", "ada", "ada@", "@lovelace.org", "ada@@lovelace.org", "a@b@c.org", "ada@lovelace..org", ".a@b.org"),
        *("a..b@c.org", "a.@b.org", "ada@lovelace.org.", "ada@[127.0.0.1]", '"a b"@c.org', "a b@c.org", "a@b c.org"),
        *("<a@b.org>", "Ada <a@b.org>", "a@b.org,c@d.org", "a@b.org;c@d.org", "a@b.org\r\nBcc: x", "a\r\n@b.org"),
        *(
            "a@b.org\n",
            "a\u2028b@c.org",
            "a\u00a0b@c.org",
            "a\u200bb@c.org",
            "\ud800@b.org",
            "a@\ud800.org",
            "a\x00@b.org",
        ),
        *(
            "a@-b.org",
            "a@b_c.org",
            f"{'a' * 65}@b.org",
            f"{'ä' * 33}@b.org",
            f"a@{'b.' * 127}org",
            "a>@b.org",
            "a@b>.org",
        ),
    ],
)
def test_what_no_mail_can_be_sent_to_is_no_recipient(address: str) -> None:
    assert mail_address(address) is None
    assert envelope_of(message(adapter("smtp://mx.example"), to=address)).recipient is None


def test_a_cut_address_is_not_another_one() -> None:
    """Soft hyphens vanish in domains: what is too long must not become usable by being shortened."""
    assert mail_address("a@b" + "\u00ad" * 600 + ".org.evil.example") is None


texts = st.text(st.characters(), max_size=200) | st.text(st.sampled_from("a.=\r\n\t \x00-ü\u2028😀"), max_size=300)


@settings(max_examples=300, deadline=None)
@given(to=texts, subject=texts, text=texts, html=texts, language=texts, name=texts)
@example(to="", subject="", text="", html="", language="", name="")
@example(to="a@b.c", subject="a", text="--=_rkabcdefghijklmnopqr--\n", html="x", language="en", name="")
@example(to="a@b.c", subject="a  b", text=".\r\n.\r\r\n", html="--=_rkabcdefghijklmnopqr--\n", language="de", name=" ")
def test_any_letter_is_a_sound_mail(to: str, subject: str, text: str, html: str, language: str, name: str) -> None:
    data = built(Letter(to, subject, text, html, language), name)
    envelope = envelope_of(data)
    assert envelope.message_id == MESSAGE_ID
    lines = data.split(b"\r\n")
    assert not any(b"\n" in line or b"\r" in line for line in lines)
    longest = max(len(line) for line in lines if not line.startswith(b"To: "))
    assert longest <= 78
    head, _, body = data.partition(b"\r\n\r\n")
    assert body.isascii()
    assert head.isascii() or not (envelope.recipient or "").isascii()
    mail = parsed(data)
    assert set(map(str.lower, mail)) <= set(HEADERS)
    assert len(mail["from"].addresses) == 1
    for kind, written in (("plain", text), ("html", html)):
        assert part(mail, kind).rstrip("\n") == as_read(written).rstrip("\n")
    assert unstuffed(on_the_wire(data)) == (data if data.endswith(b"\r\n") else data + b"\r\n")


def as_read(text: str) -> str:
    lines = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in lines)


def unstuffed(wire: bytes) -> bytes:
    """As a server reads what follows DATA."""
    assert wire.endswith(b"\r\n")
    lines = wire.split(b"\r\n")
    assert b"." not in lines, "that would end the message"
    return b"\r\n".join(line[1:] if line.startswith(b".") else line for line in lines)


@pytest.mark.parametrize(
    "smuggled",
    [b"a\n.\nMAIL FROM:<x>", b"a\r.\rb", b"a\n.\r\nb", b"a\r\n.\nb", b".\r\n", b".", b"a\r\n.\r\n", b"..", b""],
)
def test_no_line_end_of_whatever_kind_makes_a_lone_dot(smuggled: bytes) -> None:
    wire = on_the_wire(smuggled)
    assert not re.search(rb"(^|[\r\n])\.([\r\n]|$)", wire)
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)", wire)


def test_bytes_of_others_are_not_taken_for_a_message() -> None:
    with pytest.raises(ValueError, match="must come from message"):
        envelope_of(b"Subject: x\r\n\r\nMessage-ID: <a@b>\r\nTo: <x@y.z>\r\n")


def test_a_reference_is_ours_or_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="letters and digits"):
        message_bytes(LETTER, "Hotel", SENDER, "a>\r\nBcc: x", NOW)


@pytest.mark.parametrize(("sender", "domain"), [("stay@bücher.de", "xn--bcher-kva.de"), ("stay@HOTEL.de", "hotel.de")])
def test_the_sender_and_the_message_id_have_the_domain_as_servers_know_it(sender: str, domain: str) -> None:
    mail = smtp_mail(Provider(kind=ProviderKind.SMTP, sender=sender), "smtp://mx.example")
    read = parsed(message(mail))
    assert read["from"].addresses[0].addr_spec == f"stay@{domain}"
    assert read["message-id"] == f"<rkabcdefghijklmnopqr@{domain}>"
