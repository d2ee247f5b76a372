"""Errors: who can fix it, and what the model is told. The whole table is in this file, printed in docs/errors.md.

Messages are written for a language model: one or two sentences, the field and the values, no internals, nothing of
another guest. Details go to the log.
"""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class ErrorCode(StrEnum):
    """What went wrong, in the words the agent knows."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    NOT_FOUND = "NOT_FOUND"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    CONFLICT = "CONFLICT"
    UNAVAILABLE = "UNAVAILABLE"
    RATE_LIMITED = "RATE_LIMITED"
    UNKNOWN_OUTCOME = "UNKNOWN_OUTCOME"
    EXPIRED = "EXPIRED"
    CANCELLED = "CANCELLED"
    STOPPED = "STOPPED"
    PARTIAL_FAILURE = "PARTIAL_FAILURE"


class ToolError(BaseModel):
    """What the model is told of a failure."""

    model_config = ConfigDict(frozen=True)

    code: ErrorCode
    message: str
    retryable: bool = Field(description="Whether the model may try again with different input.")
    fix: str | None = Field(default=None, description="The next useful step, ready to use.")


#: Causes that may pass: an item known not to be executed for one of these is armed when the agent asks again.
MAY_PASS = frozenset(
    {
        ErrorCode.CONFLICT,
        ErrorCode.RATE_LIMITED,
        ErrorCode.UNAVAILABLE,
        ErrorCode.EXPIRED,
        ErrorCode.CANCELLED,
    }
)

#: name -> (code, message, fix, may the model retry with different input)
TABLE: dict[str, tuple[ErrorCode, str, str | None, bool]] = {
    "invalid_argument": (
        ErrorCode.INVALID_ARGUMENT,
        "{field}: {problem}. You sent {sent}.",
        "Correct {field} and call again.",
        True,
    ),
    "refused_argument": (
        ErrorCode.INVALID_ARGUMENT,
        "The {system} does not accept {field}: {problem}.",
        "Correct {field} and call again.",
        True,
    ),
    "unknown_tool": (
        ErrorCode.INVALID_ARGUMENT,
        "There is no tool {sent}. Allowed: {allowed}.",
        None,
        True,
    ),
    "malformed": (
        ErrorCode.INVALID_ARGUMENT,
        "The request body is not usable: {problem}.",
        "Send one JSON object with tool, arguments and conversation_id.",
        True,
    ),
    "key_reused": (
        ErrorCode.INVALID_ARGUMENT,
        "The Idempotency-Key {sent} already stands for another request ({existing}).",
        "Use a new Idempotency-Key for a new request, or send the first request unchanged.",
        False,
    ),
    "other_values": (
        ErrorCode.INVALID_ARGUMENT,
        "This booking was already asked for with another {differs}; it is {state}{existing}.",
        "Do not book it again. To alter it, change the existing one.",
        False,
    ),
    "not_found": (
        ErrorCode.NOT_FOUND,
        "{what} was not found.",
        "Ask the guest for the number; never guess it.",
        True,
    ),
    "denied": (
        ErrorCode.PERMISSION_DENIED,
        "This is not allowed. Do not try again.",
        "Offer the guest a person.",
        False,
    ),
    "sold_out": (
        ErrorCode.CONFLICT,
        "No {room_type} is free at {property} from {check_in} to {check_out}.",
        "Search again and offer the guest other room types or dates.",
        True,
    ),
    "price_changed": (
        ErrorCode.CONFLICT,
        "The price is now {price}, above the max_price you sent.",
        "Ask the guest whether the new price is fine, then call again with max_price {price}.",
        True,
    ),
    "unavailable": (
        ErrorCode.UNAVAILABLE,
        "The {system} could not be reached in time; this was not {done}.",
        "Tell the guest that it was not {done}. It may be asked for again later.",
        False,
    ),
    "rate_limited": (
        ErrorCode.RATE_LIMITED,
        "The {system} is taking no more requests for now; this was not {done}.",
        "Tell the guest that it was not {done}. It may be asked for again later.",
        False,
    ),
    # A booking of the same guest for overlapping dates may exist already; another one now would be the second.
    "guest_in_doubt": (
        ErrorCode.UNKNOWN_OUTCOME,
        "It is not yet known whether an earlier request for this guest and these dates was booked (intent {intent}).",
        "Do not book anything for this guest and these dates until it is known. Poll intent {intent}.",
        False,
    ),
    # One open item a reservation: what comes later waits for what came before.
    "subject_in_doubt": (
        ErrorCode.UNKNOWN_OUTCOME,
        "An earlier request for {subject} is not settled yet (intent {intent}).",
        "Wait until intent {intent} is done, then ask again.",
        False,
    ),
    "additional_in_doubt": (
        ErrorCode.UNKNOWN_OUTCOME,
        "One more can't be asked for yet: the one before is {state} (intent {intent}).",
        "Wait until intent {intent} has succeeded, then ask again.",
        False,
    ),
    "additional_to_nothing": (
        ErrorCode.INVALID_ARGUMENT,
        "additional: there is none yet that this would be in addition to.",
        "Ask without additional.",
        True,
    ),
    "duplicate_refused": (
        ErrorCode.CONFLICT,
        "The same stay for the same guest was asked for in another conversation a moment ago (intent {intent}).",
        "Do not book it again. If the guest wants it twice, offer a person.",
        False,
    ),
    "changed_since": (
        ErrorCode.CONFLICT,
        "{subject} has been changed by a later request since; this older one is not carried out.",
        "Ask the guest what they want now, and ask for that anew.",
        False,
    ),
    "not_changeable": (
        ErrorCode.CONFLICT,
        "{reservation_id} is cancelled, so its dates can't be changed.",
        "Tell the guest; a new booking may be asked for.",
        True,
    ),
    "dates_taken": (
        ErrorCode.CONFLICT,
        "{reservation_id} can't be moved to {check_in} to {check_out}: no room of its type is free.",
        "Search again and offer the guest other dates.",
        True,
    ),
    "over_limit": (
        ErrorCode.PERMISSION_DENIED,
        "A refund of {amount} is not allowed without a person. Do not try again.",
        "Offer the guest a person.",
        False,
    ),
    "no_address": (
        ErrorCode.INVALID_ARGUMENT,
        "Reservation {reservation_id} has no usable mail address: {problem}.",
        "Have the address corrected at the hotel, then ask for the reminders again.",
        True,
    ),
    "mail_refused": (
        ErrorCode.PERMISSION_DENIED,
        "The mail server refuses this message for good: {problem}.",
        "A person must look at it.",
        False,
    ),
    "no_longer_arriving": (
        ErrorCode.CANCELLED,
        "Reservation {reservation_id} is no longer booked for this arrival; no mail was sent.",
        None,
        False,
    ),
    "unknown_outcome": (
        ErrorCode.UNKNOWN_OUTCOME,
        "It is not yet known whether this was {done}; it is being confirmed.",
        "Do not ask for it again and promise nothing. The result will follow.",
        False,
    ),
    "expired": (
        ErrorCode.EXPIRED,
        "This was not {done} in time and will not be any more.",
        "If the guest still wants it, ask for it again.",
        True,
    ),
    "cancelled": (
        ErrorCode.CANCELLED,
        "This was cancelled before it was carried out.",
        "If the guest still wants it, ask for it again.",
        True,
    ),
    # `owned`: what is booked, and what is being confirmed. The ready arguments are told once, in the answer's own fix.
    "partial": (
        ErrorCode.PARTIAL_FAILURE,
        "{succeeded} of {total} rooms are booked{owned}. Not booked: {failed}.",
        "Ask again only as the fix of this answer says; it holds the arguments for the missing rooms.",
        True,
    ),
    "partial_for_good": (
        ErrorCode.PARTIAL_FAILURE,
        "{succeeded} of {total} rooms are booked{owned}. Not booked: {failed}.",
        "Do not ask again for what was not booked; {succeeded} rooms are booked already{owned}.",
        False,
    ),
    "reminders": (
        ErrorCode.PARTIAL_FAILURE,
        "{said}",
        "{fix}",
        True,
    ),
    # The fix is what a model does with it; the text is for the guest.
    "stopped": (
        ErrorCode.STOPPED,
        "This conversation is stopped: {why}. No further call is taken.",
        'Stop calling tools, hand off to a person, and tell the guest: "{handoff}"',
        False,
    ),
    # Reads. Never told as "nothing is free" or "there is none": nothing was found out.
    "read_unavailable": (
        ErrorCode.UNAVAILABLE,
        "The hotel system did not answer in time, so it is not known what it would have said.",
        "Tell the guest that the hotel system can't be asked right now; say nothing about rooms or reservations.",
        False,
    ),
    "read_rate_limited": (
        ErrorCode.RATE_LIMITED,
        "The hotel system is taking no more requests for now, so it is not known what it would have said.",
        "Tell the guest that the hotel system can't be asked right now; say nothing about rooms or reservations.",
        False,
    ),
    # It may have been accepted: a commit whose answer got lost. What was told must stay true.
    "no_database": (
        ErrorCode.UNAVAILABLE,
        "The booking service is not available for a moment.",
        "Send the same request again in a few seconds; the same request is never booked twice.",
        False,
    ),
    "wrong_bearer": (
        ErrorCode.PERMISSION_DENIED,
        "The bearer key is missing, unknown or revoked.",
        None,
        False,
    ),
    "wrong_scope": (
        ErrorCode.PERMISSION_DENIED,
        "This key has the scope {scope}; the call needs {allowed}.",
        None,
        False,
    ),
    "too_large": (
        ErrorCode.INVALID_ARGUMENT,
        "The request body is larger than {allowed}.",
        "Send fewer items in one call.",
        True,
    ),
    "too_slow": (
        ErrorCode.INVALID_ARGUMENT,
        "The request body did not arrive within {allowed}.",
        "Send the same request again.",
        False,
    ),
    "wrong_method": (
        ErrorCode.INVALID_ARGUMENT,
        "{sent} is not possible here. Allowed: {allowed}.",
        None,
        False,
    ),
    "no_such_intent": (
        ErrorCode.NOT_FOUND,
        "There is no such {what}.",
        None,
        False,
    ),
    "gone": (
        ErrorCode.NOT_FOUND,
        "This {what} ended long ago and is no longer kept.",
        "Ask for it again if the guest still wants it; what was booked is not booked twice.",
        False,
    ),
    "internal": (
        ErrorCode.UNAVAILABLE,
        "The booking service failed to answer this request.",
        "Poll the intent if you have its id; do not book again before you know.",
        False,
    ),
}

#: code -> (who can fix it, what the runtime does by itself). For people: printed in docs/errors.md.
WHO: dict[ErrorCode, tuple[str, str]] = {
    ErrorCode.INVALID_ARGUMENT: ("the model", "no"),
    ErrorCode.NOT_FOUND: ("the guest", "no"),
    ErrorCode.PERMISSION_DENIED: ("nobody", "no"),
    ErrorCode.CONFLICT: ("the model and the guest", "no"),
    ErrorCode.UNAVAILABLE: ("the runtime", "yes, before this is told"),
    ErrorCode.RATE_LIMITED: ("the runtime", "as the hotel system asks, before this is told"),
    ErrorCode.UNKNOWN_OUTCOME: ("the runtime, then a person", "look-ups only"),
    ErrorCode.EXPIRED: ("the model and the guest", "no"),
    ErrorCode.CANCELLED: ("the model and the guest", "no"),
    ErrorCode.STOPPED: ("a person", "no"),
    ErrorCode.PARTIAL_FAILURE: ("the model and the guest", "no; only the failed items may be asked for again"),
}
#: Rows that differ from their code; most are for the host application or the operator, not for the model.
WHO_BY_ROW: dict[str, tuple[str, str]] = {
    "partial_for_good": ("the guest", "no"),
    "reminders": ("the hotel, a person", "no; nobody is mailed twice"),
    "no_address": ("the hotel", "no"),
    "mail_refused": ("a person", "no"),
    "key_reused": ("the host application", "no"),
    "wrong_bearer": ("the host application", "no"),
    "wrong_scope": ("the host application", "no"),
    "too_slow": ("the host application", "no"),
    "wrong_method": ("the host application", "no"),
    "no_such_intent": ("the host application", "no"),
    "gone": ("the host application", "no"),
    "no_database": ("the operator", "no; the same request may be sent again"),
    "internal": ("the operator", "no"),
}


def tool_error(name: str, **values: Any) -> ToolError:
    """The error `name` of the table, filled in. A missing value is a bug here, so it raises KeyError."""
    code, message, fix, retryable = TABLE[name]
    return ToolError(
        code=code,
        message=message.format(**values),
        retryable=retryable,
        fix=fix.format(**values) if fix else None,
    )


class RoomkeyError(Exception):
    """A failure with something to tell the caller. The root of the project's own errors."""

    def __init__(self, error: ToolError, **context: Any) -> None:
        super().__init__(error.message)
        self.error = error
        self.context = context


class Invalid(RoomkeyError):
    """The caller's input is wrong; nothing was stored."""


class Conflicting(RoomkeyError):
    """The key stands for something else already; nothing was stored."""
