"""What stands against an intent: something in doubt or still open that must be settled first, or the tenant's wish.

Looked at within the transaction of `admit`, after the locks, before anything is stored.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Connection, TextClause, text

from booking.states import PENDING, State
from dedupe.placing import Place
from dedupe.submission import Blocked, Submission, Wanted

# Two conversations may want the same reservation, or the same stay: they are admitted one after the other.
_LOCK = text("""
SELECT pg_advisory_xact_lock(7266394, hashtext(name)) FROM unnest(CAST(:names AS text[])) AS name
ORDER BY hashtext(name)
""")


# Of the asking conversation alone: another one's intent tells whose booking that is.
_ASKER = """(SELECT l.intent_id FROM links l JOIN intents n ON n.id = l.intent_id
    WHERE l.item_id = i.id AND n.conversation_id = :conversation_id AND n.tenant_id = i.tenant_id
    ORDER BY l.intent_id LIMIT 1)"""


def _asked(statement: str) -> TextClause:
    """With `asker`: which intent of this conversation waits for the item, the one to poll; or NULL."""
    return text(statement.format(asker=_ASKER))


def _named(intent: str | None) -> str:
    return f" (intent {intent}: poll it)" if intent else ""


# The unique index would refuse it, too, but could not name what is in the way.
_OPEN_SUBJECT = _asked("""
SELECT i.subject, {asker} AS intent FROM items i
JOIN jsonb_to_recordset(CAST(:wanted AS jsonb)) AS w(subject text, provider text)
  ON i.subject = w.subject AND i.provider = w.provider
WHERE i.tenant_id = :tenant_id AND i.state IN ('queued', 'running', 'unknown') AND i.id <> ALL(:bound)
ORDER BY i.id LIMIT 1
""")

# The payment is locked, so that two at once are counted one after the other.
_GIVEN_BACK = text("""
SELECT coalesce(sum((request ->> 'amount')::numeric), 0) FROM items
WHERE subject = :subject AND provider = :provider AND tenant_id = :tenant_id AND effect = 'refund'
  AND state NOT IN ('failed', 'cancelled') AND id <> ALL(:bound)
""")

# In doubt: a write ended as unknown, or nobody is left who could tell how it ends. One that is being written just now
# by a living worker is not: rooms may be asked for one by one, or side by side. What is shown as unknown counts, too,
# if its write is proven absent by now: its guest was told to wait for it, and it may be about to be written again.
_GUEST_IN_DOUBT = _asked("""
SELECT {asker} AS intent FROM items i
JOIN jsonb_to_recordset(CAST(:wanted AS jsonb)) AS w(guest text, check_in date, check_out date)
  ON i.guest = w.guest AND (i.request ->> 'check_in')::date < w.check_out
  AND w.check_in < (i.request ->> 'check_out')::date
WHERE i.tenant_id = :tenant_id AND i.state IN ('queued', 'running', 'unknown')
  AND (i.state = 'unknown' OR (i.doubted_at IS NOT NULL AND EXISTS (
      SELECT FROM attempts a WHERE a.item_id = i.id AND a.kind = 'write' AND (a.outcome = 'unknown'
      OR (a.outcome IS NULL AND (i.lease_until IS NULL OR i.lease_until < clock_timestamp()))))))
ORDER BY i.id LIMIT 1
""")

_TWIN = """
(SELECT l.intent_id FROM items d JOIN links l ON l.item_id = d.id
 WHERE d.guest = {guest} AND d.stay = {stay} AND d.tenant_id = {owner}.tenant_id
   AND d.conversation_id <> {owner}.conversation_id AND d.id < {id}
   AND d.created_at > {created_at} - interval '10 minutes' AND d.state NOT IN ('failed', 'cancelled', 'superseded')
 ORDER BY d.id DESC, l.intent_id LIMIT 1)
"""


def twin(guest: str, stay: str, owner: str, id: str, created_at: str) -> str:
    """SQL for the intent of another conversation that asked for the same stay within ten minutes before, or NULL.

    `owner` names what has the columns tenant_id and conversation_id. It is shown as `possible_duplicate_of`.
    """
    return _TWIN.format(guest=guest, stay=stay, owner=owner, id=id, created_at=created_at)


_TWIN_OF_NEW = text(
    """
SELECT t.twin FROM (SELECT CAST(:tenant_id AS text) AS tenant_id, CAST(:conversation_id AS text) AS conversation_id) o
CROSS JOIN jsonb_to_recordset(CAST(:stays AS jsonb)) AS w(guest text, stay text)
CROSS JOIN LATERAL (SELECT {twin} AS twin) t
WHERE t.twin IS NOT NULL LIMIT 1
""".format(twin=twin("w.guest", "w.stay", "o", "9223372036854775807", "now()"))
)

_ASKER_OF = _asked("SELECT {asker} AS intent FROM items i WHERE i.id = :id")


@dataclass(frozen=True)
class Asker:
    """Who asks."""

    tenant_id: str
    conversation_id: str


@dataclass(frozen=True)
class Subject:
    """What an item changes: a reservation or payment, by its provider's id of it."""

    provider: str
    subject: str


@dataclass(frozen=True)
class Stay:
    """A stay by the hashes of its guest and of itself."""

    guest: str
    stay: str


def lock_wanted(connection: Connection, submission: Submission) -> None:
    """Lock what other conversations may want, too, until the commit. Before the known items are read."""
    stays = _stays(submission.wanted) if submission.refuse_duplicates else set()
    lock(connection, submission.tenant_id, _subjects(submission.wanted), stays)


def lock(
    connection: Connection, tenant_id: str, subjects: Collection[Subject], stays: Collection[Stay] = frozenset()
) -> None:
    """Lock these subjects and stays until the commit."""
    names = {f"{tenant_id} {one.provider} {one.subject}" for one in subjects}
    names |= {f"{tenant_id} {one.stay}" for one in stays}
    if names:
        connection.execute(_LOCK, {"names": sorted(names)})


def _subjects(wanted: Iterable[Wanted]) -> set[Subject]:
    return {Subject(one.provider, one.subject) for one in wanted if one.subject}


def _stays(wanted: Iterable[Wanted]) -> set[Stay]:
    return {Stay(one.guest, one.stay) for one in wanted if one.guest and one.stay}


def refuse_blocked(connection: Connection, submission: Submission, places: Sequence[Place]) -> None:
    """Raise Blocked where something must be settled first. Meeting a known item again is no new effect: it passes."""
    begin = [one for one in places if (one.new or one.arm) and one.wanted.refusal is None]
    _refuse_additional(connection, submission, places)
    bound = [one.item.known.id for one in places if one.item]
    asker = Asker(submission.tenant_id, submission.conversation_id)
    refuse_open(connection, asker, _subjects(one.wanted for one in begin), bound)
    _refuse_too_much(connection, submission, [one for one in begin if one.wanted.most is not None], bound)
    new_stays = [one for one in begin if one.new and one.wanted.guest]
    _refuse_guest_in_doubt(connection, submission, new_stays)
    stays = [one for one in begin if one.wanted.stay]
    if submission.refuse_duplicates:
        refuse_twin(connection, asker, _stays(one.wanted for one in stays))


def _refuse_additional(connection: Connection, submission: Submission, places: Sequence[Place]) -> None:
    for one in places:
        if not ((one.new or one.arm) and one.wanted.additional):
            continue
        before = [item for item in one.before if not item.history]
        waiting = [item for item in before if item.known.state in PENDING or item.known.state is State.UNKNOWN]
        if waiting:
            state, item_id = waiting[0].known.state, waiting[0].known.id
            place = {"id": item_id, "conversation_id": submission.conversation_id}
            intent = connection.execute(_ASKER_OF, place).scalar()
            raise Blocked("additional_in_doubt", state=state.value, intent=_named(intent))
        if not any(item.known.state is State.SUCCEEDED for item in before):
            raise Blocked("additional_to_nothing")


def _refuse_too_much(
    connection: Connection, submission: Submission, refunds: Sequence[Place], bound: Sequence[int]
) -> None:
    """Many small refunds are no way around the limit."""
    for one in refunds:
        values = {"tenant_id": submission.tenant_id, "provider": one.wanted.provider, "subject": one.wanted.subject}
        before = connection.execute(_GIVEN_BACK, {**values, "bound": list(bound)}).scalar_one()
        request = one.wanted.request
        if one.wanted.most is not None and before + Decimal(request["amount"]) > one.wanted.most:
            raise Blocked("over_limit", amount=f"{request['amount']} {request['currency']} more")


def refuse_open(connection: Connection, asker: Asker, subjects: Collection[Subject], bound: Sequence[int] = ()) -> None:
    """Raise Blocked where an item for one of these subjects is open, other than the `bound` ones."""
    if not subjects:
        return
    wanted = json.dumps([vars(one) for one in subjects])
    row = connection.execute(_OPEN_SUBJECT, {**vars(asker), "wanted": wanted, "bound": list(bound)}).first()
    if row is not None:
        raise Blocked("subject_in_doubt", subject=row.subject, intent=_named(row.intent))


def _refuse_guest_in_doubt(connection: Connection, submission: Submission, stays: Sequence[Place]) -> None:
    if not stays:
        return
    wanted = [
        {"guest": one.wanted.guest, **{name: one.wanted.request[name] for name in ("check_in", "check_out")}}
        for one in stays
    ]
    asker = Asker(submission.tenant_id, submission.conversation_id)
    row = connection.execute(_GUEST_IN_DOUBT, {**vars(asker), "wanted": json.dumps(wanted)}).first()
    if row is not None:
        raise Blocked("guest_in_doubt", intent=_named(row.intent))


def refuse_twin(connection: Connection, asker: Asker, stays: Collection[Stay]) -> None:
    """Raise Blocked where one of these stays was asked for in another conversation just now. After they are locked."""
    values = {**vars(asker), "stays": json.dumps([vars(one) for one in stays])}
    if stays and connection.execute(_TWIN_OF_NEW, values).scalar() is not None:
        raise Blocked("duplicate_refused")
