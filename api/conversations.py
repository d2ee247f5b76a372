"""What a guest owns: the answer to "what happened so far?"."""

from fastapi import APIRouter
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from api import openapi
from api.parts import Parts
from api.problems import Refused
from booking.results import conversation_answer
from booking.text import Name
from dedupe.engine import Engine
from dedupe.read import read_conversation
from dedupe.tenants import Scope

_NAME: TypeAdapter[str] = TypeAdapter(Name)


def router(parts: Parts) -> APIRouter:
    """GET of conversations."""
    routes = APIRouter(tags=["conversations"])

    @routes.get("/v1/conversations/{id}", **openapi.conversation())
    async def get_conversation(request: Request, id: str) -> Response:
        caller = await parts.callers.identify(request, Scope.AGENT, Scope.HOST, Scope.OPS)
        body = await parts.database.call(_conversation, caller.tenant_id, id) if _possible(id) else None
        if body is None:
            raise Refused(404, "no_such_intent", what="conversation")
        return Response(body, 200, None, "application/json")

    return routes


def _possible(conversation_id: str) -> bool:
    try:
        _NAME.validate_python(conversation_id)
    except ValidationError:
        return False
    return True


def _conversation(engine: Engine, tenant_id: str, conversation_id: str) -> bytes | None:
    rows = read_conversation(engine, tenant_id, conversation_id)
    return None if rows is None else conversation_answer(conversation_id, rows).model_dump_json().encode()
