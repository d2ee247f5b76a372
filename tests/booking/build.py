"""Stays and rows for tests of the words: plain functions with defaults."""

from datetime import UTC, datetime
from typing import Any

from booking.arguments import CreateBooking, Hotels
from booking.effects import Effect, words
from booking.errors import ToolError, tool_error
from booking.settings import Property

#: 13:30 on the 5th in Auckland, 14:30 on the 4th in Honolulu.
NOW = datetime(2026, 12, 5, 0, 30, tzinfo=UTC)
HOTELS = {
    "BER": Property(name="Berlin", time_zone="Europe/Berlin", currency="EUR"),
    "AKL": Property(name="Auckland", time_zone="Pacific/Auckland", currency="NZD"),
    "HNL": Property(name="Honolulu", time_zone="Pacific/Honolulu", currency="USD"),
}


def arguments(**changes: Any) -> dict[str, Any]:
    """What a model sends for one room."""
    return {
        "property": "BER",
        "room_type": "double",
        "check_in": "2026-12-24",
        "check_out": "2026-12-26",
        "guest": {"name": "Ada Byron", "email": "ada@example.com"},
    } | changes


def hotels(now: datetime = NOW) -> Hotels:
    return Hotels(HOTELS, now)


def stay(**changes: Any) -> CreateBooking:
    return CreateBooking.model_validate(arguments(**changes), context=hotels())


def error_of(row: str, **values: object) -> ToolError:
    """The error of the table, as it is told of a booking."""
    return tool_error(row, **(words(Effect.BOOKING) | values))
