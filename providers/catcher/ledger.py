"""Every attempt to hand in a mail, in order: what outside observers hold Roomkey's own record against."""

from collections import deque
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from providers.catcher.addresses import folded

#: Only the newest are kept.
MOST_ENTRIES = 50_000


@dataclass(slots=True)
class Entry:
    """One recipient at one step, RCPT or DATA. `code` is None while no answer was given, or if none ever was.

    `delivered`: the message was taken, so that a real server would deliver it, whatever was answered.
    """

    n: int
    at: str
    step: str
    sender: str
    recipient: str
    message_id: str | None = None
    code: int | None = None
    delivered: bool = False


class Ledger:
    """`n` never starts again, so an attempt stays nameable."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._count = 0
        self._entries: deque[Entry] = deque(maxlen=most)

    def clear(self) -> None:
        """Forget the entries."""
        self._entries.clear()

    def receive(self, step: str, sender: str, recipient: str, message_id: str | None = None) -> Entry:
        """Write an attempt down before it is answered."""
        self._count += 1
        entry = Entry(self._count, datetime.now(UTC).isoformat(), step, sender, recipient, message_id)
        self._entries.append(entry)
        return entry

    def read(
        self,
        recipient: str | None = None,
        message_id: str | None = None,
        step: str | None = None,
        delivered: bool | None = None,
        after: int = 0,
    ) -> list[dict[str, Any]]:
        """Entries that match all filters, oldest first."""
        who = None if recipient is None else folded(recipient)
        return [
            asdict(entry)
            for entry in self._entries
            if entry.n > after
            and step in (None, entry.step)
            and message_id in (None, entry.message_id)
            and delivered in (None, entry.delivered)
            and (who is None or folded(entry.recipient) == who)
        ]
