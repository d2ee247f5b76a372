"""The handoff: what a person who takes over, and the guest, must know of a conversation. Pure.

Built from the items of one conversation alone, so that nothing of another guest can be in it.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from booking.errors import TABLE, ErrorCode, ToolError

#: Why a room is not booked, for a guest to hear.
_WHY = {
    ErrorCode.CONFLICT: "sold out",
    ErrorCode.UNAVAILABLE: "the hotel system can't be reached",
    ErrorCode.RATE_LIMITED: "the hotel system is overloaded",
    ErrorCode.EXPIRED: "it took too long",
    ErrorCode.PERMISSION_DENIED: "it is not allowed",
    ErrorCode.NOT_FOUND: "it was not found",
    ErrorCode.INVALID_ARGUMENT: "the hotel does not accept it as asked",
}
_DEARER = TABLE["price_changed"][1].partition("{")[0]


class StopReason(StrEnum):
    """Which guard has stopped a conversation."""

    SAME_CALL = "same_call"
    UNAVAILABLE = "unavailable"


#: The middle of the sentence that the model is told.
BECAUSE = {
    StopReason.SAME_CALL: "the same call has failed too often",
    StopReason.UNAVAILABLE: "the hotel system was unavailable too often",
}


class Stop(BaseModel):
    """A stop in force: no further call of the conversation is taken."""

    model_config = ConfigDict(frozen=True)

    reason: StopReason
    at: datetime


def handoff(
    owned: Sequence[str],
    failed: Sequence[tuple[str, ToolError | None]],
    waiting: Sequence[str],
    truncated: bool = False,
) -> str:
    """What to tell the guest. `owned`: booking ids; `failed`, `waiting`: room types, the failed ones with their error.

    "3 rooms booked: B-9921, B-9922, B-9923. The suite could not be booked: sold out. A colleague will call you."
    `truncated`: there is more than this, which is older.
    """
    none = "None of the latest requests is booked." if truncated else "Nothing is booked yet."
    said = [f"{len(owned)} {_rooms(len(owned))} booked: {', '.join(owned)}." if owned else none]
    if waiting:
        said.append(f"{_each(Counter(waiting))} {'is' if len(waiting) == 1 else 'are'} being confirmed.")
    reasons: dict[str, list[str]] = {}
    for room_type, error in failed:
        reasons.setdefault(_why(error), []).append(room_type)
    said += [f"{_each(Counter(types))} could not be booked: {why}." for why, types in reasons.items()]
    if truncated:
        said.append("Older requests are not listed here.")
    return " ".join([*said, "A colleague will call you."])


def _rooms(count: int) -> str:
    return "room" if count == 1 else "rooms"


def _each(types: Counter[str]) -> str:
    """The suite and 2 double rooms."""
    named = [f"the {name}" if count == 1 else f"{count} {name} rooms" for name, count in types.items()]
    text = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    return text[0].upper() + text[1:]


def _why(error: ToolError | None) -> str:
    if error is not None and error.message.startswith(_DEARER):
        return "the price has changed"
    return _WHY.get(error.code, "it was refused") if error else "it was refused"
