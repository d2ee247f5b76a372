"""What tests and demonstrations steer and watch the simulator with. Not part of the contract, never in the ledger.

What `/seed` and `/desk/{booking_id}` take is told in desk.py, the rules of `/faults` in faults.py and troubles.py.
"""

from datetime import date, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from providers.simulator.answers import json_answer
from providers.simulator.contract import Amount, Name, PlainDate, Strict
from providers.simulator.desk import Alteration, Seed, alter, seed
from providers.simulator.errors import invalid, not_found
from providers.simulator.gate import simulator_of
from providers.simulator.rooms import nights_of
from providers.simulator.world import Mode


class ModeBody(Strict):
    """`POST /mode`; a key life set here counts for keys already known, too."""

    mode: Mode
    key_life_s: Annotated[float, Field(ge=0)] | None = None


class InventoryBody(Strict):
    """`POST /inventory`: `rooms` can then be booked on the night, on from … to-1, or on every night."""

    property: Name
    room_type: Name
    rooms: Annotated[int, Field(ge=0, le=10_000_000)]
    night: PlainDate | None = None
    from_: Annotated[PlainDate | None, Field(alias="from")] = None
    to: PlainDate | None = None

    def nights(self) -> list[date] | None:
        """The nights meant; None for all."""
        if self.night is not None:
            return [self.night]
        if self.from_ is None and self.to is None:
            return None
        if self.from_ is None or self.to is None:
            raise invalid("from", "from and to belong together")
        return nights_of(self.from_, self.to)


class PriceBody(Strict):
    """`POST /prices`: the nightly price from now on."""

    property: Name
    room_type: Name
    amount: Amount


class LedgerQuery(Strict):
    """Filters of `GET /ledger`; `after` is the number of an entry."""

    reference: str | None = None
    key: str | None = None
    effect: bool | None = None
    method: str | None = None
    operation: str | None = None
    after: int = 0


def control_router() -> APIRouter:
    """All control routes."""
    router = APIRouter(tags=["control"])
    for method, path, endpoint in (
        ("GET", "/healthz", healthz),
        ("GET", "/ledger", ledger),
        ("DELETE", "/ledger", clear_ledger),
        ("POST", "/faults", add_fault),
        ("GET", "/faults", faults),
        ("DELETE", "/faults", clear_faults),
        ("DELETE", "/faults/{id}", drop_fault),
        ("POST", "/faults/{id}/release", release_fault),
        ("GET", "/held", held),
        ("POST", "/held/release", release_all),
        ("POST", "/held/{n}/release", release_one),
        ("GET", "/mode", mode),
        ("POST", "/mode", set_mode),
        ("POST", "/inventory", set_inventory),
        ("POST", "/prices", set_price),
        ("GET", "/properties", properties),
        ("GET", "/bookings", bookings),
        ("GET", "/payments", payments),
        ("POST", "/seed", seed_bookings),
        ("POST", "/desk/{booking_id}", alter_booking),
        ("POST", "/reset", reset),
    ):
        router.add_api_route(path, endpoint, methods=[method], response_model=None)
    return router


async def healthz(request: Request) -> Response:
    """Up, and in which mode."""
    return json_answer(200, {"status": "ok", "mode": simulator_of(request).world.mode})


async def ledger(query: Annotated[LedgerQuery, Query()], request: Request) -> Response:
    """Calls received, oldest first."""
    return json_answer(200, {"calls": simulator_of(request).ledger.read(**query.model_dump())})


async def clear_ledger(request: Request) -> Response:
    """Forget the calls received."""
    simulator_of(request).ledger.clear()
    return Response(status_code=204)


async def add_fault(body: Annotated[dict[str, Any], Body()], request: Request) -> Response:
    """Put a rule in force."""
    try:
        rule = simulator_of(request).faults.add(body)
    except ValidationError as error:
        # As FastAPI would name them; what has no place of its own is about the kind.
        errors = [
            {**item, "loc": ("body", *(item["loc"] or ("kind",)))} for item in error.errors(include_context=False)
        ]
        raise RequestValidationError(errors) from None
    return json_answer(201, rule.shown())


async def faults(request: Request) -> Response:
    """The rules in force, with their counts."""
    return json_answer(200, {"faults": [rule.shown() for rule in simulator_of(request).faults.rules.values()]})


async def clear_faults(request: Request) -> Response:
    """No more rules; calls they hold go on."""
    simulator = simulator_of(request)
    simulator.faults.rules.clear()
    return json_answer(200, {"released": simulator.held.release()})


async def drop_fault(id: str, request: Request) -> Response:
    """One rule less; calls it holds go on."""
    simulator = simulator_of(request)
    if simulator.faults.rules.pop(id, None) is None:
        raise not_found("fault")
    return json_answer(200, {"released": simulator.held.release(fault=id)})


async def release_fault(id: str, request: Request) -> Response:
    """Calls this rule holds go on; the rule stays."""
    return json_answer(200, {"released": simulator_of(request).held.release(fault=id)})


async def held(request: Request) -> Response:
    """The calls that wait now."""
    return json_answer(200, {"held": simulator_of(request).held.shown()})


async def release_all(request: Request) -> Response:
    """Every waiting call goes on."""
    return json_answer(200, {"released": simulator_of(request).held.release()})


async def release_one(n: int, request: Request) -> Response:
    """One waiting call goes on."""
    return json_answer(200, {"released": simulator_of(request).held.release(n=n)})


async def mode(request: Request) -> Response:
    """What the system can do for a caller who is in doubt."""
    return json_answer(200, {"mode": simulator_of(request).world.mode})


async def set_mode(body: ModeBody, request: Request) -> Response:
    """Change it at once."""
    simulator = simulator_of(request)
    simulator.world.mode = body.mode
    if body.key_life_s is not None:
        simulator.keys.life = timedelta(seconds=body.key_life_s)
    return json_answer(200, {"mode": body.mode})


async def set_inventory(body: InventoryBody, request: Request) -> Response:
    """How many rooms can still be booked."""
    stock = simulator_of(request).world.property(body.property).room(body.room_type)
    stock.set_free(body.rooms, body.nights())
    return json_answer(200, {"property": body.property, "room_type": body.room_type, "rooms": body.rooms})


async def set_price(body: PriceBody, request: Request) -> Response:
    """Another nightly price."""
    simulator_of(request).world.property(body.property).room(body.room_type).price = body.amount
    return json_answer(200, {"property": body.property, "room_type": body.room_type, "amount": str(body.amount)})


async def properties(request: Request) -> Response:
    """The hotels, their rooms and nightly prices."""
    hotels = simulator_of(request).world.properties.values()
    return json_answer(
        200,
        {
            "properties": [
                {
                    "id": hotel.id,
                    "name": hotel.name,
                    "time_zone": hotel.time_zone,
                    "currency": hotel.currency,
                    "room_types": [
                        {"room_type": s.name, "sleeps": s.sleeps, "price": str(s.price), "rooms": s.total}
                        for s in hotel.stock.values()
                    ],
                }
                for hotel in hotels
            ]
        },
    )


async def bookings(request: Request) -> Response:
    """Every booking there is, cancelled ones too."""
    return json_answer(200, {"bookings": list(simulator_of(request).world.register.all.values())})


async def payments(request: Request) -> Response:
    """Every captured payment."""
    return json_answer(
        200,
        {
            "payments": [
                {
                    "payment_id": payment.id,
                    "booking_id": payment.booking_id,
                    "amount": str(payment.amount),
                    "refunded": str(payment.refunded),
                    "currency": payment.currency,
                    "refundable": payment.refundable,
                }
                for payment in simulator_of(request).world.payments.all.values()
            ]
        },
    )


async def seed_bookings(body: Seed, request: Request) -> Response:
    """Many bookings at once, past the inventory."""
    return json_answer(201, {"booking_ids": seed(simulator_of(request).world, body)})


async def alter_booking(booking_id: str, body: Alteration, request: Request) -> Response:
    """A booking altered behind the callers' backs."""
    return json_answer(200, alter(simulator_of(request).world, booking_id, body))


async def reset(request: Request) -> Response:
    """Everything as at the start; waiting calls go on into the new world only to find the old rules gone."""
    simulator = simulator_of(request)
    simulator.faults.rules.clear()
    simulator.world.reset()
    simulator.keys.clear()
    simulator.ledger.clear()
    simulator.held.release()
    return Response(status_code=204)
