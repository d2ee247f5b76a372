"""What an operation is: the shape of every file in this folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from booking.arguments import Model
from booking.capabilities import Capabilities
from booking.effects import Effect
from booking.guests import VerifiedGuest
from booking.outcomes import Finding, Outcome
from booking.settings import Property
from booking.states import Kind
from dedupe.items import Item
from dedupe.submission import Wanted
from dedupe.tenants import Caller
from providers.ports import Line


@dataclass(frozen=True)
class Asking:
    """Who asks, in which conversation, the hotels there are, and the guest whom the host has verified."""

    caller: Caller
    conversation_id: str
    properties: Mapping[str, Property]
    verified: VerifiedGuest | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class Tool:
    """A write tool as the model knows it. `wanted` gives its effects, in the order they were asked for.

    `wanted` is called with an Asking and an instance of `arguments`. `about_guest`: it is about a guest's reservation,
    so whom the host has verified counts. `lifetime`: how long it may wait to be written, seconds; None: the usual.
    """

    name: str
    arguments: type[Model]
    wanted: Callable[[Asking, Any], list[Wanted]]
    about_guest: bool = False
    lifetime: Callable[[Asking, Any], float] | None = None


class Operation(Protocol):
    """One kind of effect on an outside system. No method retries.

    `port` is the provider that `provider` names for the call, of the kind that the operation needs (`providers.ports`).
    """

    effect: Effect

    def capabilities(self, declared: Capabilities) -> Capabilities:
        """What the provider declares, as it counts for this effect."""

    def provider(self, item: Item, kind: Kind) -> str:
        """Whom a call of `kind` goes to."""

    def body(self, port: Any, item: Item) -> bytes:
        """The exact bytes of the write request; stored at the first mark."""

    def write(self, port: Any, line: Line, item: Item, body: bytes) -> Outcome:
        """Send the write once. Done.result is what the agent is given."""

    def check(self, port: Any, line: Line, item: Item, begun_at: datetime) -> Finding:
        """Look whether the effect is there. `begun_at` is the database's time of the mark.

        Without a write in doubt it is the look before the first write: Found says that it is so already, Rejected that
        the write must not be made, Absent that it may be.
        """

    def provider_id(self, result: dict[str, object]) -> str:
        """The provider's own id of the effect, out of a result."""


def provider_of(properties: Mapping[str, Property], property_id: str | None, of: Callable[[Property], str]) -> str:
    """The provider of the said hotel, or the only one of all; the arguments were refused where there are several."""
    hotels = properties.values() if property_id is None else [properties[property_id]]
    [name] = {of(hotel) for hotel in hotels}
    return name
