"""The application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api import conversations, events, health, intents, openapi, problems, reads, stops
from api.deps import Deps
from api.parts import Parts


def build_app(deps: Deps) -> FastAPI:
    """The API around `deps`. Nothing is connected before it starts."""
    parts = Parts(deps)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with parts.running():
            yield

    app = FastAPI(
        title="Roomkey",
        version=openapi.VERSION,
        description=openapi.DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # its pages load scripts from elsewhere; /openapi.json is the product
        redoc_url=None,
        # Nothing leaves this process by itself: exceptions and addresses are the operator's.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.parts = parts
    problems.install(app)
    stops.install(app, parts)
    for rooms in (intents, reads, conversations, events, health):
        app.include_router(rooms.router(parts))
    openapi.install(app)
    return app
