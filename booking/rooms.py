"""What the model is told of a group of rooms of which some are not booked: the line that keeps 4 rooms from becoming 7.

Pure.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from booking.errors import MAY_PASS, ToolError, tool_error
from booking.results import ItemRow
from booking.states import State

#: Of a large batch so many are named in the texts for the model; the items hold all.
MOST_NAMED = 20


def rooms_error(rows: Sequence[ItemRow]) -> tuple[ToolError, str | None]:
    """The error, and the fix. Ready arguments are in the fix alone, so that they are sent once."""
    booked = [str((item.result or {}).get("booking_id")) for item in rows if item.state is State.SUCCEEDED]
    lost = [(item.error, item.request) for item in rows if item.state in (State.FAILED, State.CANCELLED)]
    again = [request for error, request in lost if error and error.code in MAY_PASS]
    failed = Counter(f"{_room(one)} ({error.code}: {error.message})" if error else _room(one) for error, one in lost)
    values = {
        "succeeded": len(booked),
        "owned": (f": {listed(booked)}" if booked else "")
        + _doubt([_room(item.request) for item in rows if item.state is State.UNKNOWN]),
        "total": len(rows),
        "failed": listed([f"{count} times {what}" if count > 1 else what for what, count in failed.items()], "; "),
    }
    if not again:
        error = tool_error("partial_for_good", **values)
        return error, error.fix
    are = "room is" if len(booked) == 1 else "rooms are"
    return tool_error("partial", **values), _fix(again, f"{len(booked)} {are} booked{values['owned']}.")


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
