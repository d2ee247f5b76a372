"""What is asked for, the same on both sides."""

import secrets
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

PROPERTY = "BER"


@dataclass(frozen=True)
class Ask:
    """One booking: its own conversation and its own guest."""

    conversation: str
    arguments: dict[str, Any]


def asks(count: int) -> list[Ask]:
    """`count` bookings that nobody has asked for before."""
    run = secrets.token_hex(4)
    start = date.today() + timedelta(days=30)  # noqa: DTZ011 - any day a month ahead
    return [_ask(f"c-{run}-{number}", number, start + timedelta(days=number % 200)) for number in range(count)]


def _ask(conversation: str, number: int, arrival: date) -> Ask:
    return Ask(
        conversation,
        {
            "property": PROPERTY,
            "room_type": "double",
            "check_in": arrival.isoformat(),
            "check_out": (arrival + timedelta(days=2)).isoformat(),
            "guest": {"name": f"Guest Number {number}", "email": f"guest{number}@example.com"},
        },
    )
