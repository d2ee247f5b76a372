"""Run an expansion: read the arrivals until two passes agree, then add a mail for each of them to the batch."""

import logging
import time
from dataclasses import replace
from datetime import date, datetime
from functools import partial

from booking.capabilities import Capabilities
from booking.errors import tool_error
from booking.outcomes import (
    Failure,
    Found,
    HeldBack,
    Misconfigured,
    NotSent,
    Rejected,
    Reservation,
    Unknown,
)
from booking.reads import ListArrivals
from booking.states import Kind, State
from dedupe.begin import begin
from dedupe.expand import expand
from dedupe.items import Begun, Item
from providers.ports import ArrivalsPage
from tasks.attempt import LEASE_MARGIN, PAUSED_SECONDS, Attempt, later
from tasks.decide import decide
from tasks.decisions import Call, Give, Later, Park, Settle
from tasks.operations.arrivals import mails
from tasks.read import Asked
from tasks.runtime import Runtime
from tasks.settling import closing_of, end, move_of, tell

log = logging.getLogger("roomkey.expand")

#: For all pages of all passes. The lease lasts as long, so a dead worker's expansion waits for so long.
EXPAND_SECONDS = 120.0
#: Arrivals that still differ between passes after so many are read again later.
MOST_PASSES = 6
#: More than any hotel has rooms; beyond this the hotel system is not believed.
MOST_ARRIVALS = 20_000


#: One reading of all pages, by id: an arrival that came twice counts once.
_Pass = dict[str, Reservation]


class _NoAnswer(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(type(failure).__name__)
        self.failure = failure


def run_expansion(runtime: Runtime, item: Item) -> bool:
    """Run it once. False where somebody else has moved the item."""
    caps = replace(runtime.providers[item.provider].capabilities, looks_first=True)
    decision = decide(None, None, item, caps, item.now)
    if isinstance(decision, Call) and item.provider in item.paused:
        held_back = HeldBack(PAUSED_SECONDS, "paused", sick=True)
        last = Attempt(Kind.CHECK, held_back, None, item, item.now, item.provider)
        end(runtime, item, None, last, _rest(Kind.CHECK, held_back, item, caps))
        return True
    if not isinstance(decision, Call):
        end(runtime, item, None, None, decision)
        return True
    started = time.monotonic()
    lease = EXPAND_SECONDS + LEASE_MARGIN
    begun = begin(runtime.engine, item, Kind.CHECK, held=None, lease=lease, send_window=EXPAND_SECONDS)
    if begun is None:
        return False
    runtime.at("begun")
    arrivals = _arrivals(runtime, item, started + EXPAND_SECONDS)
    runtime.at("answered")
    _finish(runtime, item, begun, arrivals, later(begun.started_at, started))
    return True


def _finish(runtime: Runtime, item: Item, begun: Begun, arrivals: list[Reservation] | Failure, now: datetime) -> None:
    """Store what was found together with the item's end, or only its end."""
    caps = replace(runtime.providers[item.provider].capabilities, looks_first=True)
    found = Found({"arrivals": len(arrivals)}, begun.started_at, "") if isinstance(arrivals, list) else arrivals
    last = Attempt(Kind.CHECK, found, begun, item, now, item.provider)
    log.info("expansion item=%d outcome=%s", item.id, type(found).__name__)
    decision = _rest(Kind.CHECK, found, replace(item, now=now), caps)
    if isinstance(decision, Settle) and isinstance(arrivals, list):
        mailed = partial(mails, item=item, arrivals=arrivals)
        move = move_of(item, decision, last)
        settled = expand(runtime.engine, item, begun, closing_of(last, absent=False), move, mailed)
        runtime.at("settled")
        if settled.moved:
            tell(runtime, item, move, settled)
            return
        # Given up while it was read; where somebody else holds it, this moves nothing.
        decision = Settle(State.CANCELLED, tool_error("cancelled"))
    end(runtime, item, begun, last, decision)


def _rest(kind: Kind, outcome: Found | Failure, item: Item, caps: Capabilities) -> Settle | Later | Park:
    decision = decide(kind, outcome, item, caps, item.now)
    if isinstance(decision, Call):
        raise TypeError("an expansion writes nothing")
    return decision


def _arrivals(runtime: Runtime, item: Item, until: float) -> list[Reservation] | Failure:
    """Those whom two passes in a row showed alike: between two pages somebody may have come or gone."""
    before: _Pass | None = None
    try:
        for _ in range(MOST_PASSES):
            now = _read_all(runtime, item, until)
            if now == before:
                return [now[name] for name in sorted(now)]
            before = now
    except _NoAnswer as none:
        return none.failure
    return Unknown("the arrivals differ from pass to pass")


def _read_all(runtime: Runtime, item: Item, until: float) -> _Pass:
    found: _Pass = {}
    cursor: str | None = None
    while True:
        page = _page(runtime, item, cursor, until)
        found |= {arrival.booking_id: arrival for arrival in page.arrivals}
        if page.next_cursor is None:
            return found
        if len(found) > MOST_ARRIVALS or not page.arrivals:
            raise _NoAnswer(Unknown("the list of arrivals has no end"))
        cursor = page.next_cursor


def _page(runtime: Runtime, item: Item, cursor: str | None, until: float) -> ArrivalsPage:
    day = date.fromisoformat(item.request["date"])
    asked = ListArrivals(property=item.request["property"], date=day, cursor=cursor)
    ran = runtime.reads.run(Asked("list_arrivals", item.conversation_id, item.provider, asked), until)
    if ran.refused is not None:
        raise _NoAnswer(Misconfigured(ran.refused, certain=True))
    match ran.answer:
        case ArrivalsPage():
            return ran.answer
        case Give("refused_argument" as row, values):
            raise _NoAnswer(Rejected(row, "the hotel system refuses the question", values))
        case Give(_, _, retry_after):
            raise _NoAnswer(NotSent("no answer to a page of arrivals", retry_after=retry_after))
        case other:
            raise TypeError(f"a page of arrivals can't be {type(other).__name__}")
