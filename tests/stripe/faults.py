"""Troubles that calls can be hit by, and the calls that wait in one."""

import threading
from dataclasses import dataclass, field
from typing import Any

#: Kinds that answer before anything else, even before the key is looked at.
EARLY = {"429", "lock_timeout", "html", "answer"}
KINDS = EARLY | {
    "commit_then_timeout",  # refunded, then no answer until released
    "commit_late",  # no answer and no refund until released; then it is refunded, whoever is still there
    "reset_after_commit",
    "500_before",  # the endpoint begins and fails: nothing refunded, the 500 is kept under the key
    "500_after_commit",  # refunded, and the 500 is kept under the key
    "slow",  # answered rightly, after `seconds`
    "trickle",  # answered rightly, a byte each `seconds`
}


@dataclass
class Fault:
    """Hits the next `times` calls of `operation` (refund, find, intent, charge; None: any).

    `commit`: an early answer comes after the effect nevertheless. `seconds`: the longest wait; None: until released.
    """

    kind: str
    operation: str | None = None
    times: int = 1
    seconds: float | None = None
    retry_after: str | None = None
    status: int = 502
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    commit: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no such fault: {self.kind}; known are {', '.join(sorted(KINDS))}")


class Faults:
    """The faults in force, and the held calls. Not for threads: the server's lock guards it."""

    def __init__(self) -> None:
        self.rules: list[Fault] = []
        self.held: list[threading.Event] = []

    def strike(self, operation: str) -> Fault | None:
        """The fault for this call, oldest first, used up by one."""
        for rule in self.rules:
            if rule.operation in (None, operation):
                rule.times -= 1
                if rule.times <= 0:
                    self.rules.remove(rule)
                return rule
        return None

    def hold(self) -> threading.Event:
        """Count one more waiting call; it goes on when the event is set."""
        event = threading.Event()
        self.held.append(event)
        return event

    def release(self) -> int:
        """Let all waiting calls go on; gives how many."""
        released, self.held = self.held, []
        for event in released:
            event.set()
        return len(released)
