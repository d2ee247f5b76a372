"""A conversation with a mail server: connected, greeted, encrypted and logged in before anything is sent.

The protocol is done here and not by smtplib, whose timeouts begin anew with every byte that comes in. A line carries
one message; there is no pool and no repeat.
"""

import base64
import ipaddress
import re
import socket
import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from booking.outcomes import Misconfigured
from providers.ports import Unreachable
from providers.sockets import Deadline, connected, encrypted, limit_retransmission, not_idle, say

#: Bytes of one answer. Real ones have a few hundred; more is a fault, and memory is shared by 64 threads.
MAX_ANSWER = 1 << 16
#: Answers to a log-in that say that it is our user or password; other refusals may be the server's own trouble.
_WRONG_CREDENTIALS = frozenset({530, 534, 535, 538})
_LINE = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?", re.DOTALL)
_ENHANCED = re.compile(r"([245]\.[0-9]{1,3}\.[0-9]{1,3})(?: |$)")


class Lost(Exception):
    """The conversation broke: no answer in time, the connection gone, or an answer that isn't SMTP."""


@dataclass(frozen=True)
class Server:
    """Where a mail server is. `tls`: from the first byte on, otherwise STARTTLS where it is offered."""

    host: str
    port: int
    tls: bool


@dataclass(frozen=True)
class Login:
    """Whom we log in as."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """A complete answer. `lines` are what it says after its codes."""

    code: int
    lines: tuple[str, ...]

    @property
    def cause(self) -> str:
        """What the log says of it: the codes alone, for the text may hold the guest's address."""
        enhanced = _ENHANCED.match(self.lines[0])
        return f"{self.code} {enhanced[1]}" if enhanced else f"{self.code}"


def server_of(url: str) -> Server:
    """Parse smtp://host[:587] or smtps://host[:465]. Raises ValueError for anything else."""
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.path.strip("/"):
        raise ValueError("a mail server's url must be smtp(s)://host[:port]")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("a mail server's url must hold no more than host and port; use username and token")
    tls = parts.scheme == "smtps"
    return Server(parts.hostname, parts.port or (465 if tls else 587), tls)


def open_smtp(server: Server, login: Login | None, within: float, tls: ssl.SSLContext | None = None) -> "SmtpLine":
    """Connect, and get ready to send, within `within` seconds, or raise Unreachable. No address is named yet.

    Where the server refuses our log-in, the line comes back with `refused` set. `tls`: see `sockets.encrypted`.
    """
    deadline = Deadline(within)
    try:
        sock = connected(server.host, server.port, deadline)
        if server.tls:
            sock = encrypted(sock, server.host, tls, deadline)
        line = SmtpLine(sock, deadline)
        try:
            _get_ready(line, server, login, tls)
        except BaseException:
            line.close()
            raise
    except Lost as failure:
        raise Unreachable(str(failure)) from failure
    except (OSError, ValueError) as error:  # ValueError: a host name that can't be encoded
        raise Unreachable(say(error)) from error
    return line


class SmtpLine:
    """A `providers.ports.Line`. Every method that talks raises Lost, and is bound by the present deadline."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        self._received = b""
        #: What the server offers: keyword -> parameters, in capitals.
        self.offers: dict[str, str] = {}
        #: Why it won't let us in, if it won't.
        self.refused: Misconfigured | None = None

    def close(self) -> None:
        """Drop the connection at once, with anything still undelivered; safe to call twice."""
        self._sock.close()

    def begin(self, seconds: float) -> None:
        """From now on `seconds` are left. The line must have been silent until now."""
        self._deadline = Deadline(seconds)
        self.listen_for_nothing()
        limit_retransmission(self._sock, seconds)

    def listen_for_nothing(self) -> None:
        """Raise Lost if the server has spoken unasked, or hung up. Waits for nothing.

        Without this an answer too many would be taken for the answer to what is said next.
        """
        reason = "the provider spoke before it was asked" if self._received else not_idle(self._sock)
        if reason:
            raise Lost(reason)

    def ask(self, command: str) -> Answer:
        """Say one line and read the answer."""
        if self._received:
            raise Lost("the provider spoke before it was asked")
        self.put(f"{command}\r\n".encode())
        return self.answer()

    def put(self, data: bytes) -> None:
        """Hand all of it to the kernel."""
        while data:
            data = data[self.put_some(data) :]

    def put_some(self, data: bytes) -> int:
        """Hand over as much as the kernel takes at once. If this raises, it has taken nothing."""
        try:
            self._sock.settimeout(self._deadline.left())
            return self._sock.send(data)
        except OSError as error:
            raise Lost(say(error)) from error

    def answer(self) -> Answer:
        """Read one whole answer."""
        room, code, lines = MAX_ANSWER, 0, []
        while True:
            line = self._line(room)
            room -= len(line)
            found = _LINE.fullmatch(line.rstrip(b"\r\n"))
            if found is None or code not in (0, int(found[1])):
                raise Lost("the answer is not SMTP")
            code = int(found[1])
            lines.append((found[3] or b"").decode(errors="replace"))
            if found[2] != b"-":
                return Answer(code, tuple(lines))

    def encrypt(self, host: str, tls: ssl.SSLContext | None) -> None:
        """Go on over TLS. Raises OSError, ValueError."""
        if self._received:  # said in plain, it would be taken for said under TLS: anybody may have slipped it in
            raise Lost("the provider spoke before it was asked")
        self._sock = encrypted(self._sock, host, tls, self._deadline)

    @property
    def is_encrypted(self) -> bool:
        """Whether it runs over TLS."""
        return isinstance(self._sock, ssl.SSLSocket)

    @property
    def stays_here(self) -> bool:
        """Whether the other end is this machine."""
        return _address(self._sock.getpeername()[0]).is_loopback

    @property
    def name(self) -> str:
        """Our own name for EHLO: the address literal, for the machine's name may be long in coming, and be nobody's."""
        own = _address(self._sock.getsockname()[0])
        return f"[{own}]" if own.version == 4 else f"[IPv6:{own}]"

    def _line(self, room: int) -> bytes:
        while b"\n" not in self._received:
            if len(self._received) >= room:
                raise Lost("the answer is too large")
            self._received += self._more()
        line, end, self._received = self._received.partition(b"\n")
        if len(line) >= room:
            raise Lost("the answer is too large")
        return line + end

    def _more(self) -> bytes:
        try:
            self._sock.settimeout(self._deadline.left())
            more = self._sock.recv(4096)
        except OSError as error:
            raise Lost(say(error)) from error
        if not more:
            raise Lost("closed without an answer")
        return more


def _get_ready(line: SmtpLine, server: Server, login: Login | None, tls: ssl.SSLContext | None) -> None:
    _expect(line.answer(), 220, "greeting")
    _introduce(line)
    if "STARTTLS" in line.offers and not line.is_encrypted:
        _expect(line.ask("STARTTLS"), 220, "STARTTLS")
        line.encrypt(server.host, tls)
        _introduce(line)  # what was offered in plain may be anybody's
    if login is None:
        return
    if not (line.is_encrypted or line.stays_here):
        raise Lost("it offers no TLS, and a password is never sent in plain")
    _log_in(line, login)


def _introduce(line: SmtpLine) -> None:
    answer = line.ask(f"EHLO {line.name}")
    _expect(answer, 250, "EHLO")
    offered = (one.upper().partition(" ") for one in answer.lines[1:])
    line.offers = {keyword: parameters for keyword, _, parameters in offered}


def _log_in(line: SmtpLine, login: Login) -> None:
    ways = line.offers.get("AUTH", "").split()
    if "PLAIN" in ways:
        turns = ["AUTH PLAIN " + _coded(f"\0{login.username}\0{login.password}")]
    elif "LOGIN" in ways:
        turns = ["AUTH LOGIN", _coded(login.username), _coded(login.password)]
    else:
        raise Lost("it offers no way to log in that we know")
    for left, turn in enumerate(turns, 1 - len(turns)):
        answer = line.ask(turn)
        if answer.code >= 500:
            line.refused = Misconfigured(f"AUTH {answer.cause}", answer.code in _WRONG_CREDENTIALS)
            return
        _expect(answer, 334 if left else 235, "AUTH")


def _expect(answer: Answer, code: int, step: str) -> None:
    if answer.code != code:
        raise Lost(f"{step} {answer.cause}")


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    found = ipaddress.ip_address(text.partition("%")[0])
    return getattr(found, "ipv4_mapped", None) or found
