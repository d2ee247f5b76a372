"""The table of errors: what the model is told of each. Printed in docs/errors.md.

Messages are written for a language model: one or two sentences, the field and the values, no internals, nothing of
another guest. Details go to the log. `done` and `system` are an effect's own words (`booking.effects.words`).
"""

from enum import StrEnum


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
        "It is not yet known whether an earlier request for this guest and these dates was booked{intent}.",
        "Do not book anything for this guest and these dates until it is known. Wait, then ask again.",
        False,
    ),
    # One open item a reservation: what comes later waits for what came before.
    "subject_in_doubt": (
        ErrorCode.UNKNOWN_OUTCOME,
        "An earlier request for {subject} is not settled yet{intent}.",
        "Wait until it is, then ask again.",
        False,
    ),
    "additional_in_doubt": (
        ErrorCode.UNKNOWN_OUTCOME,
        "One more can't be asked for yet: the one before is {state}{intent}.",
        "Wait until it has succeeded, then ask again.",
        False,
    ),
    "additional_to_nothing": (
        ErrorCode.INVALID_ARGUMENT,
        "There is none yet that this would be in addition to.",
        "Ask without additional.",
        True,
    ),
    "duplicate_refused": (
        ErrorCode.CONFLICT,
        "The same stay for the same guest was asked for in another conversation a moment ago.",
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
        ErrorCode.UNAVAILABLE,
        "The mail server does not take this mail: {problem}.",
        "A person must look at the mail server; then ask for the reminders again.",
        False,
    ),
    "arrivals_unread": (
        ErrorCode.UNAVAILABLE,
        "The list of arrivals could not be read again. {said}",
        "Ask for the reminders again later; nobody is mailed twice.",
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
    "partial_to_correct": (
        ErrorCode.PARTIAL_FAILURE,
        "{succeeded} of {total} rooms are booked{owned}. Not booked: {failed}.",
        "Correct what is named, and ask again for those rooms only; {succeeded} rooms are booked already{owned}.",
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
