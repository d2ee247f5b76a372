"""A running embedded server, and the starting of one on a port of its own."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cli.embedded.folder import Lock, is_free, port
from cli.embedded.process import Child, EmbeddedError, until


@dataclass
class Server:
    """A server that is up. Call `stop`, or leave its `with` block, and it is gone with its folder's lock."""

    url: str
    port: int
    child: Child
    lock: Lock

    @property
    def pid(self) -> int:
        """Process id of the server itself."""
        return self.child.pid

    @property
    def running(self) -> bool:
        """Whether the server still runs, for a supervisor that wants to notice a crash."""
        return self.child.running

    def stop(self) -> None:
        """Stop the server in order and wait for it; a second call does nothing."""
        self.child.stop()
        self.lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def bring_up(
    launch: Callable[[int], Child], ready: Callable[[Child, int], bool], *, port_file: Path, within: float
) -> tuple[Child, int]:
    """Launch on a free port and wait until ready, at most `within` seconds; return the child and its port.

    Tried again where it ended because somebody took the port first, or because processes of a killed
    predecessor still hold its memory, which lasts until they notice.
    """
    deadline = time.monotonic() + within
    while True:
        number = port(port_file)
        child = launch(number)
        try:
            if until(lambda child=child, number=number: not child.running or ready(child, number), deadline):  # type: ignore[misc]
                if child.running:
                    return child, number
                held = "is still in use" in child.said()
                if (held or not is_free(number)) and time.monotonic() < deadline:
                    time.sleep(0.2 if held else 0)
                    continue
                raise child.failure()
            raise EmbeddedError(f"{child.name} isn't ready after {within:.0f} s (its log: {child.log})")
        except BaseException:  # Ctrl-C included: nothing may stay behind
            child.stop()
            raise
