"""The folder of one embedded server: its lock, its password, its port."""

import os
import secrets
import socket
import sys
from pathlib import Path

from cli.embedded.process import EmbeddedError


class Lock:
    """The right to use a folder, held until `release` or the end of this process."""

    def __init__(self, folder: Path) -> None:
        if sys.platform == "win32":
            raise EmbeddedError("embedded servers need Linux or macOS: name your own servers in the settings")
        import fcntl  # not on Windows, where even the import fails

        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not inherited by children, so that it ends with us and not with a server that outlives us.
        self._file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 20).decode(errors="replace").strip() or "not known yet"
            os.close(self._file)
            raise EmbeddedError(
                f"{folder}: Roomkey already runs in this folder (pid {holder}); stop it or use another folder"
            ) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others in. The file stays: removing it would let two hold "the" lock at once."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def secret(path: Path) -> str:
    """Read the password kept in `path`, made at the first call; safe in a URL and in every config file."""
    if path.exists():
        return path.read_text().strip()
    password = secrets.token_hex(24)
    write_private(path, password + "\n")
    return password


def write_private(path: Path, text: str) -> None:
    """Write `path` whole or not at all, readable by its owner only from its first byte on."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.replace(path)


def port(path: Path) -> int:
    """Choose a loopback port: the one remembered in `path` if it is free, else a new one, remembered there."""
    text = path.read_text().strip() if path.exists() else ""
    if text.isdecimal() and 0 < int(text) < 65536 and is_free(int(text)):
        return int(text)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        chosen: int = probe.getsockname()[1]
    path.write_text(f"{chosen}\n")
    return chosen


def is_free(number: int) -> bool:
    """Whether a server could listen on this loopback port now (one that just closed counts as free)."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
            probe.listen()  # on Linux two sockets may bind, but only one listens
        except OSError:
            return False
        return True
