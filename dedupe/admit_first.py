"""Admit one room that was never asked for before: the plain case, in one statement instead of six."""

import json
from typing import Any

from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from booking import keys
from booking.results import IntentRow, ItemRow
from booking.states import State
from dedupe.blocks import twin
from dedupe.placing import new_item, new_key
from dedupe.submission import Admitted, Submission, Wanted

# The conversation is locked as in `admit`; a stopped one gives no row, nor does a known intent or a known room, nor a
# guest of whom another booking may be in doubt, and nothing is stored then. What another admission commits while this
# one waits for the lock is not seen here; the unique keys of intent and item then fail the whole statement, for the
# first of identical rooms always has the same key. Either way the long road decides.
_STATEMENT = """
WITH conversation AS (
    INSERT INTO conversations (tenant_id, id, admitted)
    SELECT :tenant_id, :conversation_id, 1
    WHERE NOT EXISTS (SELECT FROM items WHERE tenant_id = :tenant_id AND base = :base)
      AND NOT EXISTS (SELECT FROM items WHERE tenant_id = :tenant_id AND moved_base = :base)
      AND NOT EXISTS (SELECT FROM intents WHERE tenant_id = :tenant_id AND key_kind = :key_kind AND key = :intent_key)
      AND NOT EXISTS (SELECT FROM items WHERE guest = :guest AND tenant_id = :tenant_id
                      AND (state = 'unknown' OR (doubted_at IS NOT NULL AND state IN ('queued', 'running'))))
    ON CONFLICT (tenant_id, id) DO UPDATE SET admitted = conversations.admitted + 1
        WHERE conversations.stopped_at IS NULL
    RETURNING id
), intent AS (
    INSERT INTO intents (id, tenant_id, conversation_id, tool, key_kind, key, call, fingerprint, expires_at)
    SELECT :id, :tenant_id, conversation.id, :tool, :key_kind, :intent_key, :call, :asked,
           now() + :lifetime * interval '1 s'
    FROM conversation
    RETURNING id, created_at, expires_at
), item AS (
    INSERT INTO items (tenant_id, conversation_id, key, base, k, reference, effect, queue, provider, fingerprint,
                       request, guest, stay, expires_at, publish_at, published)
    SELECT :tenant_id, :conversation_id, :key, :base, :k, :reference, :effect, :queue, :provider, :fingerprint,
           CAST(:request AS jsonb), :guest, :stay, intent.expires_at, now() + interval '5 s', 1
    FROM intent
    RETURNING id, tenant_id, conversation_id
), link AS (
    INSERT INTO links (intent_id, position, item_id) SELECT intent.id, 0, item.id FROM intent, item
)
SELECT item.id AS item_id, intent.created_at, intent.expires_at, {twin} AS twin FROM intent, item
"""
_ADMIT_FIRST = text(_STATEMENT.format(twin=twin(":guest", ":stay", "item", "item.id", "intent.created_at")))


def admit_first(engine: Engine, submission: Submission) -> Admitted | None:
    """Store an intent for one new room, committed when this returns. None: nothing was stored, take the long road."""
    if len(submission.wanted) != 1 or not _plain(submission):
        return None
    [wanted] = submission.wanted
    key = new_key(submission.secret, wanted, k=0, epoch=0)
    intent_id = keys.new_id("int")
    item = new_item(submission.secret, wanted, 0, 0, key)
    values = {
        **item,
        "request": json.dumps(wanted.request),
        "id": intent_id,
        "tenant_id": submission.tenant_id,
        "conversation_id": submission.conversation_id,
        "tool": submission.tool,
        "key_kind": submission.key_kind,
        "intent_key": submission.key,
        "call": submission.call,
        "asked": submission.fingerprint,
        "lifetime": submission.lifetime,
    }
    try:
        with engine.connect() as connection:
            row = connection.execute(_ADMIT_FIRST, values).first()
    except IntegrityError:  # the same was asked for at the same instant
        return None
    if row is None:
        return None
    stored = _as_stored(submission, intent_id, key, wanted, row)
    return Admitted(intent_id, existed=False, publish=[(row.item_id, wanted.queue)], row=stored)


def _plain(submission: Submission) -> bool:
    """Whether nothing but the same thing, or doubt about the same guest, can stand against it."""
    one = submission.wanted[0]
    return not (one.subject or one.refusal or one.additional or submission.refuse_duplicates)


def _as_stored(submission: Submission, intent_id: str, key: str, wanted: Wanted, row: Any) -> IntentRow:
    item = ItemRow(
        position=0,
        id=row.item_id,
        key=key,
        effect=wanted.effect,
        state=State.QUEUED,
        result=None,
        error=None,
        attempts=0,
        slow=False,
        request=wanted.request,
    )
    return IntentRow(
        id=intent_id,
        tenant_id=submission.tenant_id,
        key=submission.key,
        tool=submission.tool,
        conversation_id=submission.conversation_id,
        created_at=row.created_at,
        expires_at=row.expires_at,
        items=[item],
        twin=row.twin,
    )
