"""Begin an attempt: claim, mark and count in ONE committed statement, before the first byte is sent."""

import json
import uuid

from sqlalchemy import Engine, TextClause, text

from booking.states import Kind
from dedupe.items import Begun, Item

# A first write. It passes only on the peeked `rev`, unleased, without doubt, and while it may still be written. The row
# lock makes two of these queue up; the second sees another `rev`.
_FIRST_WRITE = """
    rev = :rev AND state IN ('queued', 'running', 'unknown')
    AND (lease_until IS NULL OR lease_until < clock_timestamp())
    AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.item_id = items.id AND a.kind = 'write'
                    AND (a.outcome IS NULL OR a.outcome = 'unknown'))
    AND expires_at > clock_timestamp() AND NOT stop_writes
"""

# A write again at the start of a run, under a live key: the key, which `decide` has looked at, stands in for a look-up.
_REPEAT = """
    rev = :rev AND state IN ('queued', 'running', 'unknown')
    AND (lease_until IS NULL OR lease_until < clock_timestamp())
    AND expires_at > clock_timestamp() AND NOT stop_writes
"""

# A write in the same run, after a look-up or under a live key: only for the holder of the claim, and still wanted.
_WRITE_AGAIN = """
    token = :token AND lease_until > clock_timestamp() AND state IN ('queued', 'running', 'unknown')
    AND expires_at > clock_timestamp() AND NOT stop_writes
"""

# A look-up, in the same run or of an item nobody holds; it changes no state.
_CHECK = """
    (token = :token AND lease_until > clock_timestamp())
    OR (rev = :rev AND (lease_until IS NULL OR lease_until < clock_timestamp()))
"""

# All in one shape. `publish_at` is the end of the lease: if this worker dies, the relay takes over then.
_BEGIN = """
WITH claimed AS (
    UPDATE items SET rev = rev + 1, token = :token, lease_until = clock_timestamp() + :lease * interval '1 s',
        publish_at = clock_timestamp() + :lease * interval '1 s', published = 0, attempts = attempts + 1 {changes}
    WHERE id = :id AND ({guard})
    RETURNING id, rev, key_generation, attempts
), opened AS (
    INSERT INTO attempts (item_id, kind, key_generation, may_send_until)
    SELECT id, '{kind}', key_generation, clock_timestamp() + :window * interval '1 s' FROM claimed
    RETURNING id, started_at, may_send_until
)
SELECT opened.id AS attempt_id, claimed.rev, claimed.attempts AS number, opened.started_at, opened.may_send_until
FROM claimed, opened
"""

# The bytes are stored at the first mark and sent again as they are. What the look before saw is stored with the mark: a
# later look must know how it was before the write.
_WRITES = """, seen = coalesce(CAST(:seen AS jsonb), seen),
        state = 'running', writes = writes + 1, doubted_at = coalesce(doubted_at, clock_timestamp()),
        request_bytes = coalesce(request_bytes, :body), first_sent_at = coalesce(first_sent_at, clock_timestamp())"""

_FIRST, _SAME_KEY, _AGAIN = (
    text(_BEGIN.format(kind="write", guard=guard, changes=_WRITES)) for guard in (_FIRST_WRITE, _REPEAT, _WRITE_AGAIN)
)
_LOOK = text(_BEGIN.format(kind="check", guard=_CHECK, changes=""))


def begin(
    engine: Engine,
    item: Item,
    kind: Kind,
    *,
    held: Begun | None,
    lease: float,
    send_window: float,
    body: bytes | None = None,
    same_key: bool = False,
) -> Begun | None:
    """Open an attempt of `kind` for `item`; None where the guard says no: peek again.

    `held` is the attempt whose claim this run holds, None at its start. `same_key`: an earlier write may be in doubt,
    and the caller knows the key to be live. `lease` and `send_window` are seconds. After `may_send_until` nothing may
    be sent for this attempt.
    """
    token = held.token if held else uuid.uuid4()
    values = {
        "id": item.id,
        "rev": held.rev if held else item.rev,
        "token": token,
        "lease": lease,
        "window": send_window,
        "body": body,
        "seen": json.dumps(item.seen) if item.seen is not None else None,
    }
    with engine.connect() as connection:
        row = connection.execute(_statement(kind, held, same_key), values).first()
    if row is None:
        return None
    return Begun(row.attempt_id, token, row.rev, row.number, row.started_at, row.may_send_until)


def _statement(kind: Kind, held: Begun | None, same_key: bool) -> TextClause:
    if kind is Kind.CHECK:
        return _LOOK
    if held is not None:
        return _AGAIN
    return _SAME_KEY if same_key else _FIRST
