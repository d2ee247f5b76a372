"""Idempotency keys: locked when a call arrives, kept whatever the answer was, forgotten after `life`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

Fingerprint = tuple[str, str, bytes]


@dataclass(frozen=True)
class Stored:
    """An answer as it was given the first time."""

    status: int
    body: bytes


@dataclass
class Key:
    """One key in use; without an `answer` its call is still running."""

    fingerprint: Fingerprint
    born: datetime
    answer: Stored | None = None


class Keys:
    """All live keys, oldest first."""

    def __init__(self, life: timedelta) -> None:
        self.life = life
        self._keys: dict[str, Key] = {}

    def arrive(self, name: str, fingerprint: Fingerprint, now: datetime) -> tuple[Key, bool]:
        """The key, and whether this call is the first to bring it."""
        self._expire(now)
        known = self._keys.get(name)
        if known is not None:
            return known, False
        fresh = self._keys[name] = Key(fingerprint, now)
        return fresh, True

    def forget(self, name: str, key: Key) -> None:
        """Unlock: the call never reached the hotel system."""
        if self._keys.get(name) is key:
            del self._keys[name]

    def clear(self) -> None:
        """Forget everything."""
        self._keys.clear()

    def _expire(self, now: datetime) -> None:
        dead = []
        for name, key in self._keys.items():
            if now - key.born < self.life:
                break
            dead.append(name)
        for name in dead:
            del self._keys[name]
