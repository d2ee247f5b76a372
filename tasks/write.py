"""Run one item: peek, decide, call, decide, … until it rests, is due later, or waits for a person."""

import logging
from dataclasses import replace

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
from dedupe.pauses import pause
from dedupe.peek import any_due, peek
from dedupe.settle import close, settle, settle_unbegun
from tasks.attempt import Attempt, attempt
from tasks.decide import decide, runnable
from tasks.decisions import Call, Later, Park, Settle
from tasks.operations import OPERATIONS
from tasks.runtime import Runtime

log = logging.getLogger("roomkey.write")

_NAMES = {Done: "done", Rejected: "rejected", NotSent: "not_sent", Misconfigured: "misconfigured"}
_FINDINGS = {Found: "found", Mismatched: "mismatched", Absent: "absent"}


def run_message(runtime: Runtime, item_id: int, queue: str) -> None:
    """What a message does: run the named item if it can run, else any due one of the same queue."""
    if run_item(runtime, item_id):
        return
    other = any_due(runtime.engine, queue)
    if other is not None and other != item_id:
        run_item(runtime, other)


def run_item(runtime: Runtime, item_id: int) -> bool:
    """Run an item once. False where there was nothing to run: unknown id, not due, or held by somebody else."""
    item = peek(runtime.engine, item_id)
    if item is None or not runnable(item, item.now):
        return False
    if item.provider not in runtime.providers or item.effect not in OPERATIONS:
        # An older worker during a deploy: the relay offers the item again, to whoever knows it.
        log.warning("item %d waits for a worker that knows %s at %s", item.id, item.effect, item.provider)
        return False
    return _run(runtime, item)


def _run(runtime: Runtime, item: Item) -> bool:
    caps = runtime.providers[item.provider].capabilities
    decision = decide(None, None, item, caps, item.now)
    held: Begun | None = None
    last: Attempt | None = None
    while isinstance(decision, Call):
        if last is not None and last.begun is not None:
            close(runtime.engine, item, last.begun, _closing(last, absent=decision.absent))
        if decision.absent:
            item = replace(item, doubts=())
        last = attempt(runtime, item, decision, held)
        if last is None:
            return False
        item, held = replace(last.item, now=last.now), last.begun or held
        decision = decide(last.kind, last.outcome, item, caps, last.now)
    _end(runtime, item, held, last, decision)
    return True


def _end(
    runtime: Runtime, item: Item, held: Begun | None, last: Attempt | None, decision: Settle | Later | Park
) -> None:
    absent = isinstance(decision, Settle) and decision.absent
    move = _move(item, decision, last)
    if last is not None and last.begun is not None:
        settled = settle(runtime.engine, item, last.begun, _closing(last, absent=absent), move)
    else:
        kind = last.kind if last else Kind.WRITE
        # Held back is no attempt: nothing was tried, nothing is recorded.
        closing = _closing(last, absent=absent) if last and not isinstance(last.outcome, HeldBack) else None
        settled = settle_unbegun(runtime.engine, item, held, kind.value, closing, move)
    runtime.at("settled")
    if last is not None and isinstance(last.outcome, Misconfigured) and last.outcome.certain:
        _pause(runtime, item.provider, last.outcome.cause)
    _tell(runtime, item, move, settled)


def _pause(runtime: Runtime, provider: str, cause: str) -> None:
    """Our own credentials or address are wrong: more calls only fail alike, and guests must not hear "not allowed"."""
    if pause(runtime.engine, provider, cause):
        log.error(
            "provider %s is paused (%s): mend its settings, then run `roomkey resume %s`", provider, cause, provider
        )


def _tell(runtime: Runtime, item: Item, move: Move, settled: Settled) -> None:
    if not settled.moved:
        log.warning("item %d was moved by somebody else; what this run saw is recorded with its attempt", item.id)
        return
    if move.state is State.FAILED:
        note_failures(runtime.engine, item.id)
    if move.state is not State.QUEUED:
        runtime.waker.wake(settled.wake)


def _closing(last: Attempt, *, absent: bool) -> Closing:
    outcome: Outcome | Finding = last.outcome
    name = _NAMES.get(type(outcome)) or _FINDINGS.get(type(outcome)) or "unknown"
    return Closing(name, getattr(outcome, "cause", None), absent)


def _move(item: Item, decision: Settle | Later | Park, last: Attempt | None) -> Move:
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
    return Proof(OPERATIONS[item.effect].provider_id(decision.result), decision.result)
