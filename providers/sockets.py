"""Sockets whose every wait ends at one deadline, and plain words for what goes wrong with them.

Every receive and send gets only the time that is left of the whole, so what trickles in byte by byte ends at the
deadline too; no thread waits for anything. The one call that takes no deadline is getaddrinfo. It runs before the mark,
so a slow resolver costs a thread time but can never let a write out late; `line.bound_name_resolution` bounds it.
"""

import functools
import socket
import ssl
import struct
import time

#: l_onoff, l_linger: a close drops what the kernel has not delivered yet, instead of retransmitting it for minutes.
_ABORT_AT_CLOSE = struct.pack("ii", 1, 0)


class Deadline:
    """The end of a whole exchange, `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, above 0; raises TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def connected(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A fresh TCP connection. Raises OSError, or ValueError for a host name that can't be encoded."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    failure: OSError = TimeoutError()
    for tried, (family, kind, protocol, _, target) in enumerate(found):
        sock = socket.socket(family, kind, protocol)
        try:
            # A share of the time for each address, so that a dead one leaves time for the next.
            sock.settimeout(deadline.left() / (len(found) - tried))
            sock.connect(target)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT_AT_CLOSE)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    raise failure


def encrypted(sock: socket.socket, host: str, tls: ssl.SSLContext | None, deadline: Deadline) -> socket.socket:
    """The same connection over TLS, which takes `sock` over. Raises OSError, ValueError.

    `tls` is for private authorities; by default the system's trust counts.
    """
    with sock:  # closes what the wrapping has not taken over
        wrapped = (tls or _system_trust()).wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
    try:
        wrapped.settimeout(deadline.left())
        wrapped.do_handshake()
    except BaseException:
        wrapped.close()
        raise
    return wrapped


@functools.cache
def _system_trust() -> ssl.SSLContext:
    """Reading the trust store takes 10 ms and more: once a process."""
    return ssl.create_default_context()


def limit_retransmission(sock: socket.socket, seconds: float) -> None:
    """Let the kernel, too, give up undelivered bytes at the deadline: it goes on while this process stands still."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, int(seconds * 1000)))


def not_idle(sock: socket.socket) -> str | None:
    """Why nothing may be sent now: the provider has hung up, or has spoken before it was asked. Waits for nothing."""
    try:
        sock.settimeout(0)
        early = sock.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):  # nothing there; TLS tickets are consumed on the way
        return None
    except OSError as error:
        return f"before the send: {say(error)}"
    return "the provider spoke before it was asked" if early else "the provider closed the idle line"


def say(error: Exception) -> str:
    """A cause for the log, without addresses or content."""
    match error:
        case TimeoutError():
            return "deadline passed"
        case socket.gaierror():
            return "name not resolved"
        case ssl.SSLCertVerificationError():
            return "certificate not trusted"
        case ssl.SSLError():
            return "TLS failed"
        case ConnectionRefusedError():
            return "connection refused"
        case ConnectionResetError() | BrokenPipeError():
            return "connection reset"
        case _:
            return type(error).__name__
