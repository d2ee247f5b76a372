"""What an answer to a change of dates or a cancellation means. Pure, and by positive rules, like `providers.replies`.

What no rule names is Unknown, and reading the reservation settles it. So it is with every 409 on a cancellation: one
that says "cancelled already" says what was wanted, and must never be told as a refusal.
"""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from booking.errors import ErrorCode
from booking.outcomes import Done, NotSent, Outcome, Rejected, Reservation, Unknown
from providers.line import Reply
from providers.replies import (
    cause_of,
    error_of,
    is_redirect,
    json_of,
    our_mistake,
    refusal_of,
    reservation_of,
    wait_of,
)

_Refusal = Callable[[Reply, dict[str, Any] | None], Rejected | None]


def classify_change(reply: Reply, reservation_id: str, dates: tuple[str, str], now: datetime) -> Outcome:
    """How a change ended. Done only by a 200 that shows this reservation, live, with exactly these dates."""

    def doubt(found: Reservation) -> str | None:
        if not found.is_live():
            return "success for a reservation that is not confirmed"
        return "success with other dates" if (found.check_in, found.check_out) != dates else None

    return _classified(reply, reservation_id, now, doubt, _refusal_of_change)


def classify_cancellation(reply: Reply, reservation_id: str, now: datetime) -> Outcome:
    """How a cancellation ended. Done only by a 200 that shows this reservation as cancelled."""

    def doubt(found: Reservation) -> str | None:
        return None if found.status == "cancelled" else "success for a reservation that is not cancelled"

    return _classified(reply, reservation_id, now, doubt, _refusal_of_either)


def _classified(
    reply: Reply, reservation_id: str, now: datetime, doubt: Callable[[Reservation], str | None], refusal: _Refusal
) -> Outcome:
    body = json_of(reply.body)
    if reply.status == 200:
        return _confirmed(body, reservation_id, doubt)
    error = error_of(body)
    # A redirect after a write often means "done, look there": it is no rule's, so the state is read.
    if not is_redirect(reply.status) and (mistake := our_mistake(reply, error, may_forbid=True)):
        return mistake
    if reply.status == 429:
        return NotSent(cause_of(reply, error), ErrorCode.RATE_LIMITED, wait_of(reply, now))
    return refusal(reply, error) or Unknown(cause_of(reply, error), wait_of(reply, now))


def _confirmed(body: Any, reservation_id: str, doubt: Callable[[Reservation], str | None]) -> Outcome:
    if isinstance(body, dict) and "error" in body:
        return Unknown("success with an error in the body")
    try:
        found = reservation_of(body, ours=False)  # it may have come in by another way
    except ValueError:
        return Unknown("success without a whole reservation")
    if found.booking_id != reservation_id:
        return Unknown("success for another reservation")
    why = doubt(found)
    return Unknown(why) if why else Done(asdict(found))


def _refusal_of_change(reply: Reply, error: dict[str, Any] | None) -> Rejected | None:
    match reply.status, error and error["code"]:
        case 409, ("sold_out" | "conflict"):
            return Rejected("dates_taken", cause_of(reply, error))
        case 409, "cancelled":
            return Rejected("not_changeable", cause_of(reply, error))
        case _:
            return _refusal_of_either(reply, error)


def _refusal_of_either(reply: Reply, error: dict[str, Any] | None) -> Rejected | None:
    """Of the contract's refusals, those that a write to a reservation can meet."""
    refused = refusal_of(reply, error)
    match refused:
        case Rejected("not_found"):
            return Rejected("not_found", refused.cause, {"what": "The reservation"})
        case Rejected("denied" | "refused_argument"):
            return refused
        case _:
            return None
