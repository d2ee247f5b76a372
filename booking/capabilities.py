"""What a provider declares about itself. `tasks.decide` reads the declaration, never the provider's name."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class ReferenceMatch(StrEnum):
    """How a look-up by our reference behaves at the provider."""

    EXACT = "exact"
    NONE = "none"


@dataclass(frozen=True)
class Capabilities:
    """Declared facts of one provider. The defaults are the careful ones: nothing helps us."""

    #: Effects whose write honours an idempotency key.
    keyed: frozenset[str] = frozenset()
    #: How long the provider remembers a key after its first use.
    key_life: timedelta = timedelta(0)
    #: The key is locked when the request arrives, or at commit at the latest, so that two sends can't both pass.
    key_locks: bool = False
    #: The key survives an error answer. Without it a key protects nothing after a 5xx.
    key_survives_errors: bool = False
    reference_match: ReferenceMatch = ReferenceMatch.NONE
    #: The longest time between the end of a send and the moment its effect is visible to a look-up.
    settle_time: timedelta = timedelta(seconds=30)
    #: Whether a look-up that finds nothing after quiet time proves that nothing happened.
    absence_provable: bool = False
    write_deadline: float = 10.0
    read_deadline: float = 2.5
    connect_deadline: float = 2.0
    #: How long after the mark the first byte may still leave, seconds.
    send_window: float = 3.0
    #: The provider (or a proxy) closes a connection that stays idle this long, so a stalled send can't arrive later.
    idle_timeout: timedelta = timedelta(seconds=10)

    #: Effects on something that exists, a reservation or a payment, which the provider shows by its id.
    shows: frozenset[str] = frozenset()
    # The next two are an operation's to set for its own effect (see `tasks.operations.port`).
    #: It is looked at before the first write: whose is it, and is it so already?
    looks_first: bool = False
    #: What a write did can be read off the thing that it changes.
    reads_back: bool = False

    @property
    def can_look_up(self) -> bool:
        """Whether a write can be found again: by our reference, or by what it changed."""
        return self.reads_back or self.reference_match is not ReferenceMatch.NONE

    def honours_key(self, effect: str) -> bool:
        """Whether repeating the write of `effect` under one key has at most one effect while the key lives."""
        return effect in self.keyed and self.key_locks and self.key_survives_errors
