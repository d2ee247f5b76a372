"""Start a server as a child that dies with us, and stop it.

On Linux the kernel signals the server when we end, even by `kill -9`. Elsewhere there is no such thing: after
a `kill -9` of Roomkey the server runs on until the next start in the same folder, which stops it first.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TICK = 0.02
"""Seconds between two looks at a server that is starting or stopping."""


class EmbeddedError(Exception):
    """An embedded server can't run here; the message is one line and names the mend."""


@dataclass(frozen=True)
class Account:
    """Whom a server runs as: by a command in front of it, as another user, or (empty) as we do."""

    prefix: tuple[str, ...] = ()
    user: int = -1
    group: int = -1


@dataclass(frozen=True)
class Stopping:
    """How a kind of server is told to end: `(signal, seconds of grace)` in turn, then SIGKILL."""

    steps: tuple[tuple[signal.Signals, float], ...]

    @property
    def first(self) -> signal.Signals:
        """The signal for an orderly end."""
        return self.steps[0][0]


@dataclass
class Child:
    """A server process of ours."""

    name: str
    popen: subprocess.Popen[bytes]
    stopping: Stopping
    log: Path
    log_start: int  # byte where this run begins in the log

    @property
    def pid(self) -> int:
        """The server's own process id: everything between us and it has exec'ed."""
        return self.popen.pid

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self.popen.poll() is None

    def said(self) -> str:
        """Return what this run has logged."""
        with self.log.open("rb") as file:
            file.seek(self.log_start)
            return file.read().decode(errors="replace")

    def failure(self) -> EmbeddedError:
        """Make the one line that says why it didn't start."""
        lines = [line for line in self.said().splitlines() if line.strip()]
        fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
        why = (fatal or lines or ["it logged nothing"])[-1].strip()
        return EmbeddedError(f"{self.name} did not start: {why} (its log: {self.log})")

    def stop(self) -> None:
        """End it, gently first; return when it is gone. Harmless when it already is."""
        for number, grace in self.stopping.steps:
            self.popen.send_signal(number)
            try:
                self.popen.wait(grace)
            except subprocess.TimeoutExpired:
                continue
            return
        self.popen.kill()
        self.popen.wait()


def start(
    name: str,
    command: Sequence[str],
    *,
    stopping: Stopping,
    log: Path,
    folder: Path,
    account: Account | None = None,
    env: Mapping[str, str] | None = None,
    death: signal.Signals | None = None,
) -> Child:
    """Start `command` (absolute program first) in `folder`, with its output appended to `log`.

    `env` replaces `environment()`; `death` is the signal it gets if we are killed, the first of `stopping` otherwise.
    In a session of its own: Ctrl-C on the terminal must not stop a database before its users have drained.
    """
    if sys.platform == "linux" and threading.current_thread() is not threading.main_thread():
        # The kernel's "parent" is the thread: the server would end with it.
        raise EmbeddedError(f"{name} must be started from the main thread")
    account = account or Account()
    numbers = (death or stopping.first, os.getpid(), account.user, account.group)
    tether = [str(Path(__file__).with_name("tether.py")), *(str(int(number)) for number in numbers), str(folder)]
    with log.open("ab") as output:
        popen = subprocess.Popen(
            [*account.prefix, sys.executable, "-I", "-S", *tether, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment() if env is None else env,
            start_new_session=True,
        )
        return Child(name, popen, stopping, log, output.tell())


def environment() -> dict[str, str]:
    """Make what a server gets to see: no PG* variable that redirects it, no secret of ours, one language."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC", **kept}


def until(done: Callable[[], bool], deadline: float) -> bool:
    """Look every TICK whether it is `done`; False once the monotonic clock passes `deadline`."""
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(TICK)
    return True


def end_leftover(pid: int, mark: str, stopping: Stopping) -> None:
    """End the server of an earlier run, if `pid` is still it: `mark` stands in its command line.

    Call it with the folder's lock held: whoever started that server is gone, and on Linux it is already stopping.
    """
    for number, grace in (*stopping.steps, (signal.SIGKILL, 5.0)):
        if mark not in _command_line(pid):
            return
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        except PermissionError:
            break
        until(lambda: mark not in _command_line(pid), time.monotonic() + grace)
    if mark in _command_line(pid):
        raise EmbeddedError(f"pid {pid} still uses {mark} and can't be stopped from here; stop it")


def _command_line(pid: int) -> str:
    """The arguments of a process, joined by spaces; empty if there is none."""
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    else:
        ps = ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)]
        return subprocess.run(ps, capture_output=True, text=True, check=False).stdout
