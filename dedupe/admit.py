"""Admit an intent: one transaction, a constant number of statements, whatever the number of items."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, text

from booking import keys
from booking.binding import Binding, Known, bind
from booking.errors import ErrorCode
from booking.handoff import Stop, StopReason
from booking.states import PENDING, State
from dedupe.admit_first import admit_first, new_item, new_key
from dedupe.guards import count_failed
from dedupe.submission import Admitted, Mismatch, Stopped, Submission, Wanted

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

# All items that may stand for what is asked. Locked, so that a settle in flight is either seen or waits for us.
_KNOWN_ITEMS = text("""
SELECT id, base, k, state, error ->> 'code' AS code, fingerprint, request, result ->> 'booking_id' AS booking_id
FROM items WHERE tenant_id = :tenant_id AND base = ANY(:bases) AND state <> 'superseded'
ORDER BY id FOR UPDATE
""")

# publish_at: should our own publish right after the commit get lost, the relay sends another after 5 s.
_INSERT_ITEMS = text("""
INSERT INTO items (tenant_id, conversation_id, key, base, k, reference, effect, queue, provider, fingerprint, request,
                   expires_at, publish_at, published)
SELECT :tenant_id, :conversation_id, w.key, w.base, w.k, w.reference, w.effect, w.queue, w.provider, w.fingerprint,
       w.request, now() + :lifetime * interval '1 s', now() + interval '5 s', 1
FROM jsonb_to_recordset(CAST(:items AS jsonb)) AS w(key text, base text, k int, reference text, effect text, queue text,
                                                    provider text, fingerprint text, request jsonb)
RETURNING id, key, queue
""")

# Known not executed, and asked for again: a full new budget. Other values need a new key at the provider. Whoever looks
# it up just now (an audit) loses the claim: its "still failed" must not undo this.
_ARM_ITEMS = text("""
UPDATE items SET state = 'queued', error = NULL, refusal = NULL, slow = false, stop_writes = false, settled_at = NULL,
    token = NULL, lease_until = NULL, writes = 0, failures = 0, rev = rev + 1,
    due_at = now(), publish_at = now() + interval '5 s', published = 1, blanked_at = NULL,
    fingerprint = w.fingerprint, request = w.request,
    key_generation = key_generation + (items.fingerprint <> w.fingerprint)::int,
    request_bytes = CASE WHEN items.fingerprint = w.fingerprint THEN request_bytes END,
    first_sent_at = CASE WHEN items.fingerprint = w.fingerprint THEN first_sent_at END
FROM jsonb_to_recordset(CAST(:items AS jsonb)) AS w(id bigint, fingerprint text, request jsonb)
WHERE items.id = w.id AND items.state IN ('failed', 'cancelled')
RETURNING items.id, items.queue
""")

# An item lives as long as the longest of its intents that are not cancelled; asked for, it may be written again.
_KEEP_ITEMS = text("""
UPDATE items i SET stop_writes = false, expires_at = (
    SELECT max(n.expires_at) FROM links l JOIN intents n ON n.id = l.intent_id
    WHERE l.item_id = i.id AND n.cancelled_at IS NULL)
WHERE i.id = ANY(:ids) AND i.state IN ('queued', 'running', 'unknown')
""")

_LINK = text("""
INSERT INTO links (intent_id, position, item_id)
SELECT :intent_id, l.position, l.item_id
FROM jsonb_to_recordset(CAST(:links AS jsonb)) AS l(position int, item_id bigint)
ON CONFLICT (intent_id, position) DO UPDATE SET item_id = excluded.item_id WHERE links.item_id <> excluded.item_id
""")


@dataclass(frozen=True)
class _Placed:
    """One asked effect with its place in the answer and what it is bound to."""

    position: int
    wanted: Wanted
    binding: Binding


def admit(engine: Engine, submission: Submission) -> Admitted:
    """Store the intent and its items, or find them, and say what to publish. Committed when this returns.

    Raises Mismatch where the key, or an item that can't be armed again, stands for other values; Stopped where the
    conversation is stopped, but for the same HTTP request as one that was taken before.
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
    if existed and submission.key_kind == "header":
        return Admitted(intent_id, existed=True, publish=[])
    if existed and not stop:
        # The failure of the asking before, if nobody has counted it yet: it may be the one too many.
        stop = count_failed(connection, [intent_id])
    if stop:
        return stop
    if existed:
        connection.execute(_RENEW_INTENT, {**_values(submission), "id": intent_id})
    known = _known(connection, submission)
    bound = _links(connection, intent_id) if existed else {}
    placed = _place(submission.wanted, known, bound)
    publish = _store(connection, submission, intent_id, placed, known)
    if all(_over(place) for place in placed):
        count_failed(connection, [intent_id])  # answered from the record
    return Admitted(intent_id, existed, publish)


def _lock(connection: Connection, submission: Submission) -> Stop | None:
    scope = {"tenant_id": submission.tenant_id, "conversation_id": submission.conversation_id}
    row = connection.execute(_LOCK_CONVERSATION, scope).one()
    return Stop(reason=StopReason(row.stop_reason), at=row.stopped_at) if row.stopped_at else None


def _over(place: _Placed) -> bool:
    binding = place.binding
    return binding.known is not None and not binding.arm and binding.known.state not in PENDING


def _intent(connection: Connection, submission: Submission) -> tuple[str, bool]:
    new_id = keys.new_id("int")
    if connection.execute(_INSERT_INTENT, {**_values(submission), "id": new_id}).first():
        return new_id, False
    return _find(connection, submission)


def _find(connection: Connection, submission: Submission) -> tuple[str, bool]:
    row = connection.execute(_EXISTING_INTENT, _values(submission)).first()
    if row is None:
        return "", False
    if submission.key_kind == "header" and row.fingerprint != submission.fingerprint:
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


@dataclass(frozen=True)
class _KnownItem:
    """A known item with what `bind` need not see."""

    known: Known
    base: str
    fingerprint: str
    request: dict[str, Any]
    booking_id: str | None


def _known(connection: Connection, submission: Submission) -> dict[int, _KnownItem]:
    bases = sorted({wanted.base for wanted in submission.wanted})
    rows = connection.execute(_KNOWN_ITEMS, {"tenant_id": submission.tenant_id, "bases": bases})
    return {
        row.id: _KnownItem(
            Known(row.id, row.k, State(row.state), ErrorCode(row.code) if row.code else None),
            row.base,
            row.fingerprint,
            row.request,
            row.booking_id,
        )
        for row in rows
    }


def _place(wanted: Sequence[Wanted], known: dict[int, _KnownItem], bound: dict[int, int]) -> list[_Placed]:
    """Bind every group of identical effects; positions keep the order of asking."""
    groups: dict[str, list[int]] = {}
    for position, effect in enumerate(wanted):
        groups.setdefault(effect.base, []).append(position)
    placed: list[_Placed] = []
    for base, positions in groups.items():
        candidates = [item.known for item in known.values() if item.base == base]
        fixed = {place: bound[position] for place, position in enumerate(positions) if position in bound}
        bindings = bind(len(positions), candidates, fixed)
        placed += [_Placed(at, wanted[at], binding) for at, binding in zip(positions, bindings, strict=True)]
    return placed


def _store(
    connection: Connection,
    submission: Submission,
    intent_id: str,
    placed: Sequence[_Placed],
    known: dict[int, _KnownItem],
) -> list[tuple[int, str]]:
    fresh = {_key(submission, place): place for place in placed if place.binding.known is None}
    ids = {place.position: place.binding.known.id for place in placed if place.binding.known}
    publish: list[tuple[int, str]] = []
    if fresh:
        for row in _insert(connection, submission, fresh):
            ids[fresh[row.key].position] = row.id
            publish.append((row.id, row.queue))
    old = [place.binding.known.id for place in placed if place.binding.known]
    publish += _meet_again(connection, placed, known) if old else []
    links = [{"position": position, "item_id": item_id} for position, item_id in ids.items()]
    connection.execute(_LINK, {"intent_id": intent_id, "links": json.dumps(links)})
    if old:
        connection.execute(_KEEP_ITEMS, {"ids": old})
    return publish


def _key(submission: Submission, place: _Placed) -> str:
    return new_key(submission.secret, place.wanted, place.binding.k)


def _insert(connection: Connection, submission: Submission, fresh: dict[str, _Placed]) -> Iterable[Any]:
    items = [new_item(submission.secret, place.wanted, place.binding.k, key) for key, place in fresh.items()]
    return connection.execute(
        _INSERT_ITEMS,
        {
            "tenant_id": submission.tenant_id,
            "conversation_id": submission.conversation_id,
            "lifetime": submission.lifetime,
            "items": json.dumps(items),
        },
    )


def _meet_again(
    connection: Connection, placed: Sequence[_Placed], known: dict[int, _KnownItem]
) -> list[tuple[int, str]]:
    """Arm what is known not to exist and may pass now; refuse other values for everything else."""
    arm = []
    for place in placed:
        binding = place.binding
        if binding.known is None:
            continue
        item = known[binding.known.id]
        if binding.arm:
            wanted = place.wanted
            arm.append({"id": item.known.id, "fingerprint": wanted.fingerprint, "request": wanted.request})
        elif item.fingerprint != place.wanted.fingerprint:
            differs = _differing(item.request, place.wanted.request)
            raise Mismatch("item", {"state": item.known.state.value, "booking_id": item.booking_id, "differs": differs})
    armed = connection.execute(_ARM_ITEMS, {"items": json.dumps(arm)}).all() if arm else []
    return [(row.id, row.queue) for row in armed]


def _differing(ours: dict[str, Any], theirs: dict[str, Any], within: str = "") -> list[str]:
    """The names of the values that differ, as paths."""
    names: list[str] = []
    for name in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(name), theirs.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            names += _differing(one, other, f"{within}{name}.")
        elif one != other:
            names.append(within + name)
    return names
