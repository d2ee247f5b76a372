"""From bytes to a submission, or to a refusal that says what to correct. Pure but for the clock in `deps`."""

from collections.abc import Callable
from typing import Any, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ValidationError

from api.body import parse
from api.deps import Deps
from api.fields import problems_of, shown
from api.problems import Refused, WrongFields
from booking.arguments import MAX_ROOMS, Hotels, Model, Submit
from booking.reads import READ_TOOLS, Read, ReadArguments
from booking.results import FieldProblem
from dedupe.submission import Submission
from dedupe.tenants import Caller
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking
from tasks.read import Asked

#: Bytes. A larger body takes long enough to check that others would notice; a thread checks it.
LARGE = 16_384

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


async def checked(body: bytes, check: Callable[[bytes], T]) -> T:
    """`check(body)`, which parses and validates it: where it is large, in a thread. Raises what `check` raises."""
    return check(body) if len(body) < LARGE else await anyio.to_thread.run_sync(check, body)


def valid(model: type[M], sent: Any, hotels: Hotels | None = None) -> M:
    """`sent` as a `model`. Raises WrongFields."""
    try:
        return model.model_validate(sent, context=hotels)
    except ValidationError as error:
        raise WrongFields(problems_of(error.errors(include_url=False), model)) from None


def submission_from(body: bytes, header_key: str | None, caller: Caller, deps: Deps) -> Submission:
    """The submission a request body asks for. Raises Refused."""
    submit = valid(Submit, parse(body))
    tool = TOOLS.get(submit.tool)
    if tool is None:
        raise Refused(422, "unknown_tool", sent=shown(submit.tool), allowed=", ".join(TOOLS))
    arguments = _arguments(tool.arguments, submit.arguments, deps)
    asking = Asking(caller, submit.conversation_id, deps.properties)
    return submission_of(asking, tool, arguments, header_key, deps.lifetime)


def _arguments(model: type[Model], sent: dict[str, Any], deps: Deps) -> Model:
    rooms = sent.get("rooms")
    if isinstance(rooms, list) and len(rooms) > MAX_ROOMS:  # before validation spends a second on them
        problem = f"must have at most {MAX_ROOMS} entries"
        raise WrongFields([FieldProblem(field="rooms", problem=problem, sent=shown(rooms))])
    return valid(model, sent, Hotels(deps.properties, deps.now()))


def read_from(body: bytes, tool: str, deps: Deps) -> Asked:
    """The read a request body asks for. Raises Refused."""
    model: type[ReadArguments] = READ_TOOLS[tool]
    read = valid(Read, parse(body))
    arguments = valid(model, read.arguments, Hotels(deps.properties, deps.now()))
    return Asked(tool, read.conversation_id, _provider(arguments, deps), arguments)


def _provider(arguments: ReadArguments, deps: Deps) -> str:
    """The hotel system to ask. A reservation's number names no hotel: with several systems, the hotel must be said."""
    if arguments.property is not None:
        return deps.properties[arguments.property].provider
    known = {hotel.provider for hotel in deps.properties.values()}
    if len(known) != 1:
        problem = f"is required here; must be one of {', '.join(sorted(deps.properties))}"
        raise WrongFields([FieldProblem(field="property", problem=problem, sent="nothing")])
    return known.pop()
