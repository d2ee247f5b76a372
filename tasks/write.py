"""Run one item: peek, decide, call, decide, … until it rests, is due later, or waits for a person."""

import logging
from dataclasses import replace

from booking.effects import Effect
from booking.outcomes import Absent
from booking.states import Kind
from dedupe.items import Begun, Item
from dedupe.peek import any_due, peek
from dedupe.settle import close
from tasks.attempt import Attempt, attempt
from tasks.decide import decide, runnable
from tasks.decisions import Call
from tasks.expand import run_expansion
from tasks.operations import OPERATIONS
from tasks.runtime import Runtime
from tasks.settling import closing_of, end

log = logging.getLogger("roomkey.write")


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
    if item.effect == Effect.ARRIVALS and item.provider in runtime.providers:
        return run_expansion(runtime, item)
    if item.effect not in OPERATIONS or not _knows(runtime, item):
        # An older worker during a deploy: the relay offers the item again, to whoever knows it.
        log.warning("item %d waits for a worker that knows %s at %s", item.id, item.effect, item.provider)
        return False
    return _run(runtime, item)


def _knows(runtime: Runtime, item: Item) -> bool:
    """Whether all the providers that it may call have an address here."""
    return all(OPERATIONS[item.effect].provider(item, kind) in runtime.providers for kind in Kind)


def _run(runtime: Runtime, item: Item) -> bool:
    caps = OPERATIONS[item.effect].capabilities(runtime.providers[item.provider].capabilities)
    decision = decide(None, None, item, caps, item.now)
    held: Begun | None = None
    last: Attempt | None = None
    while isinstance(decision, Call):
        if last is not None and last.begun is not None:
            close(runtime.engine, item, last.begun, closing_of(last, absent=decision.absent))
        if decision.absent:
            item = replace(item, doubts=())
        last = attempt(runtime, item, decision, held)
        if last is None:
            return False
        seen = last.outcome.seen if isinstance(last.outcome, Absent) else None
        item, held = replace(last.item, now=last.now, seen=seen or last.item.seen), last.begun or held
        decision = decide(last.kind, last.outcome, item, caps, last.now)
    end(runtime, item, held, last, decision)
    return True
