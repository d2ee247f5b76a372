"""From bytes to a submission, or to a refusal that says what to correct. Pure but for the clock in `deps`."""

from typing import Any

from pydantic import ValidationError

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


def submission_from(body: bytes, header_key: str | None, caller: Caller, deps: Deps) -> Submission:
    """The submission a request body asks for. Raises Refused."""
    try:
        submit = Submit.model_validate(parse(body))
    except ValidationError as error:
        raise WrongFields(problems_of(error.errors(), Submit)) from None
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
    try:
        return model.model_validate(sent, context=Hotels(deps.properties, deps.now()))
    except ValidationError as error:
        raise WrongFields(problems_of(error.errors(), model)) from None


def read_from(body: bytes, tool: str, deps: Deps) -> Asked:
    """The read a request body asks for. Raises Refused."""
    model: type[ReadArguments] = READ_TOOLS[tool]
    try:
        read = Read.model_validate(parse(body))
    except ValidationError as error:
        raise WrongFields(problems_of(error.errors(), Read)) from None
    try:
        arguments = model.model_validate(read.arguments, context=Hotels(deps.properties, deps.now()))
    except ValidationError as error:
        raise WrongFields(problems_of(error.errors(), model)) from None
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
