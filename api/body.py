"""The request's body: bounded while it is read, and JSON that means one thing only."""

import asyncio
import json
import math
import re
from typing import Any

from starlette.requests import ClientDisconnect, Request

from api.fields import path, printable, shown
from api.problems import Refused, WrongFields
from booking.results import FieldProblem

MAX_BYTES = 1 << 20
#: Seconds a body may take to arrive; a client that trickles must not hold a connection for ever.
BODY_SECONDS = 10

#: The escapes by which NUL and lone surrogates come in; raw they aren't JSON or not UTF-8.
_SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_BAD = re.compile("[\0\ud800-\udfff]")


async def read_body(request: Request) -> bytes:
    """The whole body, at most MAX_BYTES, whether or not its length was announced."""
    too_large = Refused(413, "too_large", allowed="1 MiB")
    if int(request.headers.get("content-length", "0")) > MAX_BYTES:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise too_large
    except TimeoutError:
        raise Refused(408, "too_slow", {"Connection": "close"}, allowed=f"{BODY_SECONDS} s") from None
    except ClientDisconnect:
        raise Refused(400, "malformed", problem="it ended early") from None
    return bytes(body)


def parse(body: bytes) -> dict[str, Any]:
    """The body as a JSON object. Refuses what parsers read in different ways: NaN, infinities, duplicate names."""
    try:
        value = json.loads(
            body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite
        )
    except UnicodeDecodeError:
        raise _malformed("it is not UTF-8") from None
    except RecursionError:
        raise _malformed("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _malformed(f"it is not JSON ({error.msg} at character {error.pos})") from None
    except ValueError as error:  # from the hooks, and for numbers of thousands of digits
        raise _malformed(printable(str(error))) from None
    if not isinstance(value, dict):
        raise _malformed("it is not a JSON object")
    if _SUSPICIOUS.search(body):
        _refuse_bad_text(value)
    return value


def _malformed(problem: str) -> Refused:
    return Refused(400, "malformed", problem=problem)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"{shown(name)} is given twice")
            seen.add(name)
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {printable(digits)} is too large")
    return value


def _refuse_bad_text(body: dict[str, Any]) -> None:
    """NUL and lone surrogates can be neither stored nor hashed. Iterative: nesting is the sender's choice."""
    left: list[tuple[tuple[Any, ...], Any]] = [((), body)]
    while left:
        place, value = left.pop()
        match value:
            case dict():
                for name, part in value.items():
                    left += [((*place, name), part), ((*place, name), name)]
            case list():
                left += [((*place, number), part) for number, part in enumerate(value)]
            case str() if _BAD.search(value):
                inner = place[1:] if place[0] == "arguments" else place
                problem = "must be valid Unicode text without NUL and lone surrogates"
                raise WrongFields([FieldProblem(field=path(inner), problem=problem, sent=shown(value))])
