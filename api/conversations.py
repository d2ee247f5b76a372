"""What a guest owns: the answer to "what happened so far?". And how the host and operations steer a conversation."""

from fastapi import APIRouter
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from api import described, openapi
from api.body import parse, read_body
from api.checking import checked, valid
from api.fields import shown
from api.parts import Parts
from api.problems import Refused, WrongFields
from booking.conversation import Lift, Steer, conversation_answer
from booking.results import FieldProblem
from booking.text import Name
from dedupe.conversations import head, lift, name
from dedupe.engine import Engine
from dedupe.read import read_conversation
from dedupe.tenants import Scope

_NAME: TypeAdapter[str] = TypeAdapter(Name)


def router(parts: Parts) -> APIRouter:
    """GET, PUT and lift of conversations."""
    routes = APIRouter(tags=["conversations"])

    @routes.get("/v1/conversations/{id}", **openapi.conversation())
    async def get_conversation(request: Request, id: str) -> Response:
        caller = await parts.callers.identify(request, Scope.AGENT, Scope.HOST, Scope.OPS)
        return await _shown(parts, caller.tenant_id, id)

    @routes.put("/v1/conversations/{id}", **described.steer())
    async def put_conversation(request: Request, id: str) -> Response:
        caller = await parts.callers.identify(request, Scope.HOST)
        if not _possible(id):
            problem = "must be a short name: letters, digits and . _ ~ @ : -"
            raise WrongFields([FieldProblem(field="conversation_id", problem=problem, sent=shown(id))])
        steer = await checked(await read_body(request), lambda body: valid(Steer, parse(body)))
        keep = "guest" not in steer.model_fields_set
        await parts.database.call(name, caller.tenant_id, id, steer.guest, steer.turn, keep_guest=keep)
        return await _shown(parts, caller.tenant_id, id)

    @routes.post("/v1/conversations/{id}/lift", **described.lift())
    async def lift_stop(request: Request, id: str) -> Response:
        caller = await parts.callers.identify(request, Scope.OPS)
        reason = (await checked(await read_body(request), lambda body: valid(Lift, parse(body)))).reason
        if _possible(id):
            await parts.database.call(lift, caller.tenant_id, id, reason)
        return await _shown(parts, caller.tenant_id, id)

    return routes


async def _shown(parts: Parts, tenant_id: str, conversation_id: str) -> Response:
    body = await parts.database.call(_conversation, tenant_id, conversation_id) if _possible(conversation_id) else None
    if body is None:
        raise Refused(404, "no_such_intent", what="conversation")
    return Response(body, 200, None, "application/json")


def _possible(conversation_id: str) -> bool:
    try:
        _NAME.validate_python(conversation_id)
    except ValidationError:
        return False
    return True


def _conversation(engine: Engine, tenant_id: str, conversation_id: str) -> bytes | None:
    known = head(engine, tenant_id, conversation_id)
    if known is None:
        return None
    items = read_conversation(engine, tenant_id, conversation_id)
    guest_name = known.guest.name if known.guest else None
    answer = conversation_answer(conversation_id, items.rows, guest_name, known.turn, known.stop, items.truncated)
    return answer.model_dump_json().encode()
