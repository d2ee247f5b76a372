"""What an operation is: the shape of every file in this folder."""

from datetime import datetime
from typing import Protocol

from booking.outcomes import Finding, Outcome
from dedupe.items import Item
from providers.ports import Line, Pms


class Operation(Protocol):
    """One kind of effect on an outside system. No method retries."""

    effect: str

    def body(self, pms: Pms, item: Item) -> bytes:
        """The exact bytes of the write request; stored at the first mark."""

    def write(self, pms: Pms, line: Line, item: Item, body: bytes) -> Outcome:
        """Send the write once. Done.result is what the agent is given."""

    def check(self, pms: Pms, line: Line, item: Item, begun_at: datetime) -> Finding:
        """Look the effect up by the item's reference. `begun_at` is the database's time of the mark."""

    def provider_id(self, result: dict[str, object]) -> str:
        """The provider's own id of the effect, out of a result."""
