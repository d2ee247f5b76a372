"""Ask the hotel system: what is free, one reservation, who arrives. An answer or an error, never an empty list instead.

The status follows from the code: 404 NOT_FOUND, 403 PERMISSION_DENIED, 409 CONFLICT, 422 INVALID_ARGUMENT; 503 with
Retry-After for UNAVAILABLE and RATE_LIMITED alike, since it is the hotel system that takes no more, not we.
"""

import math
import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import openapi
from api.body import read_body
from api.checking import read_from
from api.fields import shown
from api.parts import Parts
from api.problems import RETRY_AFTER, Refused, WrongFields, answer, problem
from api.stops import handoff_at, refusal
from booking import reads
from booking.errors import TABLE, ErrorCode
from booking.guests import VerifiedGuest, access
from booking.keys import fingerprint
from booking.outcomes import Reservation
from booking.reads import Arrivals, GetReservation, Offers, OneReservation, ReadAnswer, ReadResult
from booking.results import FieldProblem, Problem
from dedupe.conversations import verified_guest
from dedupe.guards import note_failed_call, refuse_stopped
from dedupe.tenants import Caller, Scope
from providers.ports import ArrivalsPage
from tasks.decisions import Give
from tasks.read import READ_SECONDS, Asked, Found, Ran

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
        asked = read_from(body, tool, parts.deps)
        guest = None
        if isinstance(asked.arguments, GetReservation):
            guest = await parts.database.call(verified_guest, caller.tenant_id, asked.conversation_id)
            _refuse_nameless(asked.arguments, guest)
        await parts.database.call(refuse_stopped, caller.tenant_id, asked.conversation_id)
        ran = await parts.reading.run(asked, begun + READ_SECONDS)
        slow = ran.tries > 1 or time.monotonic() - begun > SLOW_SECONDS
        notice = reads.NOTICE if slow else None
        found = _permitted(asked, ran, guest)
        if isinstance(found, Give):
            return _refusal(found, notice, await _one_too_many(parts, caller, asked, found))
        told = ReadAnswer(tool=asked.tool, conversation_id=asked.conversation_id, result=_result(found), notice=notice)
        return Response(told.model_dump_json(), 200, None, "application/json")

    return routes


async def _one_too_many(parts: Parts, caller: Caller, asked: Asked, given: Give) -> Problem | None:
    """Count a failed read; what is told if it stops the conversation."""
    call = fingerprint(caller.secret, [asked.tool, asked.arguments])
    place = (caller.tenant_id, asked.conversation_id)
    unavailable = TABLE[given.row][0] is ErrorCode.UNAVAILABLE
    stop = await parts.database.call(note_failed_call, *place, call, unavailable)
    return refusal(stop, await handoff_at(parts, *place)) if stop else None


def _refuse_nameless(asked: GetReservation, guest: VerifiedGuest | None) -> None:
    if guest is None and asked.guest_name is None and asked.email is None:
        problem = "is required, or email: a number alone opens no reservation"
        raise WrongFields([FieldProblem(field="guest_name", problem=problem, sent="nothing")])


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
    if arguments.property not in (None, found.property):
        return _NOT_FOUND
    match access(found, guest, arguments.guest_name, arguments.email):
        case "allowed":
            return found
        case "denied":
            return Give("denied")
        case "not_found":
            return _NOT_FOUND


def _refusal(given: Give, notice: str | None, stop: Problem | None) -> Response:
    """The error; and if it was one too many, with what the model is to do now."""
    status = STATUSES[TABLE[given.row][0]]
    refused = problem(status, given.row, **given.values).model_copy(update={"notice": notice})
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
