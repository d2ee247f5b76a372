"""Hand in an intent, poll for its answer, retry what failed of it, cancel it."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api import described, openapi
from api.body import read_body
from api.checking import Asked, checked, refuse_nameless, request_from, submission_from
from api.fields import shown
from api.parts import Parts
from api.problems import Refused, WrongFields
from api.snapshots import MOST_ITEMS, WHOLE, Part, Snapshot, Which, snapshots, take_in, take_up
from booking.guests import VerifiedGuest
from booking.results import FieldProblem
from dedupe.cancel import cancel
from dedupe.conversations import head
from dedupe.guards import note_failed_call
from dedupe.submission import Admitted, Blocked, Mismatch, Stopped, Submission
from dedupe.tenants import Caller, Scope
from tasks.operations import TOOLS
from tasks.operations.arrivals import LEAST_SECONDS

MAX_WAIT = 30.0
#: What stands against an intent is mostly "not yet", 409.
_STATUSES = {"additional_to_nothing": 422, "over_limit": 403}

_KEY = re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?")
_INTENT = re.compile(r"int_[0-9a-f]{1,64}")


def router(parts: Parts) -> APIRouter:
    """POST and GET of intents, retry and cancel."""
    routes = APIRouter(tags=["intents"])

    @routes.post("/v1/intents", status_code=202, **openapi.submit())
    async def submit_intent(request: Request) -> Response:
        caller = await parts.callers.identify(request, Scope.AGENT, Scope.HOST)
        header_key = _idempotency_key(request)
        body = await read_body(request)
        asked = await checked(body, lambda sent: request_from(sent, parts.deps))
        guest = await _guest(parts, caller, asked)
        submission = await checked(body, lambda _: submission_from(asked, header_key, caller, guest, parts.deps))
        admitted, snapshot = await _taken(parts, submission, header_key)
        _refuse_gone(snapshot)
        headers = {"Location": f"/v1/intents/{admitted.intent_id}"}
        if _is_replay(admitted, header_key, snapshot.done):
            headers["Idempotent-Replayed"] = "true"
        return Response(snapshot.body, 202, headers, "application/json")

    @routes.get("/v1/intents/{id}", **openapi.poll())
    async def poll_intent(
        request: Request,
        id: str,
        wait: Annotated[float, Query(ge=0, le=MAX_WAIT, description="Seconds to wait for the end of it.")] = 0,
        items: Annotated[Which, Query(description="The items to show.")] = "all",
        after: Annotated[int, Query(ge=-1, description="Only items behind this position.")] = -1,
        limit: Annotated[int, Query(ge=1, le=MOST_ITEMS, description="Items to show, at most.")] = MOST_ITEMS,
    ) -> Response:
        caller = await parts.callers.identify(request, Scope.AGENT, Scope.HOST, Scope.OPS)
        part = Part(items, after, limit)
        known = _INTENT.fullmatch(id)
        snapshot = await _polled(parts, caller.tenant_id, id, wait, part, lambda: _gone(request)) if known else None
        if snapshot is None:
            raise Refused(404, "no_such_intent", what="intent")
        _refuse_gone(snapshot)
        return Response(snapshot.body, 200, None, "application/json")

    @routes.post("/v1/intents/{id}/retry", status_code=202, **described.retry())
    async def retry_intent(request: Request, id: str) -> Response:
        caller = await parts.callers.identify(request, Scope.AGENT, Scope.HOST)
        again, snapshot = await _retried(parts, caller.tenant_id, id)
        _refuse_gone(snapshot)
        headers = {"Location": f"/v1/intents/{id}"}
        if not again:
            headers["Idempotent-Replayed"] = "true"
        return Response(snapshot.body, 202, headers, "application/json")

    @routes.post("/v1/intents/{id}/cancel", status_code=202, **described.cancel())
    async def cancel_intent(request: Request, id: str) -> Response:
        caller = await parts.callers.identify(request, Scope.AGENT, Scope.HOST)
        changed = await parts.database.call(cancel, caller.tenant_id, id) if _INTENT.fullmatch(id) else None
        if changed is None:
            raise Refused(404, "no_such_intent", what="intent")
        snapshot = (await parts.database.call(snapshots, [id]))[id]
        _refuse_gone(snapshot)
        parts.waiting.woken(changed)
        return Response(snapshot.body, 202, None, "application/json")

    return routes


async def _guest(parts: Parts, caller: Caller, asked: Asked) -> VerifiedGuest | None:
    """The verified guest of the conversation, where the tool is about a guest's reservation."""
    if not asked.tool.about_guest:
        return None
    known = await parts.database.call(head, caller.tenant_id, asked.conversation_id)
    guest = known.guest if known else None
    refuse_nameless(asked.arguments, guest)
    return guest


async def _taken(parts: Parts, submission: Submission, header_key: str | None) -> tuple[Admitted, Snapshot]:
    try:
        return await parts.database.call(take_in, parts.deps.publisher, submission)
    except Mismatch as mismatch:
        raise _refusal(mismatch, header_key) from None
    except Blocked as blocked:
        # It has failed like any other call: a model that goes on asking is stopped.
        place = (submission.tenant_id, submission.conversation_id)
        stop = await parts.database.call(note_failed_call, *place, submission.call, False)
        if stop is not None:
            raise Stopped(*place, stop) from None
        raise _blocked(blocked) from None


async def _polled(
    parts: Parts, tenant_id: str, intent_id: str, wait: float, part: Part, gone: Callable[[], Awaitable[None]]
) -> Snapshot | None:
    """The tenant's intent once it is done, or as it is after `wait` seconds. None where the tenant has none such."""
    if part == WHOLE:
        return await parts.waiting.poll(intent_id, tenant_id, wait, gone)
    if wait and await parts.waiting.poll(intent_id, tenant_id, wait, gone) is None:
        return None
    snapshot = (await parts.database.call(snapshots, [intent_id], part)).get(intent_id)
    return snapshot if snapshot and snapshot.tenant_id == tenant_id else None


async def _retried(parts: Parts, tenant_id: str, intent_id: str) -> tuple[bool, Snapshot]:
    """Whether anything runs again, and the intent."""
    if not _INTENT.fullmatch(intent_id):
        raise Refused(404, "no_such_intent", what="intent")
    usual = parts.deps.lifetime

    def lifetime(tool: str) -> float:
        return LEAST_SECONDS if TOOLS[tool].lifetime else usual

    try:
        taken = await parts.database.call(take_up, parts.deps.publisher, tenant_id, intent_id, lifetime)
    except Blocked as blocked:  # counted already
        raise _blocked(blocked) from None
    if taken is None:
        raise Refused(404, "no_such_intent", what="intent")
    return taken


def _blocked(blocked: Blocked) -> Refused:
    status = _STATUSES.get(blocked.row, 409)
    return Refused(status, blocked.row, None, **blocked.values)


def _refuse_gone(snapshot: Snapshot) -> None:
    if snapshot.gone:
        raise Refused(410, "gone", what="intent")


def _idempotency_key(request: Request) -> str | None:
    sent = request.headers.getlist("idempotency-key")
    if not sent:
        return None
    if len(sent) > 1 or not _KEY.fullmatch(sent[0]):
        problem = "must be given once, as 1 to 200 printable ASCII characters"
        raise WrongFields([FieldProblem(field="Idempotency-Key", problem=problem, sent=shown(", ".join(sent)))])
    return sent[0]


def _is_replay(admitted: Admitted, header_key: str | None, done: bool) -> bool:
    """The answer comes from the record: the same HTTP request again, or the same call of an agent, finished."""
    return admitted.existed and (header_key is not None or done)


def _refusal(mismatch: Mismatch, header_key: str | None) -> Refused:
    existing = mismatch.existing
    if mismatch.kind == "intent":
        named = f"{existing['tool']} in conversation {existing['conversation_id']}, intent {existing['id']}"
        return Refused(422, "key_reused", sent=shown(header_key), existing=named)
    named = f" as {existing['booking_id']}" if existing["booking_id"] else ""
    differs = ", ".join(existing["differs"])
    return Refused(422, "other_values", differs=differs, state=existing["state"], existing=named)


async def _gone(request: Request) -> None:
    """Return when the caller has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
