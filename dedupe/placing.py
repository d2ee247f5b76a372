"""Place what is wanted: which known item each effect stands for, which run again, which are new. And store it so.

Within a transaction of `admit` or `expand`, a constant number of statements, whatever the number of items.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from booking import keys
from booking.binding import Known, bind
from booking.errors import ErrorCode
from booking.states import PENDING, State
from dedupe.peek import OVERTAKEN
from dedupe.submission import Mismatch, Wanted

# All items that may stand for what is asked, and those undone since, whose epochs are taken. Locked, so that a settle
# in flight is either seen or waits for us.
_SELECT_KNOWN = """
SELECT i.id, i.base, coalesce(i.moved_base, i.base) AS lives_at, i.k, i.epoch, i.state, i.error ->> 'code' AS code,
       i.fingerprint, i.request,
       i.result ->> 'booking_id' AS booking_id, {overtaken} AS overtaken
FROM items i WHERE i.tenant_id = :tenant_id AND (i.base = ANY(:bases) OR i.moved_base = ANY(:bases))
ORDER BY i.id FOR UPDATE OF i
"""
_KNOWN_ITEMS = text(_SELECT_KNOWN.format(overtaken=OVERTAKEN))

# publish_at: should our own publish right after the commit get lost, the relay sends another after 5 s; what nobody
# publishes is the relay's at once. What is refused already is recorded, and never due.
_INSERT_ITEMS = text("""
INSERT INTO items (tenant_id, conversation_id, key, base, k, epoch, reference, effect, queue, provider, fingerprint,
                   request, subject, guest, stay, expires_at, state, error, settled_at, due_at, publish_at, published)
SELECT :tenant_id, :conversation_id, w.key, w.base, w.k, w.epoch, w.reference, w.effect, w.queue, w.provider,
       w.fingerprint, w.request, w.subject, w.guest, w.stay, now() + :lifetime * interval '1 s',
       CASE WHEN w.error IS NULL THEN 'queued' ELSE 'failed' END, w.error,
       CASE WHEN w.error IS NOT NULL THEN now() END, CASE WHEN w.error IS NULL THEN now() END,
       CASE WHEN w.error IS NULL THEN now() + :published * interval '5 s' END, :published
FROM jsonb_to_recordset(CAST(:items AS jsonb)) AS w(key text, base text, k int, epoch int, reference text, effect text,
    queue text, provider text, fingerprint text, request jsonb, subject text, guest text, stay text, error jsonb)
RETURNING id, key, queue, due_at IS NOT NULL AS due
""")

# Known not executed, and asked for again: a full new budget. Other values need a new key at the provider. Whoever looks
# it up just now (an audit) loses the claim: its "still failed" must not undo this.
_ARM_ITEMS = text("""
UPDATE items SET state = 'queued', error = NULL, refusal = NULL, slow = false, stop_writes = false, settled_at = NULL,
    token = NULL, lease_until = NULL, writes = 0, failures = 0, rev = rev + 1, result = NULL,
    due_at = now(), publish_at = now() + :published * interval '5 s', published = :published, blanked_at = NULL,
    fingerprint = w.fingerprint, request = w.request,
    key_generation = key_generation + (items.fingerprint <> w.fingerprint)::int,
    request_bytes = CASE WHEN items.fingerprint = w.fingerprint THEN request_bytes END,
    first_sent_at = CASE WHEN items.fingerprint = w.fingerprint THEN first_sent_at END
FROM jsonb_to_recordset(CAST(:items AS jsonb)) AS w(id bigint, fingerprint text, request jsonb, repeats boolean)
WHERE items.id = w.id AND (items.state IN ('failed', 'cancelled') OR (w.repeats AND items.state = 'succeeded'))
RETURNING items.id, items.queue
""")


# An item lives as long as the longest of its intents that are not cancelled; asked for, it may be written again. Summed
# up once for all: a plan made while the tables were small would read all links of an intent for each of its thousands.
_KEEP = text("""
UPDATE items i SET stop_writes = false, expires_at = w.until
FROM (SELECT l.item_id, max(n.expires_at) AS until FROM links l JOIN intents n ON n.id = l.intent_id
      WHERE l.item_id = ANY(:ids) AND n.cancelled_at IS NULL GROUP BY l.item_id) w
WHERE i.id = w.item_id AND i.state IN ('queued', 'running', 'unknown')
""")


@dataclass(frozen=True)
class Owner:
    """Whose items they are. `lifetime` in seconds; `published`: the caller sends the messages itself, at once."""

    tenant_id: str
    conversation_id: str
    secret: bytes
    lifetime: float
    published: bool


@dataclass(frozen=True)
class Armed:
    """A known item with the values that it shall run with. `repeats`: also if it has succeeded."""

    id: int
    fingerprint: str
    request: dict[str, Any]
    repeats: bool = False


@dataclass(frozen=True)
class KnownItem:
    """A known item with what `bind` need not see. `lives_at`: the base by which it is asked for now."""

    known: Known
    base: str
    lives_at: str
    epoch: int
    request: dict[str, Any]
    booking_id: str | None
    history: bool

    @property
    def gone(self) -> bool:
        """Known not to exist."""
        return self.known.gone


@dataclass(frozen=True)
class Place:
    """One asked effect with its place in the answer: an item that exists, run again if `arm`, or a new one.

    `before` are the known items of the same base.
    """

    position: int
    wanted: Wanted
    item: KnownItem | None
    k: int
    epoch: int
    arm: bool
    before: Sequence[KnownItem]

    @property
    def new(self) -> bool:
        """Whether no item stands for it yet."""
        return self.item is None

    @property
    def over(self) -> bool:
        """Whether its end is known already."""
        if self.item is None:
            return self.wanted.refusal is not None
        return not self.arm and self.item.known.state not in PENDING

    def key(self, secret: bytes) -> str:
        """The key of a new item for it."""
        return new_key(secret, self.wanted, self.k, self.epoch)


def known_items(connection: Connection, tenant_id: str, wanted: Sequence[Wanted]) -> dict[int, KnownItem]:
    """The items of the same bases, by id; those that stand for nothing any more are `history`."""
    rows = connection.execute(_KNOWN_ITEMS, {"tenant_id": tenant_id, "bases": sorted({one.base for one in wanted})})
    return {
        row.id: KnownItem(
            Known(row.id, row.k, State(row.state), ErrorCode(row.code) if row.code else None, row.fingerprint),
            row.base,
            row.lives_at,
            row.epoch,
            row.request,
            row.booking_id,
            row.state == State.SUPERSEDED or (row.overtaken and State(row.state) in (State.FAILED, State.CANCELLED)),
        )
        for row in rows
    }


def place(wanted: Sequence[Wanted], known: Mapping[int, KnownItem], bound: Mapping[int, int]) -> list[Place]:
    """Bind every group of identical effects; positions keep the order of asking. `bound`: position -> item id."""
    groups: dict[str, list[int]] = {}
    for position, effect in enumerate(wanted):
        groups.setdefault(effect.base, []).append(position)
    by_base: dict[str, list[KnownItem]] = {}
    for item in known.values():
        for base in {item.base, item.lives_at}:
            by_base.setdefault(base, []).append(item)
    places: list[Place] = []
    for base, positions in groups.items():
        items = [item for item in by_base.get(base, []) if item.lives_at == base]
        taken = [item for item in by_base.get(base, []) if item.base == base]
        fixed = {at: bound[position] for at, position in enumerate(positions) if position in bound}
        more = {at for at, position in enumerate(positions) if wanted[position].additional}
        values = [wanted[position].fingerprint for position in positions]
        bindings = bind(len(positions), [item.known for item in items if not item.history], fixed, more, values)
        for position, binding in zip(positions, bindings, strict=True):
            found = known[binding.known.id] if binding.known else None
            epochs = [item.epoch for item in taken if item.known.k == binding.k]
            arm = found is not None and _arms(found, wanted[position])
            epoch = max(epochs, default=-1) + 1
            places.append(Place(position, wanted[position], found, binding.k, epoch, arm, items))
    return places


def _arms(item: KnownItem, wanted: Wanted) -> bool:
    """Whether asking again runs it again. Refused for good: only with other values."""
    if wanted.refusal is not None:
        return False
    if item.gone:
        return item.known.may_pass or item.known.values != wanted.fingerprint
    return wanted.repeats and item.known.state is State.SUCCEEDED


def store(
    connection: Connection, owner: Owner, places: Sequence[Place]
) -> tuple[dict[int, int], list[tuple[int, str]]]:
    """Insert what is new, arm what runs again. Gives position -> item id, and what is due as (id, queue)."""
    ids = {one.position: one.item.known.id for one in places if one.item}
    fresh = {one.key(owner.secret): one for one in places if one.item is None}
    due: list[tuple[int, str]] = []
    if fresh:
        items = [new_item(owner.secret, one.wanted, one.k, one.epoch, key) for key, one in fresh.items()]
        values = {
            "tenant_id": owner.tenant_id,
            "conversation_id": owner.conversation_id,
            "lifetime": owner.lifetime,
            "published": int(owner.published),
            "items": json.dumps(items),
        }
        for row in connection.execute(_INSERT_ITEMS, values):
            ids[fresh[row.key].position] = row.id
            if row.due:
                due.append((row.id, row.queue))
    again = [
        Armed(one.item.known.id, one.wanted.fingerprint, one.wanted.request, one.wanted.repeats)
        for one in places
        if one.arm and one.item
    ]
    return ids, due + arm(connection, again, published=owner.published)


def arm(connection: Connection, items: Sequence[Armed], *, published: bool) -> list[tuple[int, str]]:
    """Let known items, which the caller has locked, run again; gives them as (id, queue)."""
    if not items:
        return []
    values = {"items": json.dumps([vars(item) for item in items]), "published": int(published)}
    return [(row.id, row.queue) for row in connection.execute(_ARM_ITEMS, values)]


def refuse_other_values(places: Sequence[Place]) -> None:
    """Raise Mismatch where an item that exists, or may, stands for other values than are asked for."""
    for one in places:
        item = one.item
        if item is None or item.gone or one.arm or one.wanted.refusal or item.known.values == one.wanted.fingerprint:
            continue
        differs = differing(item.request, one.wanted.request)
        raise Mismatch("item", {"state": item.known.state.value, "booking_id": item.booking_id, "differs": differs})


def keep(connection: Connection, ids: Sequence[int]) -> None:
    """Let those of the items that are open live as long as their intents. After they are linked."""
    connection.execute(_KEEP, {"ids": list(ids)})


def new_key(secret: bytes, wanted: Wanted, k: int, epoch: int) -> str:
    """The key of the k-th of identical effects, in the epoch since it was last undone."""
    return keys.item_key(secret, wanted.scope, wanted.effect, wanted.base, k, epoch)


def new_item(secret: bytes, wanted: Wanted, k: int, epoch: int, key: str) -> dict[str, Any]:
    """The columns of a new item that depend on what is wanted."""
    return {
        "key": key,
        "base": wanted.base,
        "k": k,
        "epoch": epoch,
        "reference": keys.reference_of(secret, key),
        "effect": wanted.effect,
        "queue": wanted.queue,
        "provider": wanted.provider,
        "fingerprint": wanted.fingerprint,
        "request": wanted.request,
        "subject": wanted.subject,
        "guest": wanted.guest,
        "stay": wanted.stay,
        "error": wanted.refusal.model_dump(mode="json") if wanted.refusal else None,
    }


def differing(ours: dict[str, Any], theirs: dict[str, Any], within: str = "") -> list[str]:
    """The names of the values that differ, as paths."""
    names: list[str] = []
    for name in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(name), theirs.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            names += differing(one, other, f"{within}{name}.")
        elif one != other:
            names.append(within + name)
    return names
