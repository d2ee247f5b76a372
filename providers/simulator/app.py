"""The contract's routes, and the whole application."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from providers.simulator.answers import error_answer
from providers.simulator.contract import (
    ArrivalsQuery,
    AvailabilityQuery,
    ChangeDates,
    CreateBooking,
    ReferenceQuery,
    RefundPayment,
)
from providers.simulator.control import control_router
from providers.simulator.errors import PmsError
from providers.simulator.faults import Faults
from providers.simulator.gate import ContractRoute, done, problem, simulator_of
from providers.simulator.held import Held
from providers.simulator.keys import Keys
from providers.simulator.ledger import Ledger
from providers.simulator.passage import Simulator
from providers.simulator.world import World

KEY_LIFE = timedelta(hours=24)  # as Apaleo and Stripe keep theirs
EVERY_METHOD = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]


def build_app(world: World, token: str | None = None, key_life: timedelta = KEY_LIFE) -> FastAPI:
    """A hotel system around this world. With a token, contract calls must show it."""
    app = FastAPI(title="Roomkey PMS simulator", redirect_slashes=False, docs_url="/docs", redoc_url=None)
    app.state.simulator = Simulator(world, Ledger(), Faults(), Held(), Keys(key_life), token)
    app.include_router(contract_router())
    app.include_router(control_router())
    app.add_exception_handler(PmsError, _problem)
    app.add_exception_handler(RequestValidationError, _problem)
    app.add_exception_handler(HTTPException, _no_route)
    return app


def contract_router() -> APIRouter:
    """The reference contract; a route's name is what fault rules call its operation."""
    router = APIRouter(route_class=ContractRoute)
    for method, path, name, endpoint in (
        ("POST", "/v1/bookings", "create_booking", create_booking),
        ("GET", "/v1/bookings", "find", find),
        ("GET", "/v1/bookings/{id}", "get", get),
        ("PATCH", "/v1/bookings/{id}", "change", change),
        ("POST", "/v1/bookings/{id}/cancel", "cancel", cancel),
        ("POST", "/v1/payments/{payment_id}/refunds", "refund", refund),
        ("GET", "/v1/refunds", "find_refunds", find_refunds),
        ("GET", "/v1/availability", "availability", availability),
        ("GET", "/v1/arrivals", "arrivals", arrivals),
    ):
        router.add_api_route(path, endpoint, methods=[method], name=name, response_model=None)
    # Calls to nowhere are calls received, too.
    router.add_api_route(
        "/v1/{rest:path}",
        nowhere,
        methods=EVERY_METHOD,
        name="unknown",
        response_model=None,
        include_in_schema=False,
    )
    return router


async def create_booking(body: CreateBooking, request: Request) -> Response:
    """Book a room."""
    return done(request, simulator_of(request).world.create(body))


async def find(query: Annotated[ReferenceQuery, Query()], request: Request) -> Response:
    """Bookings with a reference."""
    return done(request, simulator_of(request).world.find(query.reference))


async def get(id: str, request: Request) -> Response:
    """One booking."""
    return done(request, simulator_of(request).world.get(id))


async def change(id: str, body: ChangeDates, request: Request) -> Response:
    """Move a booking to other dates."""
    return done(request, simulator_of(request).world.change(id, body))


async def cancel(id: str, request: Request) -> Response:
    """Cancel a booking."""
    return done(request, simulator_of(request).world.cancel(id))


async def refund(payment_id: str, body: RefundPayment, request: Request) -> Response:
    """Give money back."""
    return done(request, simulator_of(request).world.refund(payment_id, body))


async def find_refunds(query: Annotated[ReferenceQuery, Query()], request: Request) -> Response:
    """Refunds with a reference."""
    return done(request, simulator_of(request).world.find_refunds(query.reference))


async def availability(query: Annotated[AvailabilityQuery, Query()], request: Request) -> Response:
    """What can be booked, at what price."""
    return done(request, simulator_of(request).world.availability(query))


async def arrivals(query: Annotated[ArrivalsQuery, Query()], request: Request) -> Response:
    """Who arrives on a date."""
    return done(request, simulator_of(request).world.arrivals(query))


async def nowhere(rest: str, request: Request) -> Response:
    """No such call."""
    return error_answer(404, "the contract has no such call")


async def _problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, (PmsError, RequestValidationError))
    return problem(error)


async def _no_route(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_answer(error.status_code, str(error.detail))
