"""Run the failed items of an intent again: those known not to exist whose cause may pass. The others stay as they are.

One transaction with the locks of `admit`, in its order: conversation, intent, subjects, items by id. A constant number
of statements, whatever the number of items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from booking.errors import MAY_PASS
from booking.handoff import Stop, StopReason
from dedupe.blocks import Asker, Stay, Subject, lock, refuse_open, refuse_twin
from dedupe.guards import count_failed, note_failed_call
from dedupe.peek import OVERTAKEN
from dedupe.placing import Armed, arm, keep
from dedupe.submission import Blocked, Stopped

# A stop is read under the lock: none can slip in between.
_LOCK_CONVERSATION = text("""
SELECT c.id, c.stopped_at, c.stop_reason
FROM conversations c JOIN intents n ON n.tenant_id = c.tenant_id AND n.conversation_id = c.id
WHERE n.id = :id AND n.tenant_id = :tenant_id FOR UPDATE OF c
""")

# Against `prune`, which takes an intent's links away. An expansion may add some meanwhile: it needs only that the
# intent stays.
_LOCK_INTENT = text("""
SELECT n.tool, n.call, n.pruned_at IS NOT NULL AS pruned,
       coalesce((t.settings ->> 'refuse_duplicates')::boolean, false) AS strict
FROM intents n JOIN tenants t ON t.id = n.tenant_id WHERE n.id = :id FOR NO KEY UPDATE OF n
""")

# Without a lock: what they change must be locked before they are. An open item is never locked here, for an expansion
# that runs holds its own item while it waits for its mails'.
_FAILED = text("""
SELECT i.id, i.provider, i.subject, i.guest, i.stay FROM links l JOIN items i ON i.id = l.item_id
WHERE l.intent_id = :id AND i.state IN ('failed', 'cancelled') AND i.error ->> 'code' = ANY(:may_pass)
""")

# Those that are still failed: a late proof, or another intent's asking, may have come first.
_SELECT_LOCKED = """
SELECT i.id, i.fingerprint, i.request, i.provider, i.subject, i.guest, i.stay, {overtaken} AS overtaken
FROM items i
WHERE i.id = ANY(:ids) AND i.state IN ('failed', 'cancelled') AND i.error ->> 'code' = ANY(:may_pass)
ORDER BY i.id FOR UPDATE OF i
"""
_LOCK_ITEMS = text(_SELECT_LOCKED.format(overtaken=OVERTAKEN))

# A retry counts as an asking, whose failure is counted when it is told. One that runs nothing again leaves the intent's
# life, or its end, as it is.
_ASKED = text("""
UPDATE intents SET asked = asked + 1,
    expires_at = CASE WHEN :again THEN greatest(expires_at, now() + :lifetime * interval '1 s') ELSE expires_at END,
    cancelled_at = CASE WHEN NOT :again THEN cancelled_at END
WHERE id = :id
""")

#: What runs again, as (item id, queue).
Again = list[tuple[int, str]]


@dataclass(frozen=True)
class _Intent:
    """The locked intent. `strict`: its tenant refuses duplicates; `stop`: its conversation is stopped."""

    id: str
    tenant_id: str
    conversation_id: str
    tool: str
    call: str
    pruned: bool
    strict: bool
    stop: Stop | None


def retry(engine: Engine, tenant_id: str, intent_id: str, lifetime: Callable[[str], float]) -> Again | None:
    """Run the failed items again and give those to publish; committed when this returns.

    `lifetime`: tool -> seconds that the intent lives on at least, if anything runs again. None: the tenant has no such
    intent. A pruned one is left as it is. Raises Stopped where the conversation is stopped, and Blocked where something
    else must be settled first, or has come since; that has been counted as a failed call then.
    """
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        intent = _lock_intent(connection, tenant_id, intent_id)
        if intent is None:
            return None
        if intent.pruned:
            return []
        ended = _retry(connection, intent, lifetime)
    if isinstance(ended, Blocked):
        # As a call of its own: counted with the failure before it, it would stop the conversation before the agent was
        # told what to wait for.
        stop = note_failed_call(engine, tenant_id, intent.conversation_id, f"{intent.call}:retry", False)
        if stop is None:
            raise ended
        ended = stop
    if isinstance(ended, Stop):  # only now, so that a failure that was counted stays counted
        raise Stopped(tenant_id, intent.conversation_id, ended)
    return ended


def _lock_intent(connection: Connection, tenant_id: str, intent_id: str) -> _Intent | None:
    place = connection.execute(_LOCK_CONVERSATION, {"id": intent_id, "tenant_id": tenant_id}).first()
    if place is None:
        return None
    row = connection.execute(_LOCK_INTENT, {"id": intent_id}).one()
    stop = Stop(reason=StopReason(place.stop_reason), at=place.stopped_at) if place.stopped_at else None
    return _Intent(intent_id, tenant_id, place.id, row.tool, row.call, row.pruned, row.strict, stop)


def _retry(connection: Connection, intent: _Intent, lifetime: Callable[[str], float]) -> Again | Stop | Blocked:
    # The failure of the asking before, if nobody has counted it yet: it may be the one too many.
    stop = intent.stop or count_failed(connection, [intent.id])
    if stop:
        return stop
    failed = _locked(connection, intent)
    try:
        _refuse(connection, intent, failed)
    except Blocked as blocked:
        return blocked
    again = arm(connection, [Armed(row.id, row.fingerprint, row.request) for row in failed], published=True)
    connection.execute(_ASKED, {"id": intent.id, "again": bool(again), "lifetime": lifetime(intent.tool)})
    if again:
        keep(connection, [item_id for item_id, _ in again])
    return again


def _locked(connection: Connection, intent: _Intent) -> Sequence[Row[Any]]:
    """The items that may run again."""
    may_pass = sorted(MAY_PASS)
    found = connection.execute(_FAILED, {"id": intent.id, "may_pass": may_pass}).all()
    if not found:
        return []
    lock(connection, intent.tenant_id, _subjects(found), _stays(intent, found))
    values = {"ids": [row.id for row in found], "may_pass": may_pass}
    return connection.execute(_LOCK_ITEMS, values).all()


def _refuse(connection: Connection, intent: _Intent, failed: Sequence[Row[Any]]) -> None:
    """One open item a subject; and what was wished later must not be undone by what was wished before."""
    asker = Asker(intent.tenant_id, intent.conversation_id)
    refuse_open(connection, asker, _subjects(failed))
    refuse_twin(connection, asker, _stays(intent, failed))
    overtaken = next((row.subject for row in failed if row.overtaken), None)
    if overtaken is not None:
        raise Blocked("changed_since", subject=overtaken)


def _stays(intent: _Intent, rows: Sequence[Row[Any]]) -> set[Stay]:
    """The stays of which the tenant wants no second one."""
    return {Stay(row.guest, row.stay) for row in rows if row.stay} if intent.strict else set()


def _subjects(rows: Sequence[Row[Any]]) -> set[Subject]:
    return {Subject(row.provider, row.subject) for row in rows if row.subject}
