"""Whether it is still time to send: a process may have been paused between the mark and the first byte."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class SendClock:
    """Started BEFORE the mark is committed, so it can only run ahead of the database's `may_send_until`.

    Two clocks, and either may veto: boot time counts a suspended machine, wall time shows a restored one.
    """

    boot: float
    wall: float

    @classmethod
    def start(cls) -> "SendClock":
        """A clock that begins now."""
        return cls(_boot(), time.time())

    def elapsed(self) -> float:
        """Seconds since the start, by whichever clock says more; a wall clock set back counts as for ever."""
        wall = time.time() - self.wall
        return max(_boot() - self.boot, wall if wall >= 0 else float("inf"))


def _boot() -> float:
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # macOS has no boot time
    return time.clock_gettime(clock)
