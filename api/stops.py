"""A stopped conversation, as every call of it is answered: 409, with the handoff."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from api.parts import Parts
from api.problems import answer, problem
from booking.conversation import handoff_of
from booking.handoff import BECAUSE, Stop
from booking.results import Problem
from dedupe.read import read_conversation
from dedupe.submission import Stopped


def install(app: FastAPI, parts: Parts) -> None:
    """Answer for every route that meets a stop."""

    async def stopped(_request: Request, error: Exception) -> Response:
        assert isinstance(error, Stopped)
        rows = await parts.database.call(read_conversation, error.tenant_id, error.conversation_id)
        return answer(refusal(error.stop, handoff_of(rows)))

    app.add_exception_handler(Stopped, stopped)


def refusal(stop: Stop, handoff: str) -> Problem:
    """The answer itself."""
    refused = problem(409, "stopped", why=BECAUSE[stop.reason], handoff=handoff)
    return refused.model_copy(update={"handoff": handoff})
