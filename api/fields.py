"""Validation errors in words for a model: which field, what is allowed, what was sent. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from booking.arguments import Guest, Money, Stay
from booking.results import FieldProblem

#: A thousand rooms with one wrong shared field are one mistake, not a thousand lines.
MOST = 20
#: Characters of a sent value that are shown.
SHOWN = 80

_WORDS = {
    "missing": "is required",
    "string_type": "must be text",
    "string_unicode": "must be valid Unicode text without lone surrogates",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of a sensible size",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "date_from_datetime_parsing": "must be a date of the calendar, in the form YYYY-MM-DD",
    "date_parsing": "must be a date of the calendar, in the form YYYY-MM-DD",
    "decimal_parsing": "must be a decimal number",
    "decimal_type": "must be a decimal number",
    "decimal_max_places": "must have at most {decimal_places} decimal places",
    "decimal_max_digits": "must have at most {max_digits} digits",
    "decimal_whole_digits": "must have at most {whole_digits} digits before the decimal point",
}
_NESTED: dict[str, type[BaseModel]] = {"guest": Guest, "max_price": Money}
#: Checks over several fields name the one to correct: "check_out: must be after check_in".
_NAMED = re.compile(r"(\w+): (.*)", re.DOTALL)


def problems_of(errors: Sequence[Mapping[str, Any]], model: type[BaseModel] | None = None) -> list[FieldProblem]:
    """pydantic's `errors` in our words, the first `MOST`. `model`: what was validated, to name its fields."""
    return [_problem(error, model) for error in errors[:MOST]]


def _problem(error: Mapping[str, Any], model: type[BaseModel] | None) -> FieldProblem:
    kind, place, sent = error["type"], tuple(error["loc"]), error.get("input")
    if kind == "missing":
        return FieldProblem(field=path(place), problem=_WORDS[kind], sent="nothing")
    if kind == "value_error":
        words = str(error["msg"]).removeprefix("Value error, ")
        named = _NAMED.fullmatch(words)
        if named and isinstance(sent, Mapping):
            return FieldProblem(field=path((*place, named[1])), problem=named[2], sent=shown(sent.get(named[1])))
        return FieldProblem(field=path(place), problem=words, sent=shown(sent))
    if kind == "extra_forbidden":
        words = f"is not a known field; known are {', '.join(_fields(place, model))}"
    else:
        words = _WORDS.get(kind, str(error["msg"])).format_map(error.get("ctx") or {})
    return FieldProblem(field=path(place), problem=words, sent=shown(sent))


def _fields(place: tuple[Any, ...], model: type[BaseModel] | None) -> list[str]:
    """The names that are known beside the unknown one at `place`."""
    parent = place[-2] if len(place) > 1 else None
    if isinstance(parent, int):
        model = Stay
    elif parent is not None:
        model = _NESTED.get(parent, model)
    return list(model.model_fields) if model else []


def path(place: Sequence[Any]) -> str:
    """A place as people write it: rooms[3].check_in."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{printable(str(part))}" if text else printable(str(part))
    return text or "arguments"


def shown(value: Any) -> str:
    """A sent value, shortened and escaped. Of objects and lists only the size: they may hold a guest's data."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f'"{printable(value)}"'
        case Mapping():
            return f"an object with {len(value)} fields"
        case list() | tuple():
            return f"a list of {len(value)}"
        case _:
            return printable(str(value))


def printable(text: str) -> str:
    """`text` shortened, without control characters, lone surrogates and the like."""
    short = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in short)
