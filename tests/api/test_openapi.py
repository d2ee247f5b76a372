"""The OpenAPI document: complete, and its examples fit."""

import datetime as dt
from typing import Any

import pytest

from booking.arguments import Hotels, Submit
from booking.conversation import ConversationAnswer
from booking.happenings import EventsAnswer
from booking.reads import READ_TOOLS, Read, ReadAnswer
from booking.results import IntentAnswer, Problem, Readiness
from dedupe.tenants import Scope
from tasks.operations import TOOLS
from tests.api.serving import PROPERTIES, Api

ANSWERS = (ConversationAnswer, EventsAnswer, IntentAnswer, Problem, ReadAnswer, Readiness)
MODELS = {model.__name__: model for model in ANSWERS}


@pytest.fixture
def document(shared_api: Api) -> dict[str, Any]:
    made: dict[str, Any] = shared_api.http.get("/openapi.json").json()
    return made


def calls(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{method} {path}": call for path, item in document["paths"].items() for method, call in item.items()}


def test_every_call_is_described_with_all_its_statuses(document: dict[str, Any]) -> None:
    statuses = {name: sorted(call["responses"]) for name, call in calls(document).items()}
    assert statuses == {
        "post /v1/intents": ["202", "400", "401", "403", "408", "409", "410", "413", "422", "500", "503"],
        "get /v1/intents/{id}": ["200", "401", "403", "404", "410", "422", "500", "503"],
        "post /v1/intents/{id}/retry": ["202", "401", "403", "404", "409", "410", "422", "500", "503"],
        "post /v1/intents/{id}/cancel": ["202", "401", "403", "404", "410", "422", "500", "503"],
        "post /v1/reads/{tool}": ["200", "400", "401", "403", "404", "408", "409", "413", "422", "500", "503"],
        "get /v1/conversations/{id}": ["200", "401", "403", "404", "422", "500", "503"],
        "put /v1/conversations/{id}": ["200", "400", "401", "403", "408", "413", "422", "500", "503"],
        "post /v1/conversations/{id}/lift": ["200", "400", "401", "403", "404", "408", "413", "422", "500", "503"],
        "get /v1/events": ["200", "401", "403", "422", "500", "503"],
        "get /healthz": ["200"],
        "get /readyz": ["200", "503"],
    }
    for call in calls(document).values():
        assert call["summary"]
        if "security" in call:
            assert call["description"]
            assert call["security"] == [{"bearer": []}]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def contents(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """(call, media type, media object) of every answer."""
    return [
        (f"{name} {status}", media, content)
        for name, call in calls(document).items()
        for status, response in call["responses"].items()
        for media, content in response["content"].items()
    ]


def test_every_answer_has_examples_that_fit_its_schema(document: dict[str, Any]) -> None:
    for where, media, content in contents(document):
        if where == "get /healthz 200":
            continue
        name = content["schema"]["$ref"].rpartition("/")[2]
        assert content["examples"], where
        for example in content["examples"].values():
            MODELS[name].model_validate(example["value"], extra="forbid")
            schema = document["components"]["schemas"][name]
            assert set(schema["required"]) <= set(example["value"]) <= set(schema["properties"])
        if not where.endswith(("200", "202")) and "readyz" not in where:
            assert media == "application/problem+json"
            assert {example["value"]["status"] for example in content["examples"].values()} == {int(where[-3:])}


def test_every_request_example_is_accepted_by_the_models(document: dict[str, Any]) -> None:
    content = calls(document)["post /v1/intents"]["requestBody"]["content"]["application/json"]
    assert {example["value"]["tool"] for example in content["examples"].values()} == set(TOOLS)
    hotels = Hotels(PROPERTIES, dt.datetime(2027, 1, 1, tzinfo=dt.UTC))  # the examples' dates don't age
    for example in content["examples"].values():
        submit = Submit.model_validate(example["value"])
        TOOLS[submit.tool].arguments.model_validate(submit.arguments, context=hotels)


def test_every_example_of_a_read_is_accepted_by_its_model(document: dict[str, Any]) -> None:
    content = calls(document)["post /v1/reads/{tool}"]["requestBody"]["content"]["application/json"]
    assert set(content["examples"]) == set(READ_TOOLS)
    hotels = Hotels(PROPERTIES, dt.datetime(2027, 1, 1, tzinfo=dt.UTC))
    for tool, example in content["examples"].items():
        READ_TOOLS[tool].model_validate(Read.model_validate(example["value"]).arguments, context=hotels)


def references(value: Any) -> set[str]:
    match value:
        case dict():
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*(references(part) for part in value.values()))
        case list():
            return set().union(*(references(part) for part in value))
        case _:
            return set()


def test_every_reference_leads_to_a_schema(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert {name.rpartition("/")[2] for name in references(document)} <= set(schemas)
    tools = [variant["properties"]["tool"]["const"] for variant in schemas["Submit"]["oneOf"]]
    assert tools == list(TOOLS)
    assert Scope.AGENT.value in calls(document)["post /v1/intents"]["description"]
