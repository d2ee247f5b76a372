"""A conversation as the agent and the host read it: what the guest owns, and whether calls are still taken. Pure."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from booking.answers import item_answer
from booking.arguments import Model
from booking.effects import Effect
from booking.errors import ToolError
from booking.guests import VerifiedGuest
from booking.handoff import Stop, Thing, handoff
from booking.results import Answer, ItemRow
from booking.states import PENDING, State
from booking.text import Note


class Owned(Answer):
    """One booking that the guest holds."""

    booking_id: str
    item_id: int
    result: dict[str, Any]


class Missing(Answer):
    """One item that does not exist, or is not known to."""

    item_id: int
    effect: Effect
    state: State
    request: dict[str, Any]
    error: ToolError | None


class Steer(Model):
    """The body of PUT /v1/conversations/{id}. What is left out stays as it is; `guest: null` un-names the guest."""

    guest: VerifiedGuest | None = None
    turn: Annotated[int, Field(strict=True, ge=0, lt=2**53)] | None = Field(
        default=None, description="The number of the user's turn. A higher one lifts a stop."
    )


class Lift(Model):
    """The body of POST /v1/conversations/{id}/lift."""

    reason: Annotated[Note, Field(description="Why calls may go on; kept in the events.")]


class GuestName(Answer):
    """The verified guest, by name alone."""

    name: str


class ConversationAnswer(Answer):
    """What the guest owns, what failed, what is still open; and whether calls are still taken."""

    id: str
    guest: GuestName | None = Field(default=None, description="The verified guest, if the host has named one.")
    turn: int
    stop: Stop | None = None
    handoff: str = Field(description="What to tell the guest if a person takes over now.")
    owned: list[Owned]
    failed: list[Missing]
    open: list[Missing]
    truncated: bool = Field(default=False, description="There are older requests, too; only the newest are listed.")


def conversation_answer(
    conversation_id: str,
    rows: Sequence[ItemRow],
    guest_name: str | None = None,
    turn: int = 0,
    stop: Stop | None = None,
    truncated: bool = False,
) -> ConversationAnswer:
    """What the guest owns, what does not exist, and what is not known yet. Superseded items are none of these."""
    lost = [_missing(row) for row in rows if row.state in (State.FAILED, State.CANCELLED)]
    still_open = [_missing(row) for row in rows if row.state in PENDING or row.state is State.UNKNOWN]
    return ConversationAnswer(
        id=conversation_id,
        guest=GuestName(name=guest_name) if guest_name else None,
        turn=turn,
        stop=stop,
        handoff=handoff_of(rows, truncated),
        owned=[
            Owned(booking_id=booking_id, item_id=row.id, result=row.result or {})
            for booking_id, row in _owned(rows).items()
        ],
        failed=lost,
        open=still_open,
        truncated=truncated,
    )


def handoff_of(rows: Sequence[ItemRow], truncated: bool = False) -> str:
    """The handoff of a conversation from its items. What is not known yet is being confirmed; cancelled is nothing.

    `truncated`: there are older items than these. Mails to other guests are nothing of this conversation's guest.
    """
    told = [row for row in rows if row.effect not in (Effect.REMINDER, Effect.ARRIVALS)]
    done = [row for row in told if row.state is State.SUCCEEDED]
    return handoff(
        owned=list(_owned(told)),
        done=[_thing(row) for row in done if row.effect in _DEEDS],
        failed=[(_thing(row), row.error) for row in told if row.state is State.FAILED and not _mended(row, done)],
        waiting=[_thing(row) for row in told if row.state in PENDING or row.state is State.UNKNOWN],
        truncated=truncated,
    )


#: What is told beside the bookings, once it is done.
_DEEDS = (Effect.CANCEL, Effect.REFUND)


def _mended(row: ItemRow, done: Sequence[ItemRow]) -> bool:
    """Whether a later item has done to the same reservation what this one failed to do."""
    if row.effect not in (Effect.CHANGE, Effect.CANCEL):
        return False
    return any(one.id > row.id and _thing(one) == _thing(row) for one in done)


def _owned(rows: Sequence[ItemRow]) -> dict[str, ItemRow]:
    """The bookings that exist, by id, each as the latest item tells of it."""
    owned: dict[str, ItemRow] = {}
    for row in rows:
        if row.state is not State.SUCCEEDED or not row.result:
            continue
        booking_id = str(row.result.get("booking_id"))
        if row.effect in (Effect.BOOKING, Effect.CHANGE):
            owned[booking_id] = row
        elif row.effect is Effect.CANCEL:
            owned.pop(booking_id, None)
    return owned


def _thing(row: ItemRow) -> Thing:
    """What an item is about, in a few words."""
    request = row.request
    match row.effect:
        case Effect.BOOKING:
            return Thing(row.effect, str(request.get("room_type", "room")))
        case Effect.REFUND:
            return Thing(row.effect, f"{request.get('amount')} {request.get('currency')}")
        case _:
            return Thing(row.effect, str(request.get("reservation_id")))


def _missing(row: ItemRow) -> Missing:
    return Missing(
        item_id=row.id,
        effect=row.effect,
        state=row.state,
        request=_without_proofs(row.request),
        error=item_answer(row).error,
    )


def _without_proofs(request: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, without whom the host has verified and what only we need."""
    return {name: value for name, value in request.items() if name not in ("verified", "hotel", "pms")}
