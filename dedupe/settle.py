"""Settle: close the attempt and move the item, in ONE committed statement.

Closing an attempt needs no claim: what was seen was seen. Moving the item needs the claim, but for a proof of success,
which settles any item that is not succeeded, whoever brings it, late or not.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, TextClause, text

from booking.states import State
from dedupe.items import AUDIT_SECONDS, Begun, Closing, Item, Move, Settled
from dedupe.moves import Moved
from dedupe.peek import OVERTAKEN

# The row is locked first, so that `before` is what the move really starts from. A settled success never changes.
# The letters: those the decision asks for; a success that was told as a failure; a second success with another id.
# A mail that was not sent is written anew the next time: its guest's address may have been corrected.
# Letters that only waited for a verdict are closed by it. The host is told of what changes a word that was given: once
# shown as unknown, the verdict, even if the item has been written again meanwhile; late success; duplicates.
_SETTLE = """
WITH {closing}, before AS (
    SELECT id, tenant_id, state, shown_unknown, provider_id, token, rev, lease_until
    FROM items WHERE id = :id FOR UPDATE
), moved AS (
    UPDATE items i SET
        rev = i.rev + 1, token = NULL, lease_until = NULL, published = 0,
        state = CASE WHEN b.state IN ('succeeded', 'superseded') THEN b.state ELSE :state END,
        result = CASE WHEN b.state IN ('succeeded', 'superseded') THEN i.result ELSE CAST(:result AS jsonb) END,
        provider_id = CASE WHEN b.state IN ('succeeded', 'superseded') THEN i.provider_id ELSE :provider_id END,
        error = CASE WHEN :state = 'succeeded' OR b.state IN ('succeeded', 'superseded') THEN NULL
                     ELSE coalesce(CAST(:error AS jsonb), i.error) END,
        refusal = coalesce(CAST(:refusal AS jsonb), i.refusal),
        shown_unknown = :state = 'unknown' OR (i.shown_unknown AND :state = 'queued'),
        slow = :slow AND :state IN ('queued', 'unknown'),
        due_at = clock_timestamp() + {soon} * interval '1 s',
        publish_at = clock_timestamp() + {soon} * interval '1 s',
        writes = i.writes - :uncount,
        attempts = i.attempts + :unbegun,
        failures = CASE WHEN CAST(:told_nothing AS boolean) IS NULL THEN i.failures
                        WHEN :told_nothing THEN i.failures + 1 ELSE 0 END,
        doubted_at = CASE WHEN :in_doubt THEN coalesce(i.doubted_at, clock_timestamp()) END,
        key_generation = i.key_generation + CAST(:raise_generation AS int),
        request_bytes = CASE WHEN :raise_generation OR (:uncount = 1 AND NOT :in_doubt AND i.effect = 'reminder')
                             THEN NULL ELSE i.request_bytes END,
        first_sent_at = CASE WHEN :raise_generation THEN NULL ELSE i.first_sent_at END,
        settled_at = CASE WHEN b.state IN ('succeeded', 'superseded') THEN i.settled_at
                          WHEN :state IN ('succeeded', 'failed', 'cancelled')
                              THEN coalesce(i.settled_at, clock_timestamp()) END
    FROM before b
    WHERE i.id = b.id AND ({guard} OR (:proven AND b.state NOT IN ('succeeded', 'superseded')))
    RETURNING i.id
), letters AS (
    INSERT INTO dead_letters (tenant_id, item_id, reason, detail)
    SELECT b.tenant_id, b.id, l.reason, l.detail
    FROM before b, jsonb_to_recordset(CAST(:letters AS jsonb)) AS l(reason text, detail text)
    WHERE EXISTS (SELECT FROM moved)
    UNION ALL SELECT b.tenant_id, b.id, 'late_success', 'told as ' || b.state || ', exists as ' || :provider_id
    FROM before b WHERE :proven AND b.state IN ('failed', 'cancelled')
    UNION ALL SELECT b.tenant_id, b.id, 'duplicate', 'settled as ' || b.provider_id || ', exists as ' || :provider_id
    FROM before b WHERE :proven AND b.state IN ('succeeded', 'superseded') AND b.provider_id <> :provider_id
    ON CONFLICT (item_id, reason) WHERE closed_at IS NULL DO NOTHING
    RETURNING tenant_id, item_id, reason
), heard AS (
    UPDATE dead_letters d SET closed_at = clock_timestamp()
    WHERE :state IN ('succeeded', 'failed', 'cancelled') AND d.item_id = :id AND d.closed_at IS NULL
      AND d.reason IN ('unknown_outcome', 'misconfigured') AND EXISTS (SELECT FROM moved)
), told AS (
    INSERT INTO events (tenant_id, item_id, kind, detail)
    SELECT b.tenant_id, b.id, 'late_success', jsonb_build_object('from', b.state, 'to', :state)
    FROM before b, moved WHERE b.state IN ('failed', 'cancelled') AND :state = 'succeeded'
    UNION ALL SELECT b.tenant_id, b.id, 'verdict', jsonb_build_object('from', 'unknown', 'to', :state)
    FROM before b, moved WHERE b.shown_unknown AND :state IN ('succeeded', 'failed', 'cancelled')
    UNION ALL SELECT tenant_id, item_id, 'duplicate', '{{}}' FROM letters WHERE reason = 'duplicate'
){undoing}
SELECT EXISTS (SELECT FROM moved) AS moved, ARRAY(SELECT DISTINCT intent_id FROM links WHERE item_id = :id) AS wake
"""

# A cancelled reservation undoes its booking and all changes of it; other dates undo those before. What was undone may
# be asked for again. A moved booking lives on under its new dates: that is what its guest owns, what is told, and what
# whoever asks for these dates meets; the old ones may be booked anew. Proof of an older item, which an audit may bring
# after a newer one was asked for, undoes nothing: `last` is empty then.
_UNDOING = """, last AS (
    SELECT i.id, i.tenant_id, i.provider, i.subject, i.effect, i.request
    FROM items i, moved WHERE i.id = moved.id AND :proven AND NOT {overtaken}
), undone_changes AS (
    UPDATE items u SET state = 'superseded', superseded_by = b.id, rev = u.rev + 1
    FROM last b
    WHERE u.subject = b.subject AND u.tenant_id = b.tenant_id AND u.provider = b.provider AND u.id <> b.id
      AND u.effect = 'change' AND u.state = 'succeeded'
      AND (b.effect = 'cancel' OR u.request -> 'check_in' <> b.request -> 'check_in'
           OR u.request -> 'check_out' <> b.request -> 'check_out')
), undone_booking AS (
    UPDATE items u SET state = 'superseded', superseded_by = b.id, rev = u.rev + 1
    FROM last b
    WHERE b.effect = 'cancel' AND u.provider_id = b.subject AND u.tenant_id = b.tenant_id
      AND u.provider = b.provider AND u.effect = 'booking' AND u.state = 'succeeded'
), moved_booking AS (
    UPDATE items u SET result = u.result || w.dates, request = u.request || w.dates, fingerprint = w.fingerprint,
        moved_base = w.base, stay = w.stay
    FROM last b, jsonb_to_recordset(CAST(:moved AS jsonb)) AS w(id bigint, base text, fingerprint text, stay text,
        dates jsonb)
    WHERE b.effect = 'change' AND u.id = w.id AND u.provider_id = b.subject AND u.tenant_id = b.tenant_id
      AND u.provider = b.provider AND u.effect = 'booking' AND u.state = 'succeeded'
)"""

# `absent` closes the write attempts too: the look-up has proved that they did nothing. Those before it only: a look-up
# that stalled says nothing of a write that somebody else began meanwhile (ids rise in the order of beginning).
_CLOSE = """
closed AS (
    UPDATE attempts SET closed_at = clock_timestamp(), outcome = :outcome, cause = :cause
    WHERE id = :attempt_id AND outcome IS NULL
), undone AS (
    UPDATE attempts SET closed_at = coalesce(closed_at, clock_timestamp()), outcome = 'absent'
    WHERE :absent AND item_id = :id AND kind = 'write' AND id < :attempt_id
      AND (outcome IS NULL OR outcome = 'unknown')
)
"""

# What failed before it could begin (limiter, name, TCP, TLS) leaves a closed attempt, so that log and notice know it.
_RECORD = """
closed AS (
    INSERT INTO attempts (item_id, kind, key_generation, may_send_until, closed_at, outcome, cause)
    SELECT id, :kind, key_generation, clock_timestamp(), clock_timestamp(), :outcome, :cause
    FROM items WHERE id = :id AND rev = :rev AND CAST(:outcome AS text) IS NOT NULL
)
"""

# Cancelled while it ran, and nothing was written: it is told at once. A late proof while somebody else's write is open:
# that write may have made a second one, which an audit finds.
_SOON = """CASE
            WHEN i.stop_writes AND :state = 'queued' AND NOT :in_doubt THEN 0
            WHEN :proven AND EXISTS (SELECT FROM attempts a WHERE a.item_id = :id AND a.kind = 'write'
                AND a.id > :attempt_id AND (a.outcome IS NULL OR a.outcome = 'unknown')) THEN :audit
            ELSE CAST(:due_in AS float8) END"""

_HELD = "b.token = :token"
_PEEKED = "(b.rev = :rev AND (b.lease_until IS NULL OR b.lease_until < clock_timestamp()))"

_SETTLE_HELD = text(_SETTLE.format(closing=_CLOSE, guard=_HELD, soon=_SOON, undoing=""))
_UNDOING_LAST = _UNDOING.format(overtaken=OVERTAKEN)
_SETTLE_UNDOING = text(_SETTLE.format(closing=_CLOSE, guard=_HELD, soon=_SOON, undoing=_UNDOING_LAST))
_SETTLE_UNBEGUN_HELD = text(_SETTLE.format(closing=_RECORD, guard=_HELD, soon=_SOON, undoing=""))
_SETTLE_PEEKED = text(_SETTLE.format(closing=_RECORD, guard=_PEEKED, soon=_SOON, undoing=""))
_CLOSE_ONLY = text(f"WITH {_CLOSE} SELECT 1")


def close(engine: Engine, item: Item, begun: Begun, closing: Closing) -> None:
    """Close one attempt and go on with the claim: the run makes another call."""
    with engine.connect() as connection:
        connection.execute(_CLOSE_ONLY, _closing(item, begun, closing))


def settle(
    engine: Engine, item: Item, begun: Begun, closing: Closing, move: Move, moved: Sequence[Moved] = ()
) -> Settled:
    """Close the attempt `begun` and move its item, if this run still holds it or `move` carries a proof.

    `moved`: the bookings of a reservation that has other dates now.
    """
    values = {**_closing(item, begun, closing), **_move(move), "token": begun.token}
    with engine.connect() as connection:
        if item.subject is None or move.state is not State.SUCCEEDED:
            return _settle(connection, _SETTLE_HELD, values)
        values["moved"] = json.dumps([vars(one) for one in moved])
        return _settle(connection, _SETTLE_UNDOING, values)


def settle_within(connection: Connection, item: Item, begun: Begun, closing: Closing, move: Move) -> Settled:
    """`settle` within a transaction of the caller, which stores more together with it."""
    return _settle(connection, _SETTLE_HELD, {**_closing(item, begun, closing), **_move(move), "token": begun.token})


def settle_unbegun(
    engine: Engine, item: Item, held: Begun | None, kind: str, closing: Closing | None, move: Move
) -> Settled:
    """Move an item whose call could not begin (`closing` says why) or is not needed (None).

    `held` is the claim of an earlier attempt of the same run; without one the peeked `rev` is the guard.
    """
    values = {
        **_move(move),
        "id": item.id,
        "rev": held.rev if held else item.rev,
        "kind": kind,
        "outcome": closing.outcome if closing else None,
        "cause": closing.cause if closing else None,
        "unbegun": int(closing is not None),
        "attempt_id": 0,
    }
    with engine.connect() as connection:
        if held is None:
            return _settle(connection, _SETTLE_PEEKED, values)
        return _settle(connection, _SETTLE_UNBEGUN_HELD, {**values, "token": held.token})


def _settle(connection: Connection, statement: TextClause, values: dict[str, Any]) -> Settled:
    row = connection.execute(statement, values).one()
    return Settled(row.moved, tuple(row.wake))


def _closing(item: Item, begun: Begun, closing: Closing) -> dict[str, Any]:
    return {
        "id": item.id,
        "attempt_id": begun.attempt_id,
        "outcome": closing.outcome,
        "cause": closing.cause,
        "absent": closing.absent,
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "state": move.state.value,
        "due_in": move.due_in,
        "audit": AUDIT_SECONDS,
        "result": json.dumps(move.proof.result) if move.proof else None,
        "provider_id": move.proof.provider_id if move.proof else None,
        "proven": move.proof is not None and move.state is State.SUCCEEDED,
        "error": move.error.model_dump_json() if move.error else None,
        "refusal": move.refusal.model_dump_json() if move.refusal else None,
        "letters": json.dumps([{"reason": reason.value, "detail": detail} for reason, detail in move.letters]),
        "in_doubt": move.in_doubt,
        "slow": move.slow,
        "told_nothing": move.told_nothing,
        "uncount": int(move.uncount),
        "unbegun": 0,
        "raise_generation": move.raise_generation,
    }
