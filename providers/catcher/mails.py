"""Caught mails: read once, kept for a while. Whatever a stranger sends is caught, readable or not."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email import policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any, TypeVar

from providers.catcher.addresses import folded

T = TypeVar("T")

#: Of the mails only the newest are kept: so many, and so many bytes in all.
MOST_MAILS = 10_000
MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class Mail:
    """One caught mail. `recipients` are the envelope's; `text` and `html` are None where there is no such part."""

    id: str
    received_at: str
    recipients: tuple[str, ...]
    sender: str
    subject: str
    message_id: str | None
    headers: tuple[tuple[str, str], ...]
    text: str | None
    html: str | None
    size: int

    def shown(self) -> dict[str, Any]:
        """As listed by `GET /mails`."""
        return {
            "id": self.id,
            "to": ", ".join(self.recipients),
            "from": self.sender,
            "subject": self.subject,
            "message_id": self.message_id,
            "text": self.text,
            "html": self.html,
            "received_at": self.received_at,
            "headers": [list(pair) for pair in self.headers],
        }

    def is_for(self, recipient: str) -> bool:
        """Whether the envelope names this address, in whatever spelling."""
        return folded(recipient) in map(folded, self.recipients)


class Mails:
    """The newest mails, oldest first. An id is never given twice."""

    def __init__(self, most: int = MOST_MAILS, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._count = 0
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._kept: OrderedDict[str, Mail] = OrderedDict()
        self._bytes = 0

    def read(self, content: bytes, recipients: list[str], at: datetime) -> Mail:
        """What these bytes say. It isn't kept yet."""
        self._count += 1
        return read_mail(f"m-{self._count}", content, recipients, at)

    def keep(self, mail: Mail) -> None:
        """Keep it, and let old ones go for it."""
        self._kept[mail.id] = mail
        self._bytes += mail.size
        while len(self._kept) > self._most or (self._bytes > self._most_bytes and len(self._kept) > 1):
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.size

    def get(self, id: str) -> Mail | None:
        """The mail with this id, if it is still kept."""
        return self._kept.get(id)

    def all(self, recipient: str | None = None) -> list[Mail]:
        """Those for one recipient, or all."""
        return [mail for mail in self._kept.values() if recipient is None or mail.is_for(recipient)]


def read_mail(id: str, content: bytes, recipients: list[str], at: datetime) -> Mail:
    """Never raises: what can't be read is shown as it came."""
    message = _or_else(lambda: _parse(content), EmailMessage())
    headers = tuple(_header(name, raw) for name, raw in message.raw_items())
    unread: str | None = content.decode(errors="replace")

    def header(name: str) -> str:
        return next((value for known, value in headers if known.lower() == name), "")

    return Mail(
        id=id,
        received_at=at.isoformat(),
        recipients=tuple(map(_whole, recipients)),
        sender=header("from"),
        subject=header("subject"),
        message_id=header("message-id") or None,
        headers=headers,
        text=_or_else(lambda: _part(message, "plain"), unread) if headers else unread,
        html=_or_else(lambda: _part(message, "html"), None),
        size=len(content),
    )


def _parse(content: bytes) -> EmailMessage:
    return BytesParser(policy=policy.default).parsebytes(content)


def _header(name: str, raw: str) -> tuple[str, str]:
    plain = raw.encode(errors="surrogateescape").decode(errors="replace")  # a header in UTF-8 as it is
    # The older of the library's readers: the newer one leaves blanks between the encoded words of a name.
    read = _or_else(lambda: str(make_header(decode_header(plain))), plain)
    return _whole(name), " ".join(_whole(read).split())


def _part(message: EmailMessage, kind: str) -> str | None:
    part = message.get_body((kind,))
    return None if part is None else _whole(part.get_content())


def _whole(text: str) -> str:
    """Without lone surrogates, which neither JSON nor a page can carry."""
    return text.encode(errors="replace").decode()


def _or_else(read: Callable[[], T], otherwise: T) -> T:
    """The library's parser raises whatever its code comes across in a broken mail."""
    try:
        return read()
    except Exception:  # noqa: BLE001
        return otherwise
