"""Letters, and an adapter to send them with."""

import base64
import ssl
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from booking.capabilities import Capabilities
from booking.outcomes import Outcome
from booking.settings import Provider, ProviderKind
from providers.ports import Letter, Unreachable
from providers.smtp import SmtpMail, smtp_mail
from providers.smtp_line import Login, server_of

NOW = datetime(2027, 3, 1, 9, 30, tzinfo=UTC)
SENDER = "stay@hotel-demo.com"
ADA = "ada@lovelace.org"
#: Seconds of the tests about deadlines.
SHORT = 0.4
LETTER = Letter(ADA, "Your stay", "See you soon.\n", "<p>See you soon.</p>\n", "en")
#: Who logs in, and the words of it.
ME = Login("stay", "hush, pass")
PLAIN = base64.b64encode(b"\0stay\0hush, pass")
MESSAGE_ID = "<rkabcdefghijklmnopqr@hotel-demo.com>"


def adapter(url: str) -> SmtpMail:
    return smtp_mail(Provider(kind=ProviderKind.SMTP), url)


def hasty(url: str, login: Login | None = None, tls: ssl.SSLContext | None = None, seconds: float = SHORT) -> SmtpMail:
    """An adapter with short deadlines."""
    capabilities = Capabilities(connect_deadline=seconds, write_deadline=seconds)
    return SmtpMail(server_of(url), SENDER, login, capabilities, tls)


def message(mail: SmtpMail, letter: Letter = LETTER, **changed: str) -> bytes:
    return mail.message(replace(letter, **changed), "Roomkey Berlin", "rkabcdefghijklmnopqr", NOW)


def send(mail: SmtpMail, letter: Letter = LETTER, **changed: str) -> Outcome:
    """One letter on one line."""
    with closing(mail.connect()) as line:
        return mail.send(line, message(mail, letter, **changed))


def unreachable(mail: SmtpMail) -> str:
    """Why no line could be opened."""
    with pytest.raises(Unreachable) as caught, closing(mail.connect()):
        pass
    return str(caught.value)
