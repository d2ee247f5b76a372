"""Admit one room that was never asked for before: the plain case, in one statement instead of six."""

import json
from typing import Any

from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from booking import keys
from booking.results import IntentRow, ItemRow
from booking.states import State
from dedupe.submission import Admitted, Submission, Wanted

# The conversation is locked as in `admit`; a stopped one gives no row, nor does a known intent or a known room, and
# nothing is stored then. What another admission commits while this one waits for the lock is not seen here; the unique
# keys of intent and item then fail the whole statement, for the first of identical rooms always has the same key.
# Either way the long road decides.
_ADMIT_FIRST = text("""
WITH conversation AS (
    INSERT INTO conversations (tenant_id, id, admitted)
    SELECT :tenant_id, :conversation_id, 1
    WHERE NOT EXISTS (SELECT FROM items WHERE tenant_id = :tenant_id AND base = :base)
      AND NOT EXISTS (SELECT FROM intents WHERE tenant_id = :tenant_id AND key_kind = :key_kind AND key = :intent_key)
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
                       request, expires_at, publish_at, published)
    SELECT :tenant_id, :conversation_id, :key, :base, :k, :reference, :effect, :queue, :provider, :fingerprint,
           CAST(:request AS jsonb), intent.expires_at, now() + interval '5 s', 1
    FROM intent
    RETURNING id
), link AS (
    INSERT INTO links (intent_id, position, item_id) SELECT intent.id, 0, item.id FROM intent, item
)
SELECT item.id AS item_id, intent.created_at, intent.expires_at FROM intent, item
""")


def admit_first(engine: Engine, submission: Submission) -> Admitted | None:
    """Store an intent for one new room, committed when this returns. None: nothing was stored, take the long road."""
    if len(submission.wanted) != 1:
        return None
    [wanted] = submission.wanted
    key = new_key(submission.secret, wanted, k=0)
    intent_id = keys.new_id("int")
    item = new_item(submission.secret, wanted, 0, key)
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


def new_key(secret: bytes, wanted: Wanted, k: int) -> str:
    """The key of the k-th of identical effects."""
    return keys.item_key(secret, wanted.scope, wanted.effect, wanted.base, k, epoch=0)


def new_item(secret: bytes, wanted: Wanted, k: int, key: str) -> dict[str, Any]:
    """The columns of a new item that depend on what is wanted."""
    return {
        "key": key,
        "base": wanted.base,
        "k": k,
        "reference": keys.reference_of(secret, key),
        "effect": wanted.effect,
        "queue": wanted.queue,
        "provider": wanted.provider,
        "fingerprint": wanted.fingerprint,
        "request": wanted.request,
    }


def _as_stored(submission: Submission, intent_id: str, key: str, wanted: Wanted, row: Any) -> IntentRow:
    item = ItemRow(
        position=0,
        id=row.item_id,
        key=key,
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
    )
