"""How the calls that retry, cancel, steer and tell of late changes are described in the OpenAPI document."""

from typing import Any

from api import examples
from api.openapi import LOCATION, REPLAYED, call, json_of, refusals


def retry() -> dict[str, Any]:
    """How POST /v1/intents/{id}/retry is described."""
    intents = examples.intents()
    return call(
        "Retry what failed of an intent",
        "Runs again what is known not to have been carried out, for a cause that may have passed (CONFLICT, "
        "RATE_LIMITED, UNAVAILABLE, EXPIRED, CANCELLED): with as many tries as a new one, and for as long. What "
        "exists, is pending, is being confirmed or was refused for good stays as it is. A cancelled intent lives "
        "again. Counts as asking again. 409 where another request for the same reservation or payment is still open, "
        "or a later one has been carried out since. Scopes: agent, host.",
        {
            202: {
                "description": "The intent as it is now; poll it while it is pending.",
                "headers": {"Location": LOCATION, "Idempotent-Replayed": REPLAYED},
                "content": json_of("IntentAnswer", retried=intents["retried"], nothing_to_retry=intents["booked"]),
            },
            **refusals(
                *(401, 403, 404, 409, 410, 422),
                only=("invalid_argument", "stopped", "subject_in_doubt", "changed_since"),
            ),
        },
    )


def cancel() -> dict[str, Any]:
    """How POST /v1/intents/{id}/cancel is described."""
    return call(
        "Cancel an intent",
        "What has not been written yet is not written; what may have been is checked on and told as it is; what has "
        "succeeded stays. A room that another intent asks for, too, goes on for that one. Any number of times. "
        "Scopes: agent, host.",
        {
            202: {
                "description": "The intent as it is now; poll it while it is pending.",
                "content": json_of("IntentAnswer", cancelled=examples.intents()["cancelled"]),
            },
            **refusals(401, 403, 404, 410, 422, only=("invalid_argument",)),
        },
    )


def steer() -> dict[str, Any]:
    """How PUT /v1/conversations/{id} is described."""
    return call(
        "Name the verified guest, or the user's next turn",
        "For the host application, which knows who is logged in. A turn higher than the one before lifts a stop and "
        "forgets earlier failures; a lower or equal one changes nothing. What is left out stays. Scope: host.",
        {
            200: {
                "description": "The conversation.",
                "content": json_of("ConversationAnswer", mixed=examples.conversation()),
            },
            **refusals(400, 401, 403, 408, 413, 422, only=("invalid_argument",)),
        },
        requestBody=_body("Steer", guest_and_turn=examples.STEER),
    )


def lift() -> dict[str, Any]:
    """How POST /v1/conversations/{id}/lift is described."""
    return call(
        "Lift a stop",
        "A person has looked: calls may go on, and earlier failures are forgotten. Scope: ops.",
        {
            200: {
                "description": "The conversation, no longer stopped.",
                "content": json_of("ConversationAnswer", mixed=examples.conversation()),
            },
            **refusals(400, 401, 403, 404, 408, 413, 422, only=("invalid_argument",)),
        },
        requestBody=_body("Lift", reason=examples.LIFT),
    )


def events() -> dict[str, Any]:
    """How GET /v1/events is described."""
    return call(
        "Poll for what changed late",
        "Verdicts on what had been told as unknown, late successes, duplicates, stops and their lifting; oldest first. "
        "Poll again with `after` of the answer; no event is missed, none comes twice. Scopes: host, ops.",
        {
            200: {"description": "A page.", "content": json_of("EventsAnswer", verdict=examples.events())},
            **refusals(401, 403, 422, only=("invalid_argument",)),
        },
    )


def _body(model: str, **named: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": json_of(model, **named)}
