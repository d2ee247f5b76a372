"""From a checked request to a submission: the tool's effects with their keys."""

from booking import keys
from booking.arguments import Model
from dedupe.submission import Submission
from tasks.operations.port import Asking, Tool


def submission_of(asking: Asking, tool: Tool, arguments: Model, header_key: str | None, lifetime: float) -> Submission:
    """The submission of a checked request. `header_key`: the caller's own key, None for a derived one.

    `lifetime` in seconds. The fingerprint covers tool and conversation, so that one header key can't serve two of them.
    """
    secret, conversation = asking.caller.secret, asking.conversation_id
    wanted = tool.wanted(asking, arguments)
    fingerprint = keys.fingerprint(secret, [tool.name, conversation, arguments])
    return Submission(
        tenant_id=asking.caller.tenant_id,
        secret=secret,
        conversation_id=conversation,
        tool=tool.name,
        key=header_key or keys.intent_key(secret, conversation, tool.name, [effect.base for effect in wanted]),
        key_kind="header" if header_key else "derived",
        call=fingerprint,
        fingerprint=fingerprint,
        lifetime=lifetime,
        wanted=wanted,
    )
