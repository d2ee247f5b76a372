"""What the catcher's mail server answers. The names of the methods are aiosmtpd's."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

from providers.catcher.faults import Faults, Rule
from providers.catcher.ledger import Entry, Ledger
from providers.catcher.mails import Mail, Mails

#: Bytes of a message, and recipients of one: memory is bounded.
MOST_MESSAGE = 1_000_000
MOST_RECIPIENTS = 100
#: Seconds after which a silent connection is closed.
IDLE_TIMEOUT = 60


@dataclass
class Catcher:
    """All there is to look at and to steer."""

    mails: Mails = field(default_factory=Mails)
    ledger: Ledger = field(default_factory=Ledger)
    faults: Faults = field(default_factory=Faults)


def mail_server(catcher: Catcher) -> SMTP:
    """The protocol of one connection."""
    return SMTP(
        Handler(catcher),
        data_size_limit=MOST_MESSAGE,
        enable_SMTPUTF8=True,
        hostname="mailcatcher.localhost",  # given, since the machine's own name may be long in coming
        ident="Roomkey mail catcher",
        timeout=IDLE_TIMEOUT,
        auth_exclude_mechanism=("LOGIN", "PLAIN"),
        loop=asyncio.get_running_loop(),
    )


class Handler:
    """Takes everything, but for what the faults say."""

    def __init__(self, catcher: Catcher) -> None:
        self._catcher = catcher

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take one recipient, or not."""
        entry = self._catcher.ledger.receive("RCPT", str(envelope.mail_from), address)
        if len(envelope.rcpt_tos) >= MOST_RECIPIENTS:
            return _coded([entry], 452, "4.5.3 Too many recipients")
        rule = self._catcher.faults.strike("RCPT", [address])
        if rule is not None:
            return await _refusal(server, [entry], rule)
        envelope.rcpt_tos.append(address)
        return _coded([entry], 250, "2.1.5 OK")

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Take one message, or not."""
        rule = self._catcher.faults.strike("DATA", envelope.rcpt_tos)
        mail = self._catcher.mails.read(envelope.original_content or b"", envelope.rcpt_tos, datetime.now(UTC))
        entries = self._entries(mail, envelope)
        if rule is not None and rule.terms.kind == "refuse_data":
            return await _refusal(server, entries, rule)
        self._take(mail, entries)
        if rule is not None:
            await asyncio.sleep(rule.terms.delay_ms / 1000)
            if rule.terms.kind == "lost_after_dot":
                await _hang_up(server)
        return _coded(entries, 250, f"2.0.0 caught as {mail.id}")

    def _entries(self, mail: Mail, envelope: Envelope) -> list[Entry]:
        sender = str(envelope.mail_from)
        return [self._catcher.ledger.receive("DATA", sender, one, mail.message_id) for one in envelope.rcpt_tos]

    def _take(self, mail: Mail, entries: list[Entry]) -> None:
        self._catcher.mails.keep(mail)
        for entry in entries:
            entry.delivered = True


async def _refusal(server: SMTP, entries: list[Entry], rule: Rule) -> str:
    await asyncio.sleep(rule.terms.delay_ms / 1000)
    answer = _coded(entries, rule.terms.code or 0, rule.terms.text)
    if rule.terms.code == 421:
        await server.push(answer)
        await _hang_up(server)
    return answer


async def _hang_up(server: SMTP) -> None:
    """Close, after what was answered before. Doesn't return: the end of the connection cancels the caller."""
    transport: Any = server.transport
    if transport is not None:
        transport.close()
    await asyncio.Event().wait()


def _coded(entries: list[Entry], code: int, text: str) -> str:
    for entry in entries:
        entry.code = code
    return f"{code} {text}"
