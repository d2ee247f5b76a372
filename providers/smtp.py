"""The adapter for mail servers (SMTP). What an answer means depends on whether the message's end was handed over.

A server may deliver nothing before the final dot. So until that is in the kernel's hands every trouble is NotSent;
afterwards only a complete answer tells anything.
"""

import ssl
from datetime import datetime, timedelta
from math import inf

from booking.capabilities import Capabilities
from booking.errors import ErrorCode
from booking.outcomes import Done, Misconfigured, NotSent, Outcome, Rejected, Unknown
from booking.settings import Provider
from providers.ports import Letter, Line
from providers.smtp_line import Answer, Login, Lost, Server, SmtpLine, open_smtp, server_of
from providers.smtp_message import Envelope, envelope_of, mail_address, message_bytes, on_the_wire

#: Seconds to get ready: mail servers take their time with the greeting, and TLS and the log-in take six turns more.
CONNECT_DEADLINE = 5.0
#: The end of the message. It is sent alone, so that it is known whether it was sent.
_DOT = b".\r\n"
#: Refusals that are about this recipient or about how much we send; the server is well.
_NOT_NOW = frozenset({450, 451, 452})
#: Longest text taken from a mail server, characters.
_LONGEST = 200


def smtp_mail(provider: Provider, url: str) -> "SmtpMail":
    """The adapter for the mail server at `url`. Raises ValueError for a url or credentials that can't be used."""
    sender = mail_address(provider.sender)
    if sender is None or not sender.isascii():
        raise ValueError("the sender's address must be ASCII before its @")
    capabilities = Capabilities(
        write_deadline=provider.write_deadline,
        read_deadline=provider.read_deadline,
        connect_deadline=CONNECT_DEADLINE,
        idle_timeout=timedelta(seconds=provider.idle_timeout),
    )
    return SmtpMail(server_of(url), sender, _login(provider), capabilities)


def _login(provider: Provider) -> Login | None:
    if provider.username is None and provider.token is None:
        return None
    username, token = provider.username, provider.token
    if not username or token is None or not token.get_secret_value():
        raise ValueError("username and token belong together")
    login = Login(username, token.get_secret_value())
    if "\0" in login.username + login.password:
        raise ValueError("username and token must not contain NUL")
    return login


class SmtpMail:
    """A `providers.ports.Mail`. One instance serves all threads: it holds no connection.

    It can't be asked whether it has a message, so what is lost is for a person. `tls` is for private authorities.
    """

    def __init__(
        self,
        server: Server,
        sender: str,
        login: Login | None,
        capabilities: Capabilities,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._server, self._sender, self._login, self._tls = server, sender, login, tls
        self._capabilities = capabilities

    @property
    def capabilities(self) -> Capabilities:
        """What the provider declares about itself."""
        return self._capabilities

    def connect(self, within: float = inf) -> SmtpLine:
        """Open a fresh line, logged in, within `connect_deadline` and `within` seconds, or raise Unreachable."""
        return open_smtp(self._server, self._login, min(self._capabilities.connect_deadline, within), self._tls)

    def message(self, letter: Letter, sender_name: str, reference: str, now: datetime) -> bytes:
        """The exact bytes of the message. `now` has a time zone. It is built for any letter; `send` may reject it."""
        return message_bytes(letter, sender_name, self._sender, reference, now)

    def send(self, line: Line, message: bytes) -> Outcome:
        """Hand the message in once, within `write_deadline`. `message` is from `message`."""
        if not isinstance(line, SmtpLine):
            raise TypeError("the line must come from connect()")
        envelope = envelope_of(message)
        try:
            return line.refused or self._hand_in(line, envelope, message)
        finally:
            line.close()

    def _hand_in(self, line: SmtpLine, envelope: Envelope, message: bytes) -> Outcome:
        to = envelope.recipient
        if to is None:
            return Rejected("no_address", "unusable address", {"problem": "no mail can be sent to it"})
        if not to.isascii() and "SMTPUTF8" not in line.offers:
            problem = "the mail server takes only ASCII letters before the @"
            return Rejected("no_address", "no SMTPUTF8", {"problem": problem})
        try:
            line.begin(self._capabilities.write_deadline)
            if refused := self._address(line, to):
                return refused
            if refused := _offer(line, message, to):
                return refused
            line.listen_for_nothing()
            handed = line.put_some(_DOT)
        except Lost as failure:
            return NotSent(str(failure))
        try:
            line.put(_DOT[handed:])
            return _ending(line.answer(), envelope.message_id, to)
        except Lost as failure:
            return Unknown(str(failure))

    def _address(self, line: SmtpLine, to: str) -> Outcome | None:
        """Say who sends and to whom. An outcome where that is refused."""
        options = "" if to.isascii() else " SMTPUTF8 BODY=8BITMIME"
        answer = line.ask(f"MAIL FROM:<{self._sender}>{options}")
        if answer.code >= 500:
            return Misconfigured(f"MAIL {answer.cause}")
        if answer.code != 250:
            return _not_now("MAIL", answer)
        answer = line.ask(f"RCPT TO:<{to}>")
        if answer.code == 530:  # it wants a log-in that nobody has configured
            return Misconfigured(f"RCPT {answer.cause}")
        if answer.code >= 500:
            # 5.7: the server's policy, which may refuse us everywhere; no other address would help.
            row = "mail_refused" if " 5.7." in f" {answer.cause}" else "no_address"
            return Rejected(row, f"RCPT {answer.cause}", {"problem": _problem(answer)})
        return None if answer.code in (250, 251) else _not_now("RCPT", answer)


def _offer(line: SmtpLine, message: bytes, to: str) -> Outcome | None:
    """Send the message up to its final dot. An outcome where it isn't wanted."""
    answer = line.ask("DATA")
    if answer.code >= 500:
        return Rejected("mail_refused", f"DATA {answer.cause}", {"problem": _problem(answer)})
    if answer.code != 354:
        return _not_now("DATA", answer)
    line.put(on_the_wire(message))
    return None


def _ending(answer: Answer, message_id: str, to: str) -> Outcome:
    """What the answer to the final dot means."""
    cause = f"message {answer.cause}"
    if answer.code == 250:
        return Done({"message_id": message_id})
    if answer.code >= 500:
        return Rejected("mail_refused", cause, {"problem": _problem(answer)})
    return _not_now("message", answer) if answer.code >= 400 else Unknown(cause)


def _not_now(step: str, answer: Answer) -> NotSent:
    code = ErrorCode.RATE_LIMITED if answer.code in _NOT_NOW else ErrorCode.UNAVAILABLE
    # A mailbox that is full or a sender not known yet: the next mail may pass, so nothing is held back for it.
    alone = code is ErrorCode.RATE_LIMITED and step in ("RCPT", "message")
    return NotSent(f"{step} {answer.cause}", code, alone=alone)


def _problem(answer: Answer) -> str:
    """Its code alone: a language model will read it, and the text is anybody's who runs a mail server."""
    return f"the mail server refuses it ({answer.cause})"
