"""From a checked request to a submission: the tool's effects with their keys."""

from collections.abc import Mapping

from booking import keys
from booking.arguments import BookRooms, CreateBooking, stays_of
from booking.settings import Property
from dedupe.submission import Submission
from dedupe.tenants import Caller
from tasks.operations.booking import wanted_booking


def submission_of(
    caller: Caller,
    tool: str,
    conversation_id: str,
    arguments: CreateBooking | BookRooms,
    header_key: str | None,
    properties: Mapping[str, Property],
    lifetime: float,
) -> Submission:
    """The submission of a checked request. `header_key`: the caller's own key, None for a derived one.

    `lifetime` in seconds. The fingerprint covers tool and conversation, so that one header key can't serve two of them.
    """
    stays = stays_of(arguments)
    wanted = [
        wanted_booking(caller.secret, conversation_id, stay, properties[stay.property].provider) for stay in stays
    ]
    derived = keys.intent_key(caller.secret, conversation_id, tool, [keys.booking_identity(stay) for stay in stays])
    fingerprint = keys.fingerprint(caller.secret, [tool, conversation_id, arguments])
    return Submission(
        tenant_id=caller.tenant_id,
        secret=caller.secret,
        conversation_id=conversation_id,
        tool=tool,
        key=header_key or derived,
        key_kind="header" if header_key else "derived",
        call=fingerprint,
        fingerprint=fingerprint,
        lifetime=lifetime,
        wanted=wanted,
    )
