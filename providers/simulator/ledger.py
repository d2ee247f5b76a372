"""Every call received, in order: what outside observers hold Roomkey's own record against."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any


@dataclass(slots=True)
class Entry:
    """One call. `status` stays None while no answer was given, or if none ever was."""

    n: int
    at: str
    method: str
    path: str
    key: str | None
    reference: str | None
    body: Any
    status: int | None = None
    effect: bool = False
    booking_id: str | None = None
    fault: str | None = None
    operation: str = "unknown"
    replayed: bool = False


class Ledger:
    """Appending costs the same however long it is; `n` never starts again, so a call stays nameable."""

    def __init__(self) -> None:
        self._count = 0
        self.clear()

    def clear(self) -> None:
        """Forget the entries. Calls still running complete unseen."""
        self._entries: list[Entry] = []
        self._by_reference: dict[str, list[Entry]] = {}
        self._by_key: dict[str, list[Entry]] = {}

    def receive(
        self,
        at: datetime,
        operation: str,
        method: str,
        path: str,
        key: str | None,
        reference: str | None,
        body: Any,
    ) -> Entry:
        """Write a call down before anything is done with it."""
        self._count += 1
        entry = Entry(self._count, at.isoformat(), method, path, key, reference, body, operation=operation)
        self._entries.append(entry)
        if reference is not None:
            self._by_reference.setdefault(reference, []).append(entry)
        if key is not None:
            self._by_key.setdefault(key, []).append(entry)
        return entry

    def read(
        self,
        reference: str | None = None,
        key: str | None = None,
        effect: bool | None = None,
        method: str | None = None,
        operation: str | None = None,
        after: int = 0,
    ) -> list[dict[str, Any]]:
        """Entries that match all filters, oldest first."""
        return [
            asdict(entry)
            for entry in self._candidates(reference, key)
            if entry.n > after
            and (key is None or entry.key == key)
            and (effect is None or entry.effect is effect)
            and (method is None or entry.method == method.upper())
            and (operation is None or entry.operation == operation)
        ]

    def _candidates(self, reference: str | None, key: str | None) -> Sequence[Entry]:
        if reference is not None:
            return self._by_reference.get(reference, ())
        if key is not None:
            return self._by_key.get(key, ())
        return self._entries
