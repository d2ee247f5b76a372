"""Events for the host application to poll: late verdicts, and what else changed after it had been told."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api import described
from api.parts import Parts
from dedupe.events import read_events
from dedupe.tenants import Scope

MOST = 500


def router(parts: Parts) -> APIRouter:
    """GET of events."""
    routes = APIRouter(tags=["events"])

    @routes.get("/v1/events", **described.events())
    async def get_events(
        request: Request,
        after: Annotated[int, Query(ge=0, lt=2**63, description="`after` of the page before.")] = 0,
        limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
    ) -> Response:
        caller = await parts.callers.identify(request, Scope.HOST, Scope.OPS)
        page = await parts.database.call(read_events, caller.tenant_id, after, limit)
        return Response(page.model_dump_json(), 200, None, "application/json")

    return routes
