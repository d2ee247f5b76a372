"""Ask the hotel system: what is free, one reservation, who arrives. An answer or an error, never an empty list instead.

The status follows from the code: 404 NOT_FOUND, 403 PERMISSION_DENIED, 409 CONFLICT, 422 INVALID_ARGUMENT; 503 with
Retry-After for UNAVAILABLE and RATE_LIMITED alike, since it is the hotel system that takes no more, not we.
"""

import logging
import math
import time
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import openapi
from api.body import read_body
from api.checking import checked, read_from, refuse_nameless
from api.fields import shown
from api.parts import Parts
from api.problems import RETRY_AFTER, Refused, answer, problem
from api.stops import refusal
from booking import reads
from booking.conversation import handoff_of
from booking.errors import TABLE, ErrorCode
from booking.guests import VerifiedGuest, access
from booking.keys import fingerprint
from booking.outcomes import Reservation
from booking.reads import Arrivals, GetReservation, Offers, OneReservation, ReadAnswer, ReadResult
from booking.results import Problem
from dedupe.conversations import before_read
from dedupe.engine import DatabaseAway, Engine
from dedupe.guards import note_failed_call
from dedupe.pauses import pause
from dedupe.read import read_conversation
from dedupe.tenants import Caller, Scope
from providers.ports import ArrivalsPage
from tasks.decisions import Give
from tasks.read import READ_SECONDS, Asked, Found, Ran

log = logging.getLogger("roomkey.api")

#: Whoever talks with one guest must not list the others: arrivals are for the hotel's own people.
SCOPES = {
    "search_availability": (Scope.AGENT, Scope.HOST),
    "get_reservation": (Scope.AGENT, Scope.HOST),
    "list_arrivals": (Scope.HOST, Scope.OPS),
}
STATUSES = {
    ErrorCode.INVALID_ARGUMENT: 422,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.PERMISSION_DENIED: 403,
    ErrorCode.CONFLICT: 409,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.RATE_LIMITED: 503,
}
#: Longer than this, seconds, and the guest may be told why it took so long.
SLOW_SECONDS = 3.0
#: From the request to the answer, seconds, also with a slow Postgres; 8 are promised.
ANSWER_SECONDS = 7.8
#: At least so long is waited for the counting of a failure, seconds.
COUNT_LEAST = 0.2
#: A pause ends when a person has mended something: to ask again earlier is useless, seconds.
PAUSED = Ran(Give("read_unavailable", retry_after=30.0), 0)
#: The same words whether there is none or it is somebody else's.
_NOT_FOUND = Give("not_found", {"what": "The reservation"})


def router(parts: Parts) -> APIRouter:
    """POST of reads."""
    routes = APIRouter(tags=["reads"])

    @routes.post("/v1/reads/{tool}", **openapi.read())
    async def read(request: Request, tool: str) -> Response:
        begun = time.monotonic()
        caller = await parts.callers.identify(request, *SCOPES.get(tool, tuple(Scope)))
        if tool not in SCOPES:
            raise Refused(422, "unknown_tool", sent=shown(tool), allowed=", ".join(SCOPES))
        called = time.monotonic()
        body = await read_body(request)
        begun += time.monotonic() - called  # how slowly a caller sends is the caller's time
        asked = await checked(body, lambda sent: read_from(sent, tool, parts.deps))
        before = await parts.database.call(before_read, caller.tenant_id, asked.conversation_id, asked.provider)
        if isinstance(asked.arguments, GetReservation):
            refuse_nameless(asked.arguments, before.guest)
        ran = PAUSED if before.paused else await parts.reading.run(asked, begun + READ_SECONDS)
        slow = ran.tries > 1 or time.monotonic() - begun > SLOW_SECONDS
        notice = reads.NOTICE if slow else None
        found = _permitted(asked, ran, before.guest)
        if isinstance(found, Give):
            left = max(begun + ANSWER_SECONDS - time.monotonic(), COUNT_LEAST)
            stop = await _one_too_many(parts, caller, asked, _Failed(found, ran.refused), left)
            return _refusal(found, notice, stop)
        told = ReadAnswer(tool=asked.tool, conversation_id=asked.conversation_id, result=_result(found), notice=notice)
        return Response(told.model_dump_json(), 200, None, "application/json")

    return routes


@dataclass(frozen=True)
class _Failed:
    """How a read failed. `refused`: why the provider refuses our own credentials, if it does."""

    given: Give
    refused: str | None


async def _one_too_many(parts: Parts, caller: Caller, asked: Asked, failed: _Failed, left: float) -> Problem | None:
    """Count a failed read before it is told; what is told if it stops the conversation.

    A Postgres that is too slow for it must not delay the answer: the read's own failure is told, and the thread counts
    to its end, so that the next call meets the stop.
    """
    try:
        return await parts.database.call_within(left, _record, caller, asked, failed)
    except DatabaseAway:
        return None


def _record(engine: Engine, caller: Caller, asked: Asked, failed: _Failed) -> Problem | None:
    if failed.refused is not None and pause(engine, asked.provider, failed.refused):
        log.error(
            "provider %s is paused (%s): mend its settings, then run `roomkey resume %s`",
            asked.provider,
            failed.refused,
            asked.provider,
        )
    place = (caller.tenant_id, asked.conversation_id)
    call = fingerprint(caller.secret, [asked.tool, asked.arguments])
    stop = note_failed_call(engine, *place, call, TABLE[failed.given.row][0] is ErrorCode.UNAVAILABLE)
    if stop is None:
        return None
    items = read_conversation(engine, *place)
    return refusal(stop, handoff_of(items.rows, items.truncated))


def _permitted(asked: Asked, ran: Ran, guest: VerifiedGuest | None) -> Found | Give:
    """What was found, or, if this guest may not see it, the error instead."""
    arguments, found = asked.arguments, ran.answer
    if not isinstance(arguments, GetReservation):
        return found
    if isinstance(found, Give):
        # The hotel system's own "forbidden" would tell somebody unverified that the number exists.
        hidden = found.row == "not_found" or (found.row == "denied" and guest is None)
        return _NOT_FOUND if hidden else found
    assert isinstance(found, Reservation)
    match access(found, guest, arguments.guest_name, arguments.email):
        case "allowed":  # only then the hotel: nobody else learns where a guest stays
            return found if arguments.property in (None, found.property) else _NOT_FOUND
        case "denied":
            return Give("denied")
        case "not_found":
            return _NOT_FOUND


def _refusal(given: Give, notice: str | None, stop: Problem | None) -> Response:
    """The error; and if it was one too many, with what the model is to do now."""
    status = STATUSES[TABLE[given.row][0]]
    refused = problem(status, given.row, **{"system": "hotel system", **given.values}).model_copy(
        update={"notice": notice}
    )
    if stop:
        told = refused.tool_error.model_copy(update={"fix": stop.tool_error.fix, "retryable": False})
        refused = refused.model_copy(update={"handoff": stop.handoff, "tool_error": told})
    wait = str(max(math.ceil(given.retry_after), int(RETRY_AFTER)))
    return answer(refused, {"Retry-After": wait} if status == 503 else None)


def _result(found: Found) -> ReadResult:
    match found:
        case list():
            return Offers(offers=found)
        case Reservation():
            return OneReservation(reservation=reads.shown(found))
        case ArrivalsPage():
            arrivals = [reads.shown(one) for one in found.arrivals]
            return Arrivals(arrivals=arrivals, next_cursor=found.next_cursor)
