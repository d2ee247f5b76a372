"""The one layer that retries. Pure: an outcome, the item, what the provider declares, the time -> what comes next.

All times are the database's. `item` already counts the attempt that just ended: `writes` includes it, `doubts` holds it
only if it may have had an effect.
"""

from dataclasses import replace
from datetime import datetime

from booking.capabilities import Capabilities
from booking.effects import words
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
from booking.states import SETTLED, DeadLetter, Kind, State
from dedupe.items import AUDIT_SECONDS, Item
from tasks.decisions import (
    READ_BACKOFF,
    READ_LEAST,
    READ_TRIES,
    Again,
    Call,
    Decision,
    Give,
    Later,
    Park,
    Settle,
    duplicates,
)
from tasks.waits import (
    MISCONFIGURED_SECONDS,
    SHOW_UNKNOWN_AFTER,
    backoff,
    doubt_age,
    held_back_wait,
    key_live,
    look_again_wait,
    may_write,
    not_sent_wait,
    quiet_at,
    shown_state,
    unknown_wait,
    until,
)


def runnable(item: Item, now: datetime) -> bool:
    """Whether a worker may take the item up: due, and nobody holds it."""
    return item.due_at is not None and item.due_at <= now and not item.leased(now)


def decide(
    kind: Kind | None, outcome: Outcome | Finding | None, item: Item, caps: Capabilities, now: datetime
) -> Decision:
    """What comes next for `item` after an attempt of `kind` ended with `outcome`; None, None: at the start of a run."""
    if outcome is None:
        decision = _start(item, caps, now)
    elif isinstance(outcome, HeldBack):
        decision = _held_back(item, now, outcome)
    elif kind is Kind.WRITE:
        decision = _after_write(outcome, item, caps, now)
    else:
        decision = _after_check(outcome, item, caps, now)
    if isinstance(decision, Later) and decision.state is State.UNKNOWN and item.state is not State.UNKNOWN:
        # Whatever it waits for: what is shown as unknown, a person knows of.
        letter = (DeadLetter.UNKNOWN_OUTCOME, "in doubt for a minute")
        return replace(decision, letters=(*decision.letters, letter))
    return decision


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
            return Settle(State.SUCCEEDED, result=result, audit=_audit(item, caps))
        case Rejected(row, _, values):
            return _rejected(item, caps, now, tool_error(row, **(words(item.effect) | values)))
        case NotSent():
            return _not_sent(item, caps, now, outcome)
        case Misconfigured(cause):
            return _misconfigured(item, now, cause)
        case Unknown(cause):
            return _unknown(item, caps, now, cause)
        case _:
            raise TypeError(f"a write can't end as {type(outcome).__name__}")


def _after_check(outcome: Outcome | Finding, item: Item, caps: Capabilities, now: datetime) -> Decision:
    if caps.looks_first and not item.doubts and item.state not in SETTLED:
        return _after_first_look(outcome, item, caps, now)
    match outcome:
        case Found(result):
            return Settle(State.SUCCEEDED, result=result, letters=duplicates(item, outcome), audit=_audit(item, caps))
        case Mismatched(cause):
            return _mismatched(item, caps, cause)
        case Rejected(_, cause) if caps.looks_first:  # what it changes is not there, or not theirs, any more
            return _mismatched(item, caps, cause)
        case Absent(begun_at):
            return _absent(item, caps, now, begun_at)
        case NotSent() | Unknown():
            return _look_again(item, caps, now, outcome)
        case Misconfigured(cause):
            return _misconfigured(item, now, cause)
        case _:
            raise TypeError(f"a look-up can't end as {type(outcome).__name__}")


def _after_first_look(outcome: Outcome | Finding, item: Item, caps: Capabilities, now: datetime) -> Decision:
    """No write of it is in doubt: what was seen decides whether one is made at all."""
    match outcome:
        case Found(result):
            return Settle(State.SUCCEEDED, result=result, letters=duplicates(item, outcome))
        case Absent():
            return Call(Kind.WRITE) if may_write(item, now) else _given_up(item, caps, now)
        case Rejected(row, _, values):
            error = tool_error(row, **(words(item.effect) | values))
            return Settle(State.CANCELLED if error.code is ErrorCode.CANCELLED else State.FAILED, error)
        case Mismatched(cause):
            return Park(DeadLetter.MISMATCH, cause)
        case NotSent() | Unknown():
            return _not_sent(item, caps, now, outcome, looks=True)
        case Misconfigured(cause):
            return _misconfigured(item, now, cause)
        case _:
            raise TypeError(f"a look can't end as {type(outcome).__name__}")


def _start(item: Item, caps: Capabilities, now: datetime) -> Decision:
    if item.state in SETTLED:
        # What a later item has changed tells nothing of this one any more; a reference goes on telling.
        overtaken = item.overtaken and caps.reads_back
        return Call(Kind.CHECK) if caps.can_look_up and not overtaken else _rest(item)
    if item.doubts:
        again = key_live(item, caps, now) and may_write(item, now) and not item.refusal
        if again and ((item.failures and not caps.reads_back) or not caps.can_look_up):
            # Under a live key the write itself is the best look-up, where looking up told nothing or is not possible.
            # Of what others may change, too, only reading tells whether they have: theirs must not be written over.
            return Call(Kind.WRITE, same_key=True)
        if caps.can_look_up:
            return Call(Kind.CHECK)
        return Park(DeadLetter.UNKNOWN_OUTCOME, "the write may have happened, and nothing can tell")
    if item.refusal:
        # It waited for the doubt about another write; a late answer has ended that.
        return Settle(State.FAILED, item.refusal, raise_generation=True, audit=_audit(item, caps, failed=True))
    if may_write(item, now):
        return Call(Kind.CHECK if caps.looks_first else Kind.WRITE)
    return _given_up(item, caps, now)


def _given_up(item: Item, caps: Capabilities, now: datetime) -> Settle:
    return replace(_not_written(item, now), audit=_audit(item, caps, failed=True))


def _not_written(item: Item, now: datetime) -> Settle:
    """No write and no doubt: it did not happen, and will not."""
    if item.stop_writes:
        return Settle(State.CANCELLED, tool_error("cancelled"))
    if item.error:
        detail = f"gave up after {item.failures} tries: {item.error.code}"
        return Settle(State.FAILED, item.error, letters=((DeadLetter.EXHAUSTED, detail),))
    if item.expires_at <= now:
        letters = ((DeadLetter.EXPIRED, "its time ran out before it was tried"),)
        return Settle(State.FAILED, tool_error("expired", **words(item.effect)), letters=letters)
    return Settle(State.FAILED, tool_error("unavailable", **words(item.effect)))


def _rest(item: Item) -> Settle:
    """A settled item stays as it is."""
    return Settle(item.state, item.error)


def _rejected(item: Item, caps: Capabilities, now: datetime, error: ToolError) -> Decision:
    if not item.doubts:
        # The refusal is stored at the provider under this key; asking again needs another.
        return Settle(State.FAILED, error, raise_generation=True, audit=_audit(item, caps, failed=True))
    return Later(until(quiet_at(item, caps, now), now), shown_state(item, now), refusal=error)


def _not_sent(item: Item, caps: Capabilities, now: datetime, outcome: NotSent | Unknown, looks: bool = False) -> Later:
    wait = not_sent_wait(item, caps, now, outcome.retry_after)
    if item.doubts:
        return Later(wait, shown_state(item, now), told_nothing=True)
    row = "rate_limited" if getattr(outcome, "code", None) is ErrorCode.RATE_LIMITED else "unavailable"
    return Later(wait, State.QUEUED, tool_error(row, **words(item.effect, looking=looks)), told_nothing=True)


def _held_back(item: Item, now: datetime, outcome: HeldBack) -> Later:
    """Nothing was tried and nothing is spent."""
    wait = held_back_wait(item, outcome)
    if item.state in SETTLED:
        return _audit_later(item, wait)
    if not item.doubts:
        wait = min(wait, until(item.expires_at, now))
    return Later(wait, shown_state(item, now), told_nothing=None, slow=outcome.sick)


def _misconfigured(item: Item, now: datetime, cause: str) -> Decision:
    if item.state in SETTLED:
        return _audit_later(item)
    letters = ((DeadLetter.MISCONFIGURED, cause),)
    if item.doubts:
        return Later(MISCONFIGURED_SECONDS, shown_state(item, now), letters=letters, told_nothing=True)
    wait = min(MISCONFIGURED_SECONDS, until(item.expires_at, now))
    error = tool_error("unavailable", **words(item.effect))
    return Later(wait, State.QUEUED, error=error, letters=letters, told_nothing=True)


def _unknown(item: Item, caps: Capabilities, now: datetime, cause: str) -> Decision:
    if caps.can_look_up:
        return Call(Kind.CHECK)
    if key_live(item, caps, now) and may_write(item, now):
        return Later(backoff(item), shown_state(item, now), told_nothing=True)
    return Park(DeadLetter.UNKNOWN_OUTCOME, cause)


def _look_again(item: Item, caps: Capabilities, now: datetime, outcome: NotSent | Unknown) -> Decision:
    """A look-up that told nothing."""
    if item.state in SETTLED:
        return _audit_later(item)
    # A provider that takes no more requests has told when to come back; that is no sign that it can't tell.
    throttled = isinstance(outcome, NotSent) and outcome.code is ErrorCode.RATE_LIMITED
    if not throttled and doubt_age(item, now) >= SHOW_UNKNOWN_AFTER:
        return Park(DeadLetter.UNKNOWN_OUTCOME, f"look-ups tell nothing: {outcome.cause}", unknown_wait(item, now))
    wait = look_again_wait(item, caps, now, outcome.retry_after)
    return Later(wait, shown_state(item, now), told_nothing=not throttled)


def _absent(item: Item, caps: Capabilities, now: datetime, begun_at: datetime) -> Decision:
    if item.state in SETTLED:
        return _rest(item)
    if key_live(item, caps, now) and may_write(item, now) and not item.refusal:
        return Call(Kind.WRITE)
    quiet = quiet_at(item, caps, now)
    if begun_at < quiet:
        return Later(until(quiet, now), shown_state(item, now))
    if not caps.absence_provable:
        detail = "the look-up finds nothing, which proves nothing at this provider"
        return Park(DeadLetter.UNKNOWN_OUTCOME, detail, unknown_wait(item, now))
    if may_write(item, now) and not item.refusal:
        return Call(Kind.WRITE, absent=True)
    settled = _not_written(item, now)
    return Settle(
        State.FAILED if item.refusal else settled.state,
        item.refusal or settled.error,
        absent=True,
        raise_generation=item.refusal is not None,
        audit=_audit(item, caps, failed=True),
    )


def _mismatched(item: Item, caps: Capabilities, cause: str) -> Decision:
    if item.state not in SETTLED:
        return Park(DeadLetter.MISMATCH, cause)
    if item.state in (State.SUCCEEDED, State.SUPERSEDED) or caps.reads_back:
        return _rest(item)  # cancelled or changed since: the guest's own doing, or the hotel's
    return replace(_rest(item), letters=((DeadLetter.MISMATCH, cause),))


def _audit(item: Item, caps: Capabilities, *, failed: bool = False) -> bool:
    """Two sends may have had an effect, or one had none as far as a look-up could tell: look once more, later."""
    return caps.can_look_up and item.state not in SETTLED and item.sends > (0 if failed else 1)


def _audit_later(item: Item, wait: float = AUDIT_SECONDS) -> Later:
    """The audit told nothing: again, with the settled state as it is."""
    return Later(wait, item.state, item.error, told_nothing=None, slow=False)
