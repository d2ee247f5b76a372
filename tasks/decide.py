"""The one layer that retries. Pure: an outcome, the item, what the provider declares, the time -> what comes next.

All times are the database's. `item` already counts the attempt that just ended: `writes` includes it, `doubts` holds it
only if it may have had an effect.
"""

import random
from datetime import datetime, timedelta

from booking.capabilities import Capabilities
from booking.errors import ErrorCode, ToolError, tool_error
from booking.outcomes import (
    Absent,
    Done,
    Failure,
    Finding,
    Found,
    HeldBack,
    Misconfigured,
    Mismatched,
    NotSent,
    Outcome,
    Rejected,
    Unknown,
)
from booking.states import DeadLetter, Kind, State
from dedupe.items import Item
from tasks.decisions import READ_BACKOFF, READ_LEAST, READ_TRIES, Again, Call, Decision, Give, Later, Park, Settle

#: Writes since an item was last armed. One repeat mends nearly all passing trouble; more only load a sick system.
MAX_WRITES = 2
#: Waits between tries that reached nobody, seconds: full jitter up to BACKOFF * 2^n, at most BACKOFF_MOST.
BACKOFF, BACKOFF_MOST = 1.0, 60.0
#: Waits between look-ups that told nothing, seconds: LOOK_AGAIN more each time, at most LOOK_AGAIN_MOST.
LOOK_AGAIN, LOOK_AGAIN_MOST = 5.0, 60.0
#: An item in doubt this long is shown as unknown, and a person is asked.
SHOW_UNKNOWN_AFTER = timedelta(minutes=1)
#: How often an unknown one is looked up, by how long it has been in doubt; then once a day.
UNKNOWN_SCHEDULE = (
    (timedelta(minutes=10), 300.0),
    (timedelta(hours=1), 900.0),
    (timedelta(hours=6), 3600.0),
)
#: With two sends, or a failure that rests on absence, one more look-up this long after it settled.
AUDIT_SECONDS = 300.0
#: Those who wait for a sick provider come back within this much of each other, seconds: fewer at once than a breaker
#: lets through after its probe, and all of them within the ten seconds in which throughput must be back.
HELD_BACK_SPREAD = 5.0
#: Our own credentials were refused: an operator's mend takes minutes.
MISCONFIGURED_SECONDS = 30.0

SETTLED = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.SUPERSEDED})


def runnable(item: Item, now: datetime) -> bool:
    """Whether a worker may take the item up: due, and nobody holds it."""
    return item.due_at is not None and item.due_at <= now and not item.leased(now)


def decide(
    kind: Kind | None, outcome: Outcome | Finding | None, item: Item, caps: Capabilities, now: datetime
) -> Decision:
    """What comes next for `item` after an attempt of `kind` ended with `outcome`; None, None: at the start of a run."""
    if outcome is None:
        return _start(item, caps, now)
    if isinstance(outcome, HeldBack):
        return _held_back(item, now, outcome)
    if kind is Kind.WRITE:
        return _after_write(outcome, item, caps, now)
    return _after_check(outcome, item, caps, now)


def decide_read(tries: int, outcome: Failure, left: float, chance: float) -> Again | Give:
    """What follows a read's call without an answer: `tries` calls so far, `left` seconds, `chance` in [0, 1).

    No wait is begun that leaves no time for a call after it: the agent is told at once instead.
    """
    limited, wait = False, 0.0
    match outcome:
        case Rejected(row, _, values):
            return Give(row, values)
        case Misconfigured():
            return Give("read_unavailable")
        case HeldBack(held, _, sick):
            limited, wait, tries = not sick, held + chance * READ_BACKOFF, 0
        case NotSent() | Unknown():
            limited = getattr(outcome, "code", None) is ErrorCode.RATE_LIMITED
            wait = max(chance * READ_BACKOFF * 2.0**tries, outcome.retry_after or 0.0)
    if tries >= READ_TRIES or wait + READ_LEAST > left:
        return Give("read_rate_limited" if limited else "read_unavailable", retry_after=wait)
    return Again(wait)


def _after_write(outcome: Outcome | Finding, item: Item, caps: Capabilities, now: datetime) -> Decision:
    match outcome:
        case Done(result):
            return Settle(State.SUCCEEDED, result=result, audit=item.writes > 1 and caps.can_look_up)
        case Rejected(row, _, values):
            return _rejected(item, caps, now, tool_error(row, **values))
        case NotSent():
            return _not_sent(item, caps, now, outcome)
        case Misconfigured(cause):
            return _misconfigured(item, now, cause)
        case Unknown(cause):
            return _unknown(item, caps, now, cause)
        case _:
            raise TypeError(f"a write can't end as {type(outcome).__name__}")


def _after_check(outcome: Outcome | Finding, item: Item, caps: Capabilities, now: datetime) -> Decision:
    match outcome:
        case Found(result):
            return Settle(State.SUCCEEDED, result=result, letters=_duplicates(outcome), audit=_audit(item, caps))
        case Mismatched(cause):
            return _rest(item) if item.state in SETTLED else Park(DeadLetter.MISMATCH, cause)
        case Absent(begun_at):
            return _absent(item, caps, now, begun_at)
        case NotSent() | Unknown():
            return _look_again(item, now, outcome)
        case Misconfigured(cause):
            return _misconfigured(item, now, cause)
        case _:
            raise TypeError(f"a look-up can't end as {type(outcome).__name__}")


def key_live(item: Item, caps: Capabilities, now: datetime) -> bool:
    """Whether a write sent now under the item's key can't have a second effect."""
    if not caps.honours_key(item.effect):
        return False
    # The mark, and with it `may_send_until`, comes only after the line is open.
    last_byte = now + timedelta(seconds=caps.connect_deadline + caps.send_window)
    return item.first_sent_at is None or item.first_sent_at + caps.key_life > last_byte


def quiet_at(item: Item, caps: Capabilities, now: datetime) -> datetime:
    """From then on a look-up that finds nothing proves that nothing happened, if the provider declares so."""
    return (item.last_send or now) + caps.idle_timeout + caps.settle_time


def _may_write(item: Item, now: datetime) -> bool:
    return item.writes < MAX_WRITES and item.expires_at > now and not item.stop_writes


def _start(item: Item, caps: Capabilities, now: datetime) -> Decision:
    if item.state in SETTLED:
        return Call(Kind.CHECK) if caps.can_look_up else _rest(item)
    if item.doubts:
        if caps.can_look_up:
            return Call(Kind.CHECK)
        if key_live(item, caps, now) and _may_write(item, now):
            return Call(Kind.WRITE)
        return Park(DeadLetter.UNKNOWN_OUTCOME, "the write may have happened, and nothing can tell")
    if item.refusal:
        # It waited for the doubt about another write; a late answer has ended that.
        return Settle(State.FAILED, item.refusal, raise_generation=True)
    if _may_write(item, now):
        return Call(Kind.WRITE)
    return _not_written(item, now)


def _not_written(item: Item, now: datetime) -> Settle:
    """No write and no doubt: it did not happen, and will not."""
    if item.stop_writes:
        return Settle(State.CANCELLED, tool_error("cancelled"))
    if item.error:
        detail = f"gave up after {item.failures} tries: {item.error.code}"
        return Settle(State.FAILED, item.error, letters=((DeadLetter.EXHAUSTED, detail),))
    if item.expires_at <= now:
        letter = (DeadLetter.EXPIRED, "its time ran out before it was tried")
        return Settle(State.FAILED, tool_error("expired"), letters=(letter,))
    return Settle(State.FAILED, tool_error("unavailable"))


def _rest(item: Item) -> Settle:
    """A settled item stays as it is."""
    return Settle(item.state, item.error)


def _rejected(item: Item, caps: Capabilities, now: datetime, error: ToolError) -> Decision:
    if not item.doubts:
        # The refusal is stored at the provider under this key; asking again needs another.
        return Settle(State.FAILED, error, raise_generation=True)
    return Later(_until(quiet_at(item, caps, now), now), _shown(item, now), refusal=error)


def _not_sent(item: Item, caps: Capabilities, now: datetime, outcome: NotSent) -> Decision:
    error = tool_error("rate_limited" if outcome.code is ErrorCode.RATE_LIMITED else "unavailable")
    wait = max(_backoff(item), outcome.retry_after or 0.0)
    if item.doubts:
        wait = max(wait, _until(quiet_at(item, caps, now), now))
        return Later(wait, _shown(item, now), told_nothing=True)
    # Never beyond its time: it is then settled at once, not told late.
    wait = min(wait, _until(item.expires_at, now))
    return Later(wait, State.QUEUED, error=error, told_nothing=True)


def _held_back(item: Item, now: datetime, outcome: HeldBack) -> Later:
    """Nothing was tried and nothing is spent. Spread out, so that not all who wait come back at the same instant."""
    wait = outcome.wait + _chance(item) * (HELD_BACK_SPREAD if outcome.sick else outcome.wait)
    if item.state in SETTLED:
        return Later(wait, item.state, item.error, slow=False)
    if not item.doubts:
        wait = min(wait, _until(item.expires_at, now))
    return Later(wait, _shown(item, now), slow=outcome.sick)


def _misconfigured(item: Item, now: datetime, cause: str) -> Decision:
    if item.state in SETTLED:
        return _rest(item)
    letters = ((DeadLetter.MISCONFIGURED, cause),)
    if item.doubts:
        return Later(MISCONFIGURED_SECONDS, _shown(item, now), letters=letters, told_nothing=True)
    wait = min(MISCONFIGURED_SECONDS, _until(item.expires_at, now))
    return Later(wait, State.QUEUED, error=tool_error("unavailable"), letters=letters, told_nothing=True)


def _unknown(item: Item, caps: Capabilities, now: datetime, cause: str) -> Decision:
    if caps.can_look_up:
        return Call(Kind.CHECK)
    if key_live(item, caps, now) and _may_write(item, now):
        return Later(_backoff(item), _shown(item, now), told_nothing=True)
    return Park(DeadLetter.UNKNOWN_OUTCOME, cause)


def _look_again(item: Item, now: datetime, outcome: NotSent | Unknown) -> Decision:
    """A look-up that told nothing. It is repeated, not the write: an answered look-up is cheap and has no effect."""
    if item.state in SETTLED:
        return _rest(item)
    # A provider that takes no more requests has told when to come back; that is no sign that it can't tell.
    throttled = isinstance(outcome, NotSent) and outcome.code is ErrorCode.RATE_LIMITED
    if throttled or _age(item, now) < SHOW_UNKNOWN_AFTER:
        wait = max(min(LOOK_AGAIN * (item.failures + 1), LOOK_AGAIN_MOST), outcome.retry_after or 0.0)
        return Later(wait, _shown(item, now), told_nothing=not throttled)
    return Park(DeadLetter.UNKNOWN_OUTCOME, f"look-ups tell nothing: {outcome.cause}", _unknown_wait(item, now))


def _absent(item: Item, caps: Capabilities, now: datetime, begun_at: datetime) -> Decision:
    if item.state in SETTLED:
        return _rest(item)
    if key_live(item, caps, now) and _may_write(item, now) and not item.refusal:
        return Call(Kind.WRITE)
    quiet = quiet_at(item, caps, now)
    if begun_at < quiet:
        return Later(_until(quiet, now), _shown(item, now))
    if not caps.absence_provable:
        detail = "the look-up finds nothing, which proves nothing at this provider"
        return Park(DeadLetter.UNKNOWN_OUTCOME, detail, _unknown_wait(item, now))
    if _may_write(item, now) and not item.refusal:
        return Call(Kind.WRITE, absent=True)
    settled = _not_written(item, now)
    return Settle(
        State.FAILED if item.refusal else settled.state,
        item.refusal or settled.error,
        absent=True,
        raise_generation=item.refusal is not None,
        audit=True,
    )


def _duplicates(found: Found) -> tuple[tuple[DeadLetter, str], ...]:
    """All that exist under our reference beside the one the guest is told of."""
    detail = f"exist too: {', '.join(found.others)}"
    return ((DeadLetter.DUPLICATE, detail),) if found.others else ()


def _audit(item: Item, caps: Capabilities) -> bool:
    return item.state not in SETTLED and item.writes > 1 and caps.can_look_up


def _age(item: Item, now: datetime) -> timedelta:
    return now - (item.doubted_at or now)


def _shown(item: Item, now: datetime) -> State:
    if item.state is State.UNKNOWN or _age(item, now) >= SHOW_UNKNOWN_AFTER:
        return State.UNKNOWN
    return State.QUEUED


def _unknown_wait(item: Item, now: datetime) -> float:
    age = _age(item, now)
    return next((wait for until, wait in UNKNOWN_SCHEDULE if age < until), 86_400.0)


def _until(moment: datetime, now: datetime) -> float:
    # A hair later than the moment, so that the run really starts after it.
    return max((moment - now).total_seconds(), 0.0) + 0.05


def _backoff(item: Item) -> float:
    """Full jitter."""
    return _chance(item) * min(BACKOFF * 2.0 ** min(item.failures + 1, 10), BACKOFF_MOST)


def _chance(item: Item) -> float:
    """A number in [0, 1), drawn from the item, so that the decision stays a function of its arguments."""
    return random.Random(f"{item.id}:{item.rev}").random()  # noqa: S311 - spreads load, hides nothing
