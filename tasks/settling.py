"""The end of a run: what was decided becomes one committed statement, and those who wait are told."""

import logging

from booking.effects import Effect
from booking.outcomes import (
    Absent,
    Done,
    Finding,
    Found,
    HeldBack,
    Misconfigured,
    Mismatched,
    NotSent,
    Outcome,
    Rejected,
)
from booking.states import Kind, State
from dedupe.guards import note_failures
from dedupe.items import AUDIT_SECONDS, Begun, Closing, Item, Move, Proof, Settled
from dedupe.moves import Moved, bookings_of
from dedupe.pauses import pause
from dedupe.settle import settle, settle_unbegun
from tasks.attempt import Attempt
from tasks.decisions import Later, Park, Settle
from tasks.operations import OPERATIONS
from tasks.operations.booking import moved
from tasks.runtime import Runtime

log = logging.getLogger("roomkey.write")

_NAMES = {Done: "done", Rejected: "rejected", NotSent: "not_sent", Misconfigured: "misconfigured"}
_FINDINGS = {Found: "found", Mismatched: "mismatched", Absent: "absent"}


def end(
    runtime: Runtime, item: Item, held: Begun | None, last: Attempt | None, decision: Settle | Later | Park
) -> None:
    """Record how the run ended, and tell those who wait. `held`: the claim of an earlier attempt of the run."""
    absent = isinstance(decision, Settle) and decision.absent
    move = move_of(item, decision, last)
    if last is not None and last.begun is not None:
        closing = closing_of(last, absent=absent)
        settled = settle(runtime.engine, item, last.begun, closing, move, _moved(runtime, item, move))
    else:
        kind = last.kind if last else Kind.WRITE
        # Held back is no attempt: nothing was tried, nothing is recorded.
        tried = closing_of(last, absent=absent) if last and not isinstance(last.outcome, HeldBack) else None
        settled = settle_unbegun(runtime.engine, item, held, kind.value, tried, move)
    runtime.at("settled")
    if last is not None and isinstance(last.outcome, Misconfigured) and last.outcome.certain:
        _pause(runtime, last.provider, last.outcome.cause)
    tell(runtime, item, move, settled)


def _moved(runtime: Runtime, item: Item, move: Move) -> list[Moved]:
    """The bookings that a change of dates has moved."""
    if item.effect != Effect.CHANGE or move.state is not State.SUCCEEDED:
        return []
    booked = bookings_of(runtime.engine, item.tenant_id, item.provider, item.request["reservation_id"])
    return [moved(one, item.request["check_in"], item.request["check_out"]) for one in booked]


def _pause(runtime: Runtime, provider: str, cause: str) -> None:
    """Our own credentials or address are wrong: more calls only fail alike, and guests must not hear "not allowed"."""
    if pause(runtime.engine, provider, cause):
        log.error(
            "provider %s is paused (%s): mend its settings, then run `roomkey resume %s`", provider, cause, provider
        )


def tell(runtime: Runtime, item: Item, move: Move, settled: Settled) -> None:
    """Count a failure, and wake those who wait for the item."""
    if not settled.moved:
        log.warning("item %d was moved by somebody else; what this run saw is recorded with its attempt", item.id)
        return
    if move.state is State.FAILED:
        note_failures(runtime.engine, item.id)
    if move.state is not State.QUEUED:
        runtime.waker.wake(settled.wake)


def closing_of(last: Attempt, *, absent: bool) -> Closing:
    """How the attempt ended, as it is recorded."""
    outcome: Outcome | Finding = last.outcome
    name = _NAMES.get(type(outcome)) or _FINDINGS.get(type(outcome)) or "unknown"
    return Closing(name, getattr(outcome, "cause", None), absent)


def move_of(item: Item, decision: Settle | Later | Park, last: Attempt | None) -> Move:
    """The decision as the values of one UPDATE."""
    uncount = (
        last is not None
        and last.begun is not None
        and last.kind is Kind.WRITE
        and isinstance(last.outcome, NotSent | Misconfigured)
    )
    match decision:
        case Settle():
            return Move(
                state=decision.state,
                due_in=AUDIT_SECONDS if decision.audit else None,
                proof=_proof(item, decision),
                error=decision.error,
                letters=decision.letters,
                raise_generation=decision.raise_generation,
                uncount=uncount,
            )
        case Later():
            return Move(
                state=decision.state,
                due_in=decision.due_in,
                error=decision.error,
                refusal=decision.refusal,
                letters=decision.letters,
                in_doubt=bool(item.doubts),
                slow=decision.slow,
                told_nothing=decision.told_nothing,
                uncount=uncount,
            )
        case Park():
            return Move(
                state=State.UNKNOWN,
                due_in=decision.due_in,
                letters=((decision.reason, decision.detail),),
                in_doubt=True,
                slow=True,
                told_nothing=True,
                uncount=uncount,
            )


def _proof(item: Item, decision: Settle) -> Proof | None:
    if decision.result is None:
        return None
    name = OPERATIONS[item.effect].provider_id(decision.result) if item.effect in OPERATIONS else ""
    return Proof(name, decision.result)
