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
        return answer(refusal(error.stop, await handoff_at(parts, error.tenant_id, error.conversation_id)))

    app.add_exception_handler(Stopped, stopped)


async def handoff_at(parts: Parts, tenant_id: str, conversation_id: str) -> str:
    """What to tell the guest if a person takes over now."""
    items = await parts.database.call(read_conversation, tenant_id, conversation_id)
    return handoff_of(items.rows, items.truncated)


def refusal(stop: Stop, handoff: str) -> Problem:
    """The answer itself."""
    refused = problem(409, "stopped", why=BECAUSE[stop.reason], handoff=handoff)
    return refused.model_copy(update={"handoff": handoff})
