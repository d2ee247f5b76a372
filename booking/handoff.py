"""The handoff: what a person who takes over, and the guest, must know of a conversation. Pure.

Built from the items of one conversation alone, so that nothing of another guest can be in it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from booking.effects import Effect
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
_TAKEN = TABLE["dates_taken"][1].rpartition("}")[2]


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


@dataclass(frozen=True)
class Thing:
    """What an item is about: a room type, a reservation's number, an amount."""

    effect: Effect
    name: str


def handoff(
    owned: Sequence[str],
    failed: Sequence[tuple[Thing, ToolError | None]],
    waiting: Sequence[Thing],
    truncated: bool = False,
    done: Sequence[Thing] = (),
) -> str:
    """What to tell the guest. `owned`: booking ids; `failed` with their errors; `done`: beside the bookings.

    "3 rooms booked: B-9921, B-9922, B-9923. The suite could not be booked: sold out. A colleague will call you."
    `truncated`: there is more than this, which is older.
    """
    none = "None of the latest requests is booked." if truncated else "Nothing is booked yet."
    said = [f"{len(owned)} {_rooms(len(owned))} booked: {', '.join(owned)}." if owned else none]
    others = [*waiting, *(thing for thing, _ in failed)]
    if not owned and (done or (others and not any(thing.effect is Effect.BOOKING for thing in others))):
        said = []  # it is about something else, or cancelled: that says it all
    said += [_DONE[thing.effect].format(thing.name) for thing in done]
    if waiting:
        said.append(f"{_all(waiting)} {'is' if len(waiting) == 1 else 'are'} being confirmed.")
    reasons: dict[tuple[bool, str], list[Thing]] = {}
    for thing, error in failed:
        books = thing.effect is Effect.BOOKING
        reasons.setdefault((books, _why(error, books=books)), []).append(thing)
    for (books, why), things in reasons.items():
        what = "could not be booked" if books else f"{'was' if len(things) == 1 else 'were'} not possible"
        said.append(f"{_all(things)} {what}: {why}.")
    if truncated:
        said.append("Older requests are not listed here.")
    return " ".join([*said, "A colleague will call you."])


_DONE = {Effect.CANCEL: "{} is cancelled.", Effect.REFUND: "{} is given back."}
_NAMED = {
    Effect.CHANGE: "the change of {}",
    Effect.CANCEL: "the cancellation of {}",
    Effect.REFUND: "the refund of {}",
}


def _rooms(count: int) -> str:
    return "room" if count == 1 else "rooms"


def _all(things: Sequence[Thing]) -> str:
    """The suite, 2 double rooms and the cancellation of B-9921."""
    types = Counter(thing.name for thing in things if thing.effect is Effect.BOOKING)
    named = [f"the {name}" if count == 1 else f"{count} {name} rooms" for name, count in types.items()]
    named += [_NAMED[thing.effect].format(thing.name) for thing in things if thing.effect in _NAMED]
    text = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    return text[0].upper() + text[1:]


def _why(error: ToolError | None, *, books: bool) -> str:
    if error is None:
        return "it was refused"
    if error.message.startswith(_DEARER):
        return "the price has changed"
    if error.code is ErrorCode.CONFLICT and not books:
        return "the hotel has no room then" if error.message.endswith(_TAKEN) else "the hotel does not allow it"
    return _WHY.get(error.code, "it was refused")
