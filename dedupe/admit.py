"""Admit an intent: one transaction, a constant number of statements, whatever the number of items."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, text

from booking import keys
from booking.handoff import Stop, StopReason
from dedupe.admit_first import admit_first
from dedupe.blocks import lock_wanted, refuse_blocked
from dedupe.guards import count_failed
from dedupe.placing import Owner, Place, keep, known_items, place, refuse_other_values, store
from dedupe.submission import Admitted, Mismatch, Stopped, Submission

# Locks the conversation: its intents are admitted one after the other, so that two of them can't both see "one room
# known" and each open a second one. A stop is read under the same lock: none can slip in between.
_LOCK_CONVERSATION = text("""
INSERT INTO conversations (tenant_id, id, admitted) VALUES (:tenant_id, :conversation_id, 1)
ON CONFLICT (tenant_id, id) DO UPDATE SET admitted = conversations.admitted + 1
RETURNING stopped_at, stop_reason
""")

# The unique key makes fifty equal requests one intent; the losers find no row returned and read the winner's.
_INSERT_INTENT = text("""
INSERT INTO intents (id, tenant_id, conversation_id, tool, key_kind, key, call, fingerprint, expires_at)
VALUES (:id, :tenant_id, :conversation_id, :tool, :key_kind, :key, :call, :fingerprint,
        now() + :lifetime * interval '1 s')
ON CONFLICT (tenant_id, key_kind, key) DO NOTHING
RETURNING id
""")

_EXISTING_INTENT = text("""
SELECT id, fingerprint, tool, conversation_id FROM intents
WHERE tenant_id = :tenant_id AND key_kind = :key_kind AND key = :key
""")

# Asked again: the intent lives on from now, also if it was cancelled or pruned.
_RENEW_INTENT = text("""
UPDATE intents SET expires_at = now() + :lifetime * interval '1 s', fingerprint = :fingerprint, asked = asked + 1,
    cancelled_at = NULL, pruned_at = NULL
WHERE id = :id
""")

_EXISTING_LINKS = text("SELECT position, item_id FROM links WHERE intent_id = :id")

_LINK = text("""
INSERT INTO links (intent_id, position, item_id)
SELECT :intent_id, l.position, l.item_id
FROM jsonb_to_recordset(CAST(:links AS jsonb)) AS l(position int, item_id bigint)
ON CONFLICT (intent_id, position) DO UPDATE SET item_id = excluded.item_id WHERE links.item_id <> excluded.item_id
""")


def admit(engine: Engine, submission: Submission) -> Admitted:
    """Store the intent and its items, or find them, and say what to publish. Committed when this returns.

    Raises Mismatch where the key, or an item that can't be armed again, stands for other values; Blocked where
    something must be settled first; Stopped where the conversation is stopped, but for the same HTTP request as one
    that was taken before.
    """
    first = admit_first(engine, submission)
    if first is not None:
        return first
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        admitted = _admit(connection, submission)
    if isinstance(admitted, Stop):  # only now, so that a failure that was counted stays counted
        raise Stopped(submission.tenant_id, submission.conversation_id, admitted)
    return admitted


def _admit(connection: Connection, submission: Submission) -> Admitted | Stop:
    stop = _lock(connection, submission)
    intent_id, existed = _find(connection, submission) if stop else _intent(connection, submission)
    if existed and submission.key_kind != "derived":
        return Admitted(intent_id, existed=True, publish=[])
    if existed and not stop:
        # The failure of the asking before, if nobody has counted it yet: it may be the one too many.
        stop = count_failed(connection, [intent_id])
    if stop:
        return stop
    if existed:
        connection.execute(_RENEW_INTENT, {**_values(submission), "id": intent_id})
    lock_wanted(connection, submission)
    known = known_items(connection, submission.tenant_id, submission.wanted)
    places = place(submission.wanted, known, _links(connection, intent_id) if existed else {})
    refuse_other_values(places)
    refuse_blocked(connection, submission, places)
    ids, publish = store(connection, _owner(submission), places)
    _link(connection, intent_id, ids, places)
    if all(one.over for one in places):
        count_failed(connection, [intent_id])  # answered from the record
    return Admitted(intent_id, existed, publish)


def _owner(submission: Submission) -> Owner:
    return Owner(
        submission.tenant_id, submission.conversation_id, submission.secret, submission.lifetime, published=True
    )


def _lock(connection: Connection, submission: Submission) -> Stop | None:
    scope = {"tenant_id": submission.tenant_id, "conversation_id": submission.conversation_id}
    row = connection.execute(_LOCK_CONVERSATION, scope).one()
    return Stop(reason=StopReason(row.stop_reason), at=row.stopped_at) if row.stopped_at else None


def _intent(connection: Connection, submission: Submission) -> tuple[str, bool]:
    new_id = keys.new_id("int")
    if connection.execute(_INSERT_INTENT, {**_values(submission), "id": new_id}).first():
        return new_id, False
    return _find(connection, submission)


def _find(connection: Connection, submission: Submission) -> tuple[str, bool]:
    row = connection.execute(_EXISTING_INTENT, _values(submission)).first()
    if row is None:
        return "", False
    if submission.key_kind != "derived" and row.fingerprint != submission.fingerprint:
        raise Mismatch("intent", {"id": row.id, "tool": row.tool, "conversation_id": row.conversation_id})
    return row.id, True


def _values(submission: Submission) -> dict[str, Any]:
    return {
        "tenant_id": submission.tenant_id,
        "conversation_id": submission.conversation_id,
        "tool": submission.tool,
        "key_kind": submission.key_kind,
        "key": submission.key,
        "call": submission.call,
        "fingerprint": submission.fingerprint,
        "lifetime": submission.lifetime,
    }


def _links(connection: Connection, intent_id: str) -> dict[int, int]:
    return {row.position: row.item_id for row in connection.execute(_EXISTING_LINKS, {"id": intent_id})}


def _link(connection: Connection, intent_id: str, ids: dict[int, int], places: Sequence[Place]) -> None:
    links = [{"position": position, "item_id": item_id} for position, item_id in ids.items()]
    connection.execute(_LINK, {"intent_id": intent_id, "links": json.dumps(links)})
    old = [one.item.known.id for one in places if one.item]
    if old:
        keep(connection, old)
