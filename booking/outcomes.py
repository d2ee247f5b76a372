"""How one call to a provider ended. Adapters make these by positive rules; `tasks.decide` reads them."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from booking.errors import TABLE, ErrorCode


@dataclass(frozen=True)
class Reservation:
    """A booking as a provider shows it. Dates are the hotel's local dates, ISO format."""

    booking_id: str
    reference: str
    status: str  # "confirmed" | "cancelled"
    property: str
    room_type: str
    check_in: str
    check_out: str
    guest_name: str
    #: Empty where the provider doesn't tell it. For comparing, never for showing.
    guest_email: str = ""
    raw: dict[str, Any] = field(default_factory=dict, compare=False)

    def is_live(self) -> bool:
        """Whether the guest holds it."""
        return self.status == "confirmed"


@dataclass(frozen=True)
class Payment:
    """Money taken, as a payment system shows it. `left` can still be given back."""

    payment_id: str
    currency: str
    left: Decimal


@dataclass(frozen=True)
class Refund:
    """Money given back, as a payment system shows it."""

    refund_id: str
    payment_id: str
    reference: str
    amount: Decimal
    currency: str
    #: Whether the money is on its way or there; a refund may also have failed.
    live: bool


@dataclass(frozen=True)
class Done:
    """The provider confirmed the effect. `result` is what the agent is given; it holds the provider's id."""

    result: dict[str, Any]


@dataclass(frozen=True)
class Rejected:
    """A positive rule of the adapter says that the provider refused: nothing was executed.

    `row` names the message in `booking.errors.TABLE`; `values` are what the provider said to fill it. The arguments
    that the message also names are added by whoever tells it.
    """

    row: str
    cause: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def code(self) -> ErrorCode:
        """The row's code."""
        return TABLE[self.row][0]


@dataclass(frozen=True)
class NotSent:
    """Provably not executed: no connection, no name, TLS refused, our limiter, or 429.

    `retry_after` is the provider's wish in seconds, already capped. `alone`: it is about this one, a mailbox say, and
    tells nothing of the provider's health.
    """

    cause: str
    code: ErrorCode = ErrorCode.UNAVAILABLE
    retry_after: float | None = None
    alone: bool = False


@dataclass(frozen=True)
class Unknown:
    """Anything else: the effect may or may not have happened. For a look-up: it told nothing."""

    cause: str
    retry_after: float | None = None


@dataclass(frozen=True)
class Misconfigured:
    """Our own credentials or address are wrong. The guest is never told that they are not allowed.

    `certain`: the provider says that it is our credentials, so every call would end like this one. Otherwise the page
    of a firewall or of a load balancer may have answered, this once.
    """

    cause: str
    certain: bool = False


@dataclass(frozen=True)
class Found:
    """A look-up found what was asked for, matching and live; `provider_id` names it.

    `others` are further live ones: duplicates.
    """

    result: dict[str, Any]
    begun_at: datetime
    provider_id: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mismatched:
    """A look-up found something under our reference that is cancelled, foreign or has other values."""

    cause: str
    begun_at: datetime


@dataclass(frozen=True)
class Absent:
    """A look-up answered properly and found nothing. Proof only if begun after quiet time.

    `seen`: what it did see, for the write that may follow.
    """

    begun_at: datetime
    seen: dict[str, Any] | None = None


@dataclass(frozen=True)
class HeldBack:
    """We did not call: the limiter or a pause says not now. Nothing was tried, so nothing is spent.

    `wait` is in seconds. `sick`: because the provider is in trouble, which the guest may be told.
    """

    wait: float
    cause: str
    sick: bool


Outcome = Done | Rejected | NotSent | Unknown | Misconfigured | HeldBack
#: Rejected: of a look before the first write, which says that it must not be made.
Finding = Found | Mismatched | Absent | Rejected | NotSent | Unknown | Misconfigured | HeldBack
#: How a read's call ends without an answer.
Failure = Rejected | NotSent | Unknown | Misconfigured | HeldBack
