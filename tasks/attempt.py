"""One attempt: line open, mark committed, clock looked at, one send, outcome. Never raises for what a provider does."""

import logging
import time
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from booking.capabilities import Capabilities
from booking.outcomes import Done, Finding, Found, HeldBack, Misconfigured, NotSent, Outcome, Unknown
from booking.states import Kind, State
from dedupe.begin import begin
from dedupe.items import Begun, Item
from providers.gate import Closed, Health, Verdict
from providers.limiter import health_of
from providers.ports import Line, Unreachable
from tasks.clock import SendClock
from tasks.decisions import Call
from tasks.operations import OPERATIONS
from tasks.runtime import Runtime

log = logging.getLogger("roomkey.attempt")

#: Beyond the call's own deadline, seconds: time to record how it ended before anybody else may take the item up.
LEASE_MARGIN = 5.0
#: How often an item looks whether its provider is still paused; `resume` makes it due at once.
PAUSED_SECONDS = 30.0


@dataclass(frozen=True)
class Attempt:
    """How one attempt ended. `begun` is None where the call failed before its mark: nothing was sent.

    `item` counts the attempt; `now` is the database's time of its end; `provider` was called, or would have been.
    """

    kind: Kind
    outcome: Outcome | Finding
    begun: Begun | None
    item: Item
    now: datetime
    provider: str


def attempt(runtime: Runtime, item: Item, call: Call, held: Begun | None) -> Attempt | None:
    """Make one call for `item`, if pause and limiter let it through.

    None: the mark was refused, somebody else has moved the item.
    """
    kind = call.kind
    name = OPERATIONS[item.effect].provider(item, kind)
    if name in item.paused:
        return Attempt(kind, HeldBack(PAUSED_SECONDS, "paused", sick=True), None, item, item.now, name)
    started = time.monotonic()
    caps = runtime.providers[name].capabilities
    permit = runtime.limiter.enter(name, caps.connect_deadline + _deadline(caps, kind) + LEASE_MARGIN)
    if isinstance(permit, Closed):
        held_back = HeldBack(permit.wait, permit.cause, permit.sick)
        return Attempt(kind, held_back, None, item, later(item.now, started), name)
    health, ended = Health(Verdict.NONE), None
    try:
        ended = _try(runtime, name, item, call, held, started)
        health = health_of(ended.outcome) if ended else health
    finally:
        runtime.limiter.leave(name, permit, health)
    return ended


def _try(runtime: Runtime, name: str, item: Item, call: Call, held: Begun | None, started: float) -> Attempt | None:
    port = runtime.providers[name]
    try:
        line = port.connect()
    except Unreachable as failure:
        ended = Attempt(call.kind, NotSent(str(failure)), None, item, later(item.now, started), name)
    else:
        with closing(line):
            begun = _call(runtime, name, line, item, call, held)
        if begun is None:
            return None
        ended = begun
    _log(ended, started)
    return ended


def _call(runtime: Runtime, name: str, line: Line, item: Item, call: Call, held: Begun | None) -> Attempt | None:
    port, operation, kind = runtime.providers[name], OPERATIONS[item.effect], call.kind
    caps = port.capabilities
    writes = kind is Kind.WRITE
    body = (item.request_bytes if item.request_bytes is not None else operation.body(port, item)) if writes else b""
    deadline = _deadline(caps, kind)
    runtime.at("connected")
    clock = SendClock.start()
    begun = begin(
        runtime.engine,
        item,
        kind,
        held=held,
        lease=deadline + LEASE_MARGIN,
        send_window=caps.send_window,
        body=body if writes else None,
        same_key=call.same_key,
    )
    if begun is None:
        return None
    runtime.at("begun")
    started = time.monotonic()
    outcome: Outcome | Finding
    if clock.elapsed() >= caps.send_window:
        outcome = NotSent("the process was paused between the mark and the send")
    elif writes:
        outcome = operation.write(port, line, item, body)
    else:
        outcome = operation.check(port, line, item, begun.started_at)
    runtime.at("answered")
    counted = _count(item, begun, body, outcome) if writes else item
    return Attempt(kind, outcome, begun, counted, later(begun.started_at, started), name)


def _deadline(caps: Capabilities, kind: Kind) -> float:
    return caps.write_deadline if kind is Kind.WRITE else caps.read_deadline


def _count(item: Item, begun: Begun, body: bytes, outcome: Outcome | Finding) -> Item:
    """The item with this write in its sums: in doubt by it only if it may have had an effect."""
    if isinstance(outcome, NotSent | Misconfigured):
        return replace(item, state=State.RUNNING, request_bytes=body)
    return replace(
        item,
        state=State.RUNNING,
        request_bytes=body,
        writes=item.writes + 1,
        sends=item.sends + isinstance(outcome, Unknown | Done),
        first_sent_at=item.first_sent_at or begun.started_at,
        doubted_at=item.doubted_at or begun.started_at,
        last_send=max(item.last_send or begun.may_send_until, begun.may_send_until),
        doubts=(*item.doubts, begun.may_send_until) if isinstance(outcome, Unknown) else item.doubts,
    )


def later(start: datetime, started: float) -> datetime:
    """The database's time now, told by our own clock since it last told us."""
    return start + timedelta(seconds=time.monotonic() - started)


def _log(ended: Attempt, started: float) -> None:
    """One line an attempt, so that one search for the key tells the story of a write. No guest data."""
    item, outcome = ended.item, ended.outcome
    log.info(
        "attempt key=%s tool=%s reference=%s item=%d attempt=%s what=%s outcome=%s elapsed=%.3fs%s",
        item.key,
        item.effect,
        item.reference,
        item.id,
        ended.begun.number if ended.begun else "unbegun",
        ended.kind.value,
        type(outcome).__name__,
        time.monotonic() - started,
        _detail(item, outcome),
    )


def _detail(item: Item, outcome: Outcome | Finding) -> str:
    """What it made or found, or why it ended so."""
    if isinstance(outcome, Done | Found):
        return f" id={OPERATIONS[item.effect].provider_id(outcome.result)}"
    cause = getattr(outcome, "cause", None)
    return f" cause={cause!r}" if cause else ""
