"""What every contract call passes: the ledger, the token, the faults, the key; then its route."""

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from providers.simulator.answers import Reset, error_answer, json_answer
from providers.simulator.contract import first_problem
from providers.simulator.errors import PmsError, error_body
from providers.simulator.faults import Call, Rule, drawn_ms
from providers.simulator.kinds import play
from providers.simulator.passage import Passage, Simulator
from providers.simulator.troubles import Latency, When
from providers.simulator.world import Done

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

LARGEST_BODY = 1_048_576  # bytes
LONGEST_KEY = 255  # characters
# Reads need no key. Real systems honour keys on some of these only: a change by PATCH is `lookup-only` there.
KEYED = {"create_booking", "change", "cancel", "refund"}
READ_ONLY = "-readonly"  # the token with this behind it may read, so that 403 can be tried


class ContractRoute(APIRoute):
    """A route of the reference contract; its name is the operation."""

    def get_route_handler(self) -> Handler:
        """FastAPI's own handler, behind the gate."""
        inner = super().get_route_handler()
        operation = self.name

        async def handle(request: Request) -> Response:
            try:
                return await _received(request, operation, inner)
            except ClientDisconnect:
                return Reset()  # it went away in the middle of its own request: nothing was received

        return handle


def simulator_of(request: Request) -> Simulator:
    """The simulator this request came to."""
    simulator: Simulator = request.app.state.simulator
    return simulator


def done(request: Request, result: Done) -> Response:
    """The answer to a call that went through, noted in its ledger line."""
    entry = request.state.entry
    entry.effect = entry.effect or result.effect
    entry.booking_id = result.booking_id
    return json_answer(result.status, result.body)


def problem(error: PmsError | RequestValidationError) -> Response:
    """A refusal in the contract's shape."""
    if isinstance(error, PmsError):
        return json_answer(error.status, error.body)
    field, message, malformed = first_problem(list(error.errors()))
    return json_answer(400 if malformed else 422, error_body("invalid", message, field))


async def _received(request: Request, operation: str, inner: Handler) -> Response:
    simulator = simulator_of(request)
    raw = await request.body()
    body = _readable(raw)
    call = _call(simulator, request, operation, body)
    entry = simulator.ledger.receive(
        simulator.world.now(), operation, call.method, call.path, call.key, call.reference, body
    )
    request.state.entry = entry

    async def effect() -> Response:
        try:
            return await inner(request)
        except (PmsError, RequestValidationError) as error:
            return problem(error)

    keyed = call.key is not None and operation in KEYED and simulator.world.mode == "keyed"
    passage = Passage(simulator, entry, (call.method, call.path, raw), effect, keyed)
    answer = _refused(simulator, request, call, raw)
    if answer is None:
        try:
            answer = await _through(passage, *simulator.faults.strike(_known(simulator, request, call)))
        finally:
            passage.close()
    # Only a call that waited may have lost its client; asking costs time.
    if not isinstance(answer, Reset) and not (passage.waited and await request.is_disconnected()):
        entry.status = answer.status_code
    return answer


async def _through(passage: Passage, delay: Rule | None, other: Rule | None) -> Response:
    passage.entry.fault = "+".join(rule.trouble.kind for rule in (delay, other) if rule) or None
    await _delay(passage, delay, "before")
    passage.rule = other
    answer = await play(other.trouble, passage) if other else await passage.act()
    await _delay(passage, delay, "after")
    return answer


async def _delay(passage: Passage, rule: Rule | None, side: When) -> None:
    """The rule's delay, if it lies on this side of the effect. A slow system has the key from the start."""
    if rule is None or not isinstance(rule.trouble, Latency) or rule.trouble.when != side:
        return
    passage.arrive()
    passage.rule = rule
    await passage.hold(drawn_ms(rule.trouble, rule.dice))


def _refused(simulator: Simulator, request: Request, call: Call, raw: bytes) -> Response | None:
    """What is turned away before any rule or key is looked at."""
    if simulator.token is not None:
        shown = request.headers.get("authorization", "")
        if shown == f"Bearer {simulator.token}{READ_ONLY}":
            if call.method != "GET":
                return error_answer(403, "this token may only read")
        elif shown != f"Bearer {simulator.token}":
            return error_answer(401, "a bearer token is needed")
    if len(raw) > LARGEST_BODY:
        return error_answer(413, f"a body has at most {LARGEST_BODY} bytes")
    if call.key is not None and not 0 < len(call.key) <= LONGEST_KEY:
        return error_answer(400, f"Idempotency-Key must have 1 to {LONGEST_KEY} characters")
    return None


def _call(simulator: Simulator, request: Request, operation: str, body: Any) -> Call:
    sent = body if isinstance(body, dict) else {}
    query = request.query_params

    def named(name: str) -> str | None:
        value = sent.get(name, query.get(name))
        return value if isinstance(value, str) else None

    return Call(
        operation,
        request.method,
        request.url.path,
        request.headers.get("idempotency-key"),
        named("reference"),
        named("room_type"),
        named("property"),
    )


def _known(simulator: Simulator, request: Request, call: Call) -> Call:
    """A call on a booking's id is also about that booking's reference, room type and property."""
    booking = simulator.world.register.all.get(request.path_params.get("id", ""))
    if booking is None:
        return call
    return Call(
        call.operation,
        call.method,
        call.path,
        call.key,
        call.reference or booking["reference"],
        booking["room_type"],
        booking["property"],
    )


def _readable(raw: bytes) -> Any:
    """The body for the ledger: parsed, or as text where it is not JSON."""
    if not raw:
        return None
    try:
        return json.loads(raw, parse_float=_finite, parse_constant=str)
    except (ValueError, RecursionError):
        return raw[:LARGEST_BODY].decode("utf-8", "replace")


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number
