"""What tests and people see and steer the catcher with, over HTTP."""

from typing import Annotated

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from providers.catcher.faults import Terms
from providers.catcher.handler import Catcher
from providers.catcher.mails import Mail
from providers.catcher.pages import html_part, list_page, mail_page


class LedgerQuery(BaseModel):
    """Filters of `GET /ledger`; `after` is the number of an entry."""

    model_config = ConfigDict(extra="forbid")

    recipient: str | None = None
    message_id: str | None = None
    step: str | None = None
    delivered: bool | None = None
    after: int = 0


def build_app(catcher: Catcher, smtp_url: str) -> FastAPI:
    """The pages and the control calls around this catcher, whose mail server listens at `smtp_url`."""
    app = FastAPI(title="Roomkey mail catcher", redirect_slashes=False, docs_url=None, redoc_url=None)
    app.state.catcher, app.state.smtp_url = catcher, smtp_url
    for method, path, endpoint in (
        ("GET", "/", look),
        ("GET", "/mails/{id}/view", view),
        ("GET", "/mails/{id}/html", part),
        ("GET", "/healthz", healthz),
        ("GET", "/mails", mails),
        ("DELETE", "/mails", clear_mails),
        ("GET", "/ledger", ledger),
        ("DELETE", "/ledger", clear_ledger),
        ("POST", "/faults", add_fault),
        ("GET", "/faults", faults),
        ("DELETE", "/faults", clear_faults),
    ):
        app.add_api_route(path, endpoint, methods=[method], response_model=None)
    return app


async def look(request: Request) -> Response:
    """The caught mails, for people."""
    return list_page(_catcher(request).mails.all())


async def view(id: str, request: Request) -> Response:
    """One mail, for people."""
    return mail_page(_mail(request, id))


async def part(id: str, request: Request) -> Response:
    """The HTML of one mail, as `view` frames it."""
    return html_part(_mail(request, id))


async def healthz(request: Request) -> Response:
    """Up, and where mails are to be sent."""
    return JSONResponse({"status": "ok", "smtp_url": request.app.state.smtp_url})


async def mails(request: Request, recipient: str | None = None) -> Response:
    """Caught mails, oldest first."""
    return JSONResponse({"mails": [mail.shown() for mail in _catcher(request).mails.all(recipient)]})


async def clear_mails(request: Request) -> Response:
    """Forget the caught mails."""
    _catcher(request).mails.clear()
    return Response(status_code=204)


async def ledger(query: Annotated[LedgerQuery, Query()], request: Request) -> Response:
    """Attempts to hand in a mail, oldest first."""
    return JSONResponse({"attempts": _catcher(request).ledger.read(**query.model_dump())})


async def clear_ledger(request: Request) -> Response:
    """Forget the attempts."""
    _catcher(request).ledger.clear()
    return Response(status_code=204)


async def add_fault(terms: Terms, request: Request) -> Response:
    """Put a rule in force."""
    try:
        return JSONResponse(_catcher(request).faults.add(terms).shown(), 201)
    except ValueError as error:
        raise HTTPException(409, str(error)) from None


async def faults(request: Request) -> Response:
    """The rules in force, with their counts."""
    return JSONResponse({"faults": [rule.shown() for rule in _catcher(request).faults.rules]})


async def clear_faults(request: Request) -> Response:
    """No more rules."""
    _catcher(request).faults.rules.clear()
    return Response(status_code=204)


def _catcher(request: Request) -> Catcher:
    catcher: Catcher = request.app.state.catcher
    return catcher


def _mail(request: Request, id: str) -> Mail:
    found = _catcher(request).mails.get(id)
    if found is None:
        raise HTTPException(404, "there is no such mail; only the newest are kept")
    return found
