"""Roomkey's own processes as children that die with us: start, watch, kill, stop."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cli.embedded.process import Child, EmbeddedError, Stopping, start, until

#: Seconds for an orderly end: longer than a write's deadline, so that running bookings are finished.
GRACE = 20.0
#: Seconds a process may take to listen: imports on a busy machine.
READY_WITHIN = 60.0
#: Pauses before a restart, seconds: growing, so that a process that can't run doesn't eat the machine.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
#: After so many seconds of life the next restart is a first one again.
HEALTHY_AFTER = 60.0

_STOPPING = Stopping(((signal.SIGTERM, GRACE),))
#: Where `-m cli.main` is found, whatever the current folder holds.
_CODE = Path(__file__).resolve().parents[1]
_LISTENS = "listening on "


@dataclass
class Process:
    """One `roomkey NAME` of ours, with its log."""

    name: str
    arguments: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    listens: bool = False
    _child: Child | None = None
    _wanted: bool = True
    _pause: float = FIRST_PAUSE
    _started_at: float = field(default=0.0)
    _restart_at: float | None = None

    @property
    def pid(self) -> int:
        """The process id of the present (or last) run."""
        return self._run.pid

    @property
    def running(self) -> bool:
        """Whether it runs now."""
        return self._child is not None and self._child.running

    @property
    def _run(self) -> Child:
        if self._child is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._child

    def start(self) -> None:
        """Start it. Call it from the main thread."""
        command = [sys.executable, "-m", "cli.main", *self.arguments]
        self._wanted, self._restart_at, self._started_at = True, None, time.monotonic()
        # SIGKILL if we are killed: nobody is left to wait for an orderly end, and the next start repairs.
        self._child = start(
            self.name,
            command,
            stopping=_STOPPING,
            log=self.log,
            folder=_CODE,
            env=self.environment,
            death=signal.SIGKILL,
        )

    def kill(self, *, stay_down: bool = True) -> None:
        """SIGKILL, and wait until it is gone. `stay_down`: `supervise` starts it again only after `restart`."""
        self._wanted = not stay_down
        self._run.popen.kill()
        self._run.popen.wait()

    def restart(self) -> None:
        """Stop it in order if it runs, and start it at once."""
        stop_all([self])
        self.start()

    def supervise(self, say: Callable[[str], None]) -> None:
        """Look once: start it again if it ended by itself and its pause is over."""
        if self.running or not self._wanted:
            return
        now = time.monotonic()
        if self._restart_at is None:
            if now - self._started_at > HEALTHY_AFTER:
                self._pause = FIRST_PAUSE
            self._restart_at = now + self._pause
            say(f"{self.name} ended ({_how(self._run)}); starting it again in {self._pause:g} s (log: {self.log})")
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
        elif now >= self._restart_at:
            self.start()

    def listening(self) -> bool:
        """Whether it has told that it listens. Raises EmbeddedError if it ended instead."""
        if not self.running:
            raise self._run.failure()
        return not self.listens or _LISTENS in self._run.said()

    def terminate(self) -> None:
        """Ask it to end; harmless when it already has."""
        self._wanted = False
        if self._child is not None:
            self._child.popen.terminate()


def wait_listening(processes: Sequence[Process]) -> None:
    """Return when all listen. Raises EmbeddedError with the reason of the first that doesn't."""
    deadline = time.monotonic() + READY_WITHIN
    for process in processes:
        if not until(process.listening, deadline):
            raise EmbeddedError(f"{process.name} doesn't listen after {READY_WITHIN:.0f} s (its log: {process.log})")


def stop_all(processes: Sequence[Process]) -> None:
    """Ask all to end, wait up to GRACE seconds in all, then kill those that are left."""
    for process in processes:
        process.terminate()
    until(lambda: not any(process.running for process in processes), time.monotonic() + GRACE)
    for process in processes:
        if process.running:
            process.kill()


def environment(config: Path, data: Path, **extra: str) -> dict[str, str]:
    """Our environment, with the settings from `config` in place of every ROOMKEY_ variable."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ROOMKEY_")}
    return {**kept, "ROOMKEY_CONFIG": str(config), "ROOMKEY_DATA": str(data), **extra}


def _how(child: Child) -> str:
    code = child.popen.returncode
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
