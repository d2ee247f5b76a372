"""From a checked request to a submission: the tool's effects with their keys."""

from collections.abc import Sequence
from typing import Any

from booking import keys
from booking.arguments import Model
from dedupe.submission import KeyKind, Submission, Wanted
from tasks.operations.port import Asking, Tool


def submission_of(
    asking: Asking, tool: Tool, arguments: Model, own_key: tuple[KeyKind, str] | None, lifetime: float
) -> Submission:
    """The submission of a checked request. `own_key`: the caller's or the calendar's, None for a derived one.

    `lifetime` in seconds, where the tool has none of its own. The fingerprint covers tool and conversation, so that one
    header key can't serve two of them.
    """
    secret, conversation = asking.caller.secret, asking.conversation_id
    wanted = tool.wanted(asking, arguments)
    fingerprint = keys.fingerprint(secret, [tool.name, conversation, arguments])
    kind, key = own_key or ("derived", keys.intent_key(secret, conversation, tool.name, _asked(wanted)))
    return Submission(
        tenant_id=asking.caller.tenant_id,
        secret=secret,
        conversation_id=conversation,
        tool=tool.name,
        key=key,
        key_kind=kind,
        call=fingerprint,
        fingerprint=fingerprint,
        lifetime=tool.lifetime(asking, arguments) if tool.lifetime else lifetime,
        wanted=wanted,
        refuse_duplicates=asking.caller.settings.refuse_duplicates,
    )


def _asked(wanted: Sequence[Wanted]) -> list[Any]:
    """What makes it the same asking. One more is another asking; that one again is the same."""
    return [[one.base, "additional"] if one.additional else one.base for one in wanted]
