"""The OpenAPI document: part of the product, read by agents' authors and by client generators."""

from http import HTTPStatus
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api import examples
from booking.arguments import Submit
from booking.conversation import ConversationAnswer, Lift, Steer
from booking.happenings import EventsAnswer
from booking.reads import READ_TOOLS, Read, ReadAnswer
from booking.results import IntentAnswer, Problem, Readiness
from tasks.operations import TOOLS

VERSION = "1"
DESCRIPTION = """\
The write path for hotel-booking agents. Hand in what the guest wants, poll for the answer: each booking is made at most
once, whatever times out, crashes or is sent twice. Every error is problem+json and carries `tool_error`, which is meant
to be shown to the model as it is.
"""

_REF = "#/components/schemas/{model}"
LOCATION = {"description": "Where to poll.", "schema": {"type": "string"}}
REPLAYED = {
    "description": "`true`: the answer comes from the record; nothing was started by this request.",
    "schema": {"type": "string", "enum": ["true"]},
}
_RETRY_AFTER = {"description": "Seconds.", "schema": {"type": "string"}}
_CHALLENGE = {"description": "How to say who you are.", "schema": {"type": "string"}}
_HEADERS = {401: {"WWW-Authenticate": _CHALLENGE}, 503: {"Retry-After": _RETRY_AFTER}}
_KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Your own key for this HTTP request. Sent again, it answers with the recorded intent; without it, "
    "the same arguments mean that the agent asks again, and what failed for a passing cause is tried again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "example": "order-17",
}


def json_of(model: str, **named: dict[str, Any]) -> dict[str, Any]:
    """A body of this model, with named examples."""
    shown = {name: {"value": value} for name, value in named.items()}
    return {"application/json": {"schema": {"$ref": _REF.format(model=model)}, "examples": shown}}


#: Examples that only reads give.
_READ_ROWS = {"denied", "not_found", "read_unavailable", "read_rate_limited"}


def refusals(*statuses: int, only: tuple[str, ...] = (), reads: bool = False) -> dict[int | str, dict[str, Any]]:
    """The refusals of a call. `only`: names of examples; of a status that has some of them, no others are shown.

    `reads`: for a call that asks the PMS.
    """
    known = examples.problems()
    hidden = {"no_such_intent"} if reads else _READ_ROWS
    found: dict[int | str, dict[str, Any]] = {}
    for status in (*statuses, 500, 503):
        names = (known[status].keys() & set(only)) or (known[status].keys() - hidden)
        shown = {name: {"value": value} for name, value in known[status].items() if name in names}
        schema = {"$ref": _REF.format(model="Problem")}
        found[status] = {
            "description": HTTPStatus(status).phrase,
            "headers": _HEADERS.get(status, {}),
            "content": {"application/problem+json": {"schema": schema, "examples": shown}},
        }
    return found


def call(summary: str, description: str, responses: dict[int | str, dict[str, Any]], **extra: Any) -> dict[str, Any]:
    """The keywords of a route."""
    return {
        "summary": summary,
        "description": description,
        "response_model": None,
        "responses": responses,
        "openapi_extra": {"security": [{"bearer": []}], **extra},
    }


def submit() -> dict[str, Any]:
    """How POST /v1/intents is described."""
    intents = examples.intents()
    return call(
        "Hand in a write intent",
        "Answers 202 as soon as the intent is stored; it then survives any restart. The same call again never books "
        "twice: it answers with the same intent. Scopes: agent, host.",
        {
            202: {
                "description": "Stored. Poll at Location; do not call again.",
                "headers": {"Location": LOCATION, "Idempotent-Replayed": REPLAYED},
                "content": json_of("IntentAnswer", accepted=intents["accepted"], booked=intents["booked"]),
            },
            **refusals(
                *(400, 401, 403, 408, 409, 410, 413, 422), only=("stopped", "guest_in_doubt", "subject_in_doubt")
            ),
        },
        parameters=[_KEY_HEADER],
        requestBody={
            "required": True,
            "description": "At most 1 MiB.",
            "content": json_of("Submit", **examples.SUBMITS),
        },
    )


def read() -> dict[str, Any]:
    """How POST /v1/reads/{tool} is described."""
    return call(
        "Ask the hotel system",
        "Answers within 8 s, after up to 3 calls. What failed is an error, never an empty list; an empty list means "
        "that the hotel system said so. The status follows from the code: 404 NOT_FOUND, 403 PERMISSION_DENIED, "
        "422 INVALID_ARGUMENT, 503 UNAVAILABLE or RATE_LIMITED. With a verified guest, get_reservation shows that "
        "guest's reservations only; without one it needs guest_name or email, and what doesn't match is 404. "
        "Scopes: agent, host; list_arrivals: host, ops.",
        {
            200: {"description": "The answer.", "content": json_of("ReadAnswer", **examples.reads())},
            **refusals(
                *(400, 401, 403, 404, 408, 409, 413, 422),
                only=("invalid_argument", "unknown_tool", "stopped"),
                reads=True,
            ),
        },
        requestBody={
            "required": True,
            "description": "Arguments by tool.",
            "content": json_of("Read", **examples.READS),
        },
    )


def poll() -> dict[str, Any]:
    """How GET /v1/intents/{id} is described."""
    intents = examples.intents()
    return call(
        "Poll an intent",
        "With `wait`, answers as soon as the intent is done, or with its present state after so many seconds. "
        "`items` chooses which items are shown, at most `limit` of them; if there are more, `next_items` is what to "
        "send as `after`. All else, such as the positions in `failed`, is that of the whole intent. "
        "Scopes: agent, host, ops.",
        {
            200: {"description": "The intent as it is.", "content": json_of("IntentAnswer", **intents)},
            **refusals(401, 403, 404, 410, 422, only=("invalid_argument",)),
        },
    )


def conversation() -> dict[str, Any]:
    """How GET /v1/conversations/{id} is described."""
    return call(
        "What the guest of a conversation owns",
        "Everything asked for in it: booked, failed, and still open. Scopes: agent, host, ops.",
        {
            200: {
                "description": "The conversation.",
                "content": json_of("ConversationAnswer", mixed=examples.conversation()),
            },
            **refusals(401, 403, 404, 422, only=("invalid_argument",)),
        },
    )


def alive() -> dict[str, Any]:
    """How /healthz is described."""
    return {
        "summary": "Whether the process is alive",
        "response_model": None,
        "responses": {200: {"description": "It is.", "content": {"application/json": {"example": {"alive": True}}}}},
    }


def ready() -> dict[str, Any]:
    """How /readyz is described."""
    return {
        "summary": "Whether intents can be accepted",
        "description": "Ready means: Postgres is reachable and migrated. Broker and wake-ups are information.",
        "response_model": None,
        "responses": {
            200: {"description": "Ready.", "content": json_of("Readiness", ready=examples.readiness(True))},
            503: {"description": "Not ready.", "content": json_of("Readiness", away=examples.readiness(False))},
        },
    }


def install(app: FastAPI) -> None:
    """Let `app` describe itself with our schemas."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            made["components"] = {
                "schemas": _schemas(),
                "securitySchemes": {
                    "bearer": {"type": "http", "scheme": "bearer", "description": "A key such as rk_…, shown once."}
                },
            }
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _schemas() -> dict[str, Any]:
    answers = (IntentAnswer, ReadAnswer, ConversationAnswer, EventsAnswer, Problem, Readiness)
    asked: list[type[BaseModel]] = [tool.arguments for tool in TOOLS.values()]
    asked += [*READ_TOOLS.values(), Steer, Lift]
    given: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [
        *((model, "validation") for model in asked),
        *((model, "serialization") for model in answers),
    ]
    _, defs = models_json_schema(given, ref_template=_REF)
    schemas: dict[str, Any] = defs["$defs"]
    conversation = Submit.model_json_schema()["properties"]["conversation_id"]
    schemas["Submit"] = {
        "description": Submit.__doc__,
        "oneOf": [_submit(tool.name, tool.arguments.__name__, conversation) for tool in TOOLS.values()],
    }
    schemas["Read"] = {
        "description": Read.__doc__,
        "type": "object",
        "required": list(Read.model_fields),
        "additionalProperties": False,
        "properties": {
            "arguments": {"anyOf": [{"$ref": _REF.format(model=model.__name__)} for model in READ_TOOLS.values()]},
            "conversation_id": conversation,
        },
    }
    return schemas


def _submit(tool: str, model: str, conversation: dict[str, Any]) -> dict[str, Any]:
    properties = {
        "tool": {"type": "string", "const": tool},
        "arguments": {"$ref": _REF.format(model=model)},
        "conversation_id": conversation,
    }
    return {
        "title": tool,
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }
