"""A letter as the exact bytes of a mail, and what of it the mail server is told.

The headers are written here and not by the standard library, whose folding has torn names and addresses apart, and let
line breaks through, in versions that we run on. Free text beyond plain ASCII becomes base64 words, which can't hold a
line break, and an address is checked before it is written. The bodies are the library's, in quoted-printable: short
ASCII lines, whatever is in them.
"""

import base64
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime

import idna

from providers.ports import Letter

#: RFC 2045 and RFC 2047 allow 76 characters a line.
_BODY = policy.SMTP.clone(max_line_length=76, cte_type="7bit")
#: UTF-8 bytes in one base64 word: with "Subject: " before it, it still fits the line.
_WORD_BYTES = 36
#: RFC 5321 allows no longer address, in bytes.
_LONGEST = 254
#: Names that need no encoding within quotes, and subjects that need none at all.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9 .,&'()/+-]{1,60}")
_PLAIN_SUBJECT = re.compile(r"(?!.*=\?)[!-~]([ -~]{0,58}[!-~])?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}")
_REFERENCE = re.compile(r"[A-Za-z0-9-]{1,64}")
#: What a part of an address before its @ may consist of, beside letters and signs of other scripts.
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\U0010ffff]+"
_LOCAL = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_TO = re.compile(rb"^To: <([^<>\x00-\x20\x7f]+)>\r$", re.MULTILINE)
_ID = re.compile(rb"^Message-ID: <([^<>\x00-\x20\x7f]+)>\r$", re.MULTILINE)


def mail_address(address: str) -> str | None:
    """The address as mail servers know it, its domain in ASCII (IDNA); None if no mail can be sent to it.

    Quoted names before the @ and addresses of machines in brackets are none.
    """
    if len(address) > _LONGEST:
        return None
    local, _, domain = unicodedata.normalize("NFC", address).rpartition("@")
    if not _LOCAL.fullmatch(local) or any(unicodedata.category(char)[0] in "CZ" for char in local):
        return None
    try:
        known = idna.encode(domain, uts46=True).decode()
    except UnicodeError:  # IDNAError is one
        return None
    whole = f"{local}@{known}"
    fits = len(local.encode()) <= 64 and len(whole.encode()) <= _LONGEST
    return whole if fits and not known.endswith(".") else None


def message_bytes(letter: Letter, sender_name: str, sender: str, reference: str, now: datetime) -> bytes:
    """The message, with CRLF line ends. `sender` is from `mail_address`; `now` has a time zone.

    A recipient that no mail can be sent to is left out, see `envelope_of`: nothing of it gets into the headers.
    """
    if not _REFERENCE.fullmatch(reference):
        raise ValueError("a reference must be letters and digits")
    to = mail_address(letter.to)
    headers = [
        f"From: {_name(sender_name)}<{sender}>",
        f"To: <{to}>" if to else "To: undisclosed-recipients:;",
        f"Subject: {_subject(letter.subject)}",
        f"Date: {format_datetime(now)}",
        f"Message-ID: <{reference}@{sender.rpartition('@')[2]}>",
        "Auto-Submitted: auto-generated",
    ]
    if _LANGUAGE.fullmatch(letter.language):
        headers.append(f"Content-Language: {letter.language}")
    return "\r\n".join([*headers, ""]).encode() + _body(letter, reference)


@dataclass(frozen=True)
class Envelope:
    """What a message of `message_bytes` says of itself. `recipient` is None where no mail can be sent to it."""

    recipient: str | None
    message_id: str


def envelope_of(message: bytes) -> Envelope:
    """Read the headers back. Raises ValueError for bytes that aren't from `message_bytes`."""
    head = message.partition(b"\r\n\r\n")[0] + b"\r\n"
    to, id = _TO.search(head), _ID.search(head)
    if id is None:
        raise ValueError("the message must come from message()")
    return Envelope(to[1].decode() if to else None, f"<{id[1].decode()}>")


def on_the_wire(message: bytes) -> bytes:
    """What follows DATA, without the final dot: CRLF line ends only, and a dot more where a line begins with one."""
    whole = re.sub(rb"\r\n|\r|\n", b"\r\n", message)
    return re.sub(rb"^\.", b"..", whole if whole.endswith(b"\r\n") else whole + b"\r\n", flags=re.MULTILINE)


def _body(letter: Letter, reference: str) -> bytes:
    body = EmailMessage(policy=_BODY)
    body.set_content(_clean(letter.text), charset="utf-8", cte="quoted-printable")
    body.add_alternative(_clean(letter.html), subtype="html", charset="utf-8", cte="quoted-printable")
    body.set_boundary(f"=_{reference}")  # "=_" never occurs in quoted-printable
    return body.as_bytes()


def _name(text: str) -> str:
    name = _one_line(text)
    if not name:
        return ""
    return f'"{name}" ' if _PLAIN_NAME.fullmatch(name) else f"{_words(name)}\r\n "


def _subject(text: str) -> str:
    subject = _one_line(text)
    return subject if not subject or _PLAIN_SUBJECT.fullmatch(subject) else _words(subject)


def _words(text: str) -> str:
    """RFC 2047 words, one a line; readers put them together again without the line breaks."""
    return "\r\n ".join(f"=?utf-8?B?{base64.b64encode(piece).decode()}?=" for piece in _pieces(text))


def _pieces(text: str) -> Iterator[bytes]:
    """The UTF-8 of the text in short pieces, no character torn apart."""
    piece = b""
    for char in text:
        encoded = char.encode()
        if len(piece) + len(encoded) > _WORD_BYTES:
            yield piece
            piece = b""
        piece += encoded
    yield piece


def _clean(text: str) -> str:
    """NFC, line ends as \\n, and a sign in place of control characters and of what is no character at all."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char if _belongs(char) else "\ufffd" for char in unicodedata.normalize("NFC", lines))


def _belongs(char: str) -> bool:
    return char in "\t\n" or unicodedata.category(char) not in ("Cc", "Cs")


def _one_line(text: str) -> str:
    """For a header: blanks in place of everything that could end a line."""
    return " ".join("".join(char if _belongs(char) else " " for char in unicodedata.normalize("NFC", text)).split())
