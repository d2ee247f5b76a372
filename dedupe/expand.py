"""Add what an expansion has found to the batch, and settle it, in ONE transaction: all of it is there, or none."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Engine, text

from booking.states import PENDING, State
from dedupe.items import Begun, Closing, Item, Move, Proof, Settled
from dedupe.placing import Owner, Place, known_items, place, store
from dedupe.settle import settle_within
from dedupe.submission import Wanted

#: Mails of one statement: no statement may come near the time that the database allows it.
AT_ONCE = 1000

# Two expansions for the same day, of two conversations or workers, come one after the other: the second finds the mails
# of the first. Then the claim: whoever lost it adds nothing.
_LOCK = text("SELECT pg_advisory_xact_lock(7266395, hashtext(:name))")
_CLAIM = text("""
SELECT t.secret, greatest(extract(epoch FROM i.expires_at - now()), 0) AS lifetime
FROM items i JOIN tenants t ON t.id = i.tenant_id
WHERE i.id = :id AND i.token = :token AND NOT i.stop_writes FOR UPDATE OF i
""")

# Each intent of the expansion gets those that it has not yet, behind those that it has.
_LINK_CHILDREN = text("""
WITH asking AS MATERIALIZED (
    SELECT l.intent_id, (SELECT max(position) FROM links m WHERE m.intent_id = l.intent_id) AS last
    FROM links l WHERE l.item_id = :parent
), linked AS MATERIALIZED (
    SELECT o.intent_id, o.item_id FROM links o WHERE o.intent_id IN (SELECT intent_id FROM asking)
), missing AS MATERIALIZED (
    SELECT n.intent_id, n.last, c.item_id, c.place
    FROM asking n CROSS JOIN unnest(CAST(:ids AS bigint[])) WITH ORDINALITY AS c(item_id, place)
    LEFT JOIN linked o ON o.intent_id = n.intent_id AND o.item_id = c.item_id WHERE o.item_id IS NULL
)
INSERT INTO links (intent_id, position, item_id)
SELECT intent_id, last + row_number() OVER (PARTITION BY intent_id ORDER BY place), item_id FROM missing
""")

# They live as long as the longest of the intents that are not cancelled.
_KEEP = text("""
UPDATE items i SET expires_at = p.expires_at
FROM items p
WHERE p.id = :parent AND i.id = ANY(:ids) AND i.state IN ('queued', 'running', 'unknown')
  AND i.expires_at < p.expires_at
""")


# Mails of the batch that were sent before this reading, also to those who do not arrive any more.
_SENT_BEFORE = text("""
SELECT count(DISTINCT i.id) FROM links l JOIN links c ON c.intent_id = l.intent_id JOIN items i ON i.id = c.item_id
WHERE l.item_id = :parent AND i.effect = 'reminder' AND i.state = 'succeeded'
""")


def expand(
    engine: Engine, item: Item, begun: Begun, closing: Closing, move: Move, wanted: Callable[[bytes], Sequence[Wanted]]
) -> Settled:
    """Store the effects that `wanted` makes with the tenant's secret, link them, and settle `item` by `move`.

    Not moved, and nothing stored, where this run does not hold the item any more, or it was cancelled meanwhile. The
    result tells how many arrivals there were, and what was known of them before.
    """
    with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
        connection.execute(_LOCK, {"name": f"{item.tenant_id} {item.request['property']} {item.request['date']}"})
        row = connection.execute(_CLAIM, {"id": item.id, "token": begun.token}).first()
        if row is None:
            return Settled(False)
        owner = Owner(item.tenant_id, item.conversation_id, bytes(row.secret), float(row.lifetime), published=False)
        places = _add(connection, item, owner, wanted(owner.secret))
        before = connection.execute(_SENT_BEFORE, {"parent": item.id}).scalar_one()
        known = {"sent_before": before, **_known_before(places)}
        proof = Proof("", {**(move.proof.result if move.proof else {}), **known})
        return settle_within(connection, item, begun, closing, replace(move, proof=proof))


def _add(connection: Connection, item: Item, owner: Owner, wanted: Sequence[Wanted]) -> list[Place]:
    if not wanted:
        return []
    places = place(wanted, known_items(connection, owner.tenant_id, wanted), {})
    ids: dict[int, int] = {}
    for first in range(0, len(places), AT_ONCE):
        ids |= store(connection, owner, places[first : first + AT_ONCE])[0]
    values: dict[str, Any] = {"parent": item.id, "ids": [ids[one.position] for one in places]}
    connection.execute(_LINK_CHILDREN, values)
    connection.execute(_KEEP, values)
    return places


def _known_before(places: Sequence[Place]) -> dict[str, int]:
    """Of the arrivals: how many were mailed before, wait for a person or a correction, are under way, or begin now."""
    counts = Counter(_standing(one) for one in places)
    names = ("already_sent", "being_confirmed", "under_way", "to_be_corrected", "to_send")
    return {name: counts[name] for name in names}


def _standing(one: Place) -> str:
    if one.item is None or one.arm:
        return "to_be_corrected" if one.wanted.refusal else "to_send"
    state = one.item.known.state
    if state is State.SUCCEEDED:
        return "already_sent"
    if state is State.UNKNOWN:
        return "being_confirmed"
    return "under_way" if state in PENDING else "to_be_corrected"
