"""What an operation is: the shape of every file in this folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from booking.arguments import Model
from booking.outcomes import Finding, Outcome
from booking.settings import Property
from dedupe.items import Item
from dedupe.submission import Wanted
from dedupe.tenants import Caller
from providers.ports import Line, Pms


@dataclass(frozen=True)
class Asking:
    """Who asks, in which conversation, and the hotels there are."""

    caller: Caller
    conversation_id: str
    properties: Mapping[str, Property]


@dataclass(frozen=True)
class Tool:
    """A write tool as the model knows it. `wanted` gives its effects, in the order they were asked for.

    `wanted` is called with an Asking and an instance of `arguments`.
    """

    name: str
    arguments: type[Model]
    wanted: Callable[[Asking, Any], list[Wanted]]


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
