"""Errors as the caller reads them: problem+json (RFC 9457) that carries what the model is told."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from api.fields import problems_of, shown
from booking.errors import tool_error
from booking.results import FieldProblem, Problem
from dedupe.engine import DatabaseAway

MEDIA_TYPE = "application/problem+json"
#: Seconds: a restarting Postgres needs about as long.
RETRY_AFTER = "2"


class Refused(Exception):
    """A request that is answered with the row `row` of `booking.errors.TABLE`, filled with `values`."""

    def __init__(self, status: int, row: str, headers: Mapping[str, str] | None = None, **values: Any) -> None:
        super().__init__(row)
        self.problem = problem(status, row, **values)
        self.headers = headers


class WrongFields(Refused):
    """422: these fields are wrong; the first is the one the model is told about."""

    def __init__(self, wrong: Sequence[FieldProblem]) -> None:
        super().__init__(422, "invalid_argument", **wrong[0].model_dump())
        detail = self.problem.detail
        if len(wrong) > 1:
            detail = f"{len(wrong)} fields are wrong. " + "; ".join(f"{one.field}: {one.problem}" for one in wrong)
        self.problem = self.problem.model_copy(update={"detail": detail, "errors": list(wrong)})


def problem(status: int, row: str, **values: Any) -> Problem:
    """The answer for a row of the table."""
    error = tool_error(row, **values)
    title = row.replace("_", " ").capitalize()
    return Problem(
        type=f"urn:roomkey:problem:{row}", title=title, status=status, detail=error.message, tool_error=error
    )


def answer(what: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as a response."""
    body = what.model_dump_json(
        exclude={name for name in ("errors", "notice", "handoff") if getattr(what, name) is None}
    )
    return Response(body, what.status, dict(headers or {}), MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem."""
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _parameters)
    app.add_exception_handler(HTTPException, _routing)
    app.add_exception_handler(DatabaseAway, _database_away)
    app.add_exception_handler(Exception, _bug)  # the server logs it with its trace


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return answer(error.problem, error.headers)


async def _parameters(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # The first part of a place is where the parameter stands: query, path.
    errors = [{**one, "loc": one["loc"][1:]} for one in error.errors()]
    return answer(WrongFields(problems_of(errors)).problem)


async def _routing(request: Request, error: Exception) -> Response:
    """404 for paths and 405 for methods that the router doesn't know."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        wrong = problem(405, "wrong_method", sent=shown(request.method), allowed=allowed)
        return answer(wrong, error.headers)
    if error.status_code == 404:
        return answer(problem(404, "no_such_intent", what="path"))
    return answer(problem(error.status_code, "malformed", problem=str(error.detail)), error.headers)


async def _database_away(_request: Request, _error: Exception) -> Response:
    return answer(problem(503, "no_database"), {"Retry-After": RETRY_AFTER})


async def _bug(_request: Request, _error: Exception) -> Response:
    return answer(problem(500, "internal"))
