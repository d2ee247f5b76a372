"""Whether this process is alive, and whether it can do its work."""

from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from api import openapi
from api.parts import Parts
from booking.results import Readiness
from dedupe.engine import DatabaseAway
from dedupe.migrate import pending


def router(parts: Parts) -> APIRouter:
    """The health endpoints; no key is needed."""
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz", **openapi.alive())
    async def healthz() -> Response:
        return Response(b'{"alive":true}', 200, None, "application/json")

    @routes.get("/readyz", **openapi.ready())
    async def readyz() -> Response:
        database = await _database(parts)
        # The broker and Redis are information: without them everything works, slower.
        readiness = Readiness(
            ready=database == "ok",
            database=database,
            broker="away" if parts.deps.publisher.paused else "ok",
            wake_ups="ok" if parts.wakeups and parts.wakeups.connected else "away",
        )
        return Response(readiness.model_dump_json(), 200 if readiness.ready else 503, None, "application/json")

    return routes


async def _database(parts: Parts) -> Literal["ok", "not migrated", "away"]:
    try:
        return "not migrated" if await parts.database.call(pending) else "ok"
    except DatabaseAway:
        return "away"
