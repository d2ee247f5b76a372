"""From bytes to a submission, or to a refusal that says what to correct. Pure but for the clock in `deps`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ValidationError

from api.body import parse
from api.deps import Deps
from api.fields import problems_of, shown
from api.problems import Refused, WrongFields
from booking.arguments import MAX_ROOMS, Hotels, Model, OfReservation, SendCheckinReminders, Submit
from booking.guests import VerifiedGuest
from booking.reads import READ_TOOLS, Read, ReadArguments
from booking.results import FieldProblem
from dedupe.submission import KeyKind, Submission
from dedupe.tenants import Caller
from tasks import read
from tasks.intake import submission_of
from tasks.operations import TOOLS
from tasks.operations.port import Asking, Tool, provider_of

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


@dataclass(frozen=True)
class Asked:
    """A checked request for a write."""

    tool: Tool
    arguments: Model
    conversation_id: str


def request_from(body: bytes, deps: Deps) -> Asked:
    """The write that a request body asks for. Raises Refused."""
    submit = valid(Submit, parse(body))
    tool = TOOLS.get(submit.tool)
    if tool is None:
        raise Refused(422, "unknown_tool", sent=shown(submit.tool), allowed=", ".join(TOOLS))
    arguments = _arguments(tool.arguments, submit.arguments, deps)
    if isinstance(arguments, SendCheckinReminders) and deps.properties[arguments.property].mail not in deps.mails:
        problem = "this hotel has no mail server; an operator must name one (ROOMKEY_SMTP_URL)"
        raise WrongFields([FieldProblem(field="property", problem=problem, sent=shown(arguments.property))])
    return Asked(tool, arguments, submit.conversation_id)


def submission_from(
    request: Asked, header_key: str | None, caller: Caller, verified: VerifiedGuest | None, deps: Deps
) -> Submission:
    """The submission of a request. `verified`: the guest of its conversation."""
    asking = Asking(caller, request.conversation_id, deps.properties, verified, deps.now())
    own_key: tuple[KeyKind, str] | None = ("header", header_key) if header_key else None
    return submission_of(asking, request.tool, request.arguments, own_key, deps.lifetime)


def _arguments(model: type[Model], sent: dict[str, Any], deps: Deps) -> Model:
    rooms = sent.get("rooms")
    if isinstance(rooms, list) and len(rooms) > MAX_ROOMS:  # before validation spends a second on them
        problem = f"must have at most {MAX_ROOMS} entries"
        raise WrongFields([FieldProblem(field="rooms", problem=problem, sent=shown(rooms))])
    return valid(model, sent, Hotels(deps.properties, deps.now()))


def refuse_nameless(arguments: Model, guest: VerifiedGuest | None) -> None:
    """Raise WrongFields where nobody says whose reservation it is: a number alone opens none."""
    if isinstance(arguments, OfReservation) and guest is None and not (arguments.guest_name or arguments.email):
        problem = "is required, or email: a number alone opens no reservation"
        raise WrongFields([FieldProblem(field="guest_name", problem=problem, sent="nothing")])


def read_from(body: bytes, tool: str, deps: Deps) -> read.Asked:
    """The read a request body asks for. Raises Refused."""
    model: type[ReadArguments] = READ_TOOLS[tool]
    sent = valid(Read, parse(body))
    arguments = valid(model, sent.arguments, Hotels(deps.properties, deps.now()))
    return read.Asked(tool, sent.conversation_id, _provider(arguments, deps), arguments)


def _provider(arguments: ReadArguments, deps: Deps) -> str:
    """The hotel system to ask: the said hotel's, or the only one there is."""
    return provider_of(deps.properties, arguments.property, lambda hotel: hotel.provider)
