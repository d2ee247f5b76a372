"""What the model is told of a group of rooms of which some are not booked: the line that keeps 4 rooms from becoming 7.

Pure.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from booking.errors import MAY_PASS, TABLE, ErrorCode, ToolError, tool_error
from booking.results import ItemRow
from booking.states import State

#: The price that the hotel system named instead.
_DEARER = re.compile(re.escape(TABLE["price_changed"][1].partition("{")[0]) + r"([0-9.]+) ([A-Z]{3}),")
#: Of a large batch so many are named in the texts for the model; the items hold all.
MOST_NAMED = 20


def rooms_error(rows: Sequence[ItemRow]) -> tuple[ToolError, str | None]:
    """The error, and the fix. Ready arguments are in the fix alone, so that they are sent once."""
    booked = [str((item.result or {}).get("booking_id")) for item in rows if item.state is State.SUCCEEDED]
    lost = [(item.error, item.request) for item in rows if item.state in (State.FAILED, State.CANCELLED)]
    passing = [(error, request) for error, request in lost if error and error.code in MAY_PASS]
    failed = Counter(f"{_room(one)} ({error.code}: {error.message})" if error else _room(one) for error, one in lost)
    values = {
        "succeeded": len(booked),
        "owned": (f": {listed(booked)}" if booked else "")
        + _doubt([_room(item.request) for item in rows if item.state is State.UNKNOWN]),
        "total": len(rows),
        "failed": listed([f"{count} times {what}" if count > 1 else what for what, count in failed.items()], "; "),
    }
    if not passing:
        wrong = any(error and error.code is ErrorCode.INVALID_ARGUMENT and error.retryable for error, _ in lost)
        error = tool_error("partial_to_correct" if wrong else "partial_for_good", **values)
        return error, error.fix
    are = "room is" if len(booked) == 1 else "rooms are"
    fix = _fix([_asked(error, request) for error, request in passing], f"{len(booked)} {are} booked{values['owned']}.")
    return tool_error("partial", **values), " ".join([fix, *_hints([error for error, _ in passing])])


def _asked(error: ToolError, request: dict[str, Any]) -> dict[str, Any]:
    """What to ask for instead: the same, but at the price that it has now."""
    dearer = _DEARER.match(error.message)
    return {**request, "max_price": {"amount": dearer[1], "currency": dearer[2]}} if dearer else request


def _hints(errors: Sequence[ToolError]) -> list[str]:
    dearer = [_DEARER.match(error.message) is not None for error in errors]
    taken = [error.code is ErrorCode.CONFLICT for error in errors]
    hints = []
    if any(dearer):
        hints.append("First ask the guest whether the new price is fine.")
    if any(one and not other for one, other in zip(taken, dearer, strict=True)):
        hints.append("Or search again and offer other room types or dates.")
    return hints


def _fix(again: Sequence[dict[str, Any]], already: str) -> str:
    """Ask again for the missing ones only."""
    first, more = again[:MOST_NAMED], len(again) - MOST_NAMED
    counts = Counter(_room(request) for request in first)
    names = listed([f"the {name}" if count == 1 else f"the {count} {name} rooms" for name, count in counts.items()])
    ready = json.dumps(first, ensure_ascii=False, separators=(", ", ": "))
    rest = f", then for {more} more of the positions in failed and cancelled" if more > 0 else ""
    return f"Retry only {names}: book_rooms with rooms={ready}{rest}; {already}"


def _doubt(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"; being confirmed: {listed(names)} — do not book {'it' if len(names) == 1 else 'them'} again"


def _room(request: dict[str, Any]) -> str:
    return str(request.get("room_type", "request"))


def listed(names: Sequence[str], between: str = ", ") -> str:
    """All of a few, the first of many."""
    more = len(names) - MOST_NAMED
    return between.join([*names[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
