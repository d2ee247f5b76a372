"""The table of errors: what a model is told must be fillable, short, and free of internals."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

from booking.effects import Effect, words
from booking.errors import MAY_PASS, TABLE, ErrorCode, Invalid, tool_error

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for room in ("api", "booking", "cli", "dedupe", "providers", "tasks", "workers")
    for path in sorted((ROOT / room).rglob("*.py"))
]
#: A plausible value for each place that a row may leave open.
VALUES = {
    "field": "rooms[3].check_in",
    "problem": "must not be in the past",
    "sent": "'2026-01-01'",
    "allowed": "create_booking, book_rooms",
    "existing": " as B-9921",
    "differs": "notes",
    "state": "succeeded",
    "what": "The payment",
    "room_type": "double",
    "property": "BER",
    "check_in": "2026-12-24",
    "check_out": "2026-12-26",
    "price": "190.00 EUR",
    "succeeded": 3,
    "total": 4,
    "owned": ": B-9921, B-9922; being confirmed: family — do not book it again",
    "failed": "suite (CONFLICT)",
    "scope": "agent",
    "done": "booked",
    "system": "hotel system",
    "intent": "int_0197c2a4b3d0",
    "subject": "B-9921",
    "reservation_id": "B-9921",
    "amount": "180.00 EUR",
    "said": "30 arrivals: 27 already sent, 1 being confirmed by a person, 2 to be corrected.",
    "fix": "Have the mail addresses of B-9930, B-9931 corrected at the hotel.",
    "why": "the same call has failed too often",
    "handoff": "3 rooms booked: B-9921, B-9922, B-9923.",
}
INTERNALS = re.compile(
    r"postgres|celery|redis|valkey|broker|sql|stack|traceback|exception|queue|worker|http \d|timeout|socket|\bnull\b",
    re.IGNORECASE,
)
every_row = pytest.mark.parametrize("row", TABLE)


def places(row: str) -> set[str]:
    """What the row leaves open."""
    _, message, fix, _ = TABLE[row]
    return {name for text in (message, fix or "") for _, name, _, _ in Formatter().parse(text) if name}


@every_row
def test_every_row_can_be_filled(row: str) -> None:
    assert places(row) <= set(VALUES), "give the new place a value in VALUES"
    error = tool_error(row, **VALUES)
    assert "{" not in f"{error.message}{error.fix}"
    assert error.code is TABLE[row][0]


@every_row
def test_a_missing_value_is_a_bug_and_raises(row: str) -> None:
    for missing in places(row):
        with pytest.raises(KeyError):
            tool_error(row, **{name: VALUES[name] for name in VALUES if name != missing})


@every_row
def test_a_message_is_one_or_two_sentences(row: str) -> None:
    _, message, fix, _ = TABLE[row]
    for text in (message, fix or "Nothing."):
        told = text.format(**VALUES)
        assert 1 <= len(re.findall(r"[.!?](?:\s|$)", told + ("" if told.endswith(".") else "."))) <= 2
        assert len(told) <= 200
        assert told[0].isupper() or text.startswith("{")


@every_row
def test_a_message_names_no_internals(row: str) -> None:
    _, message, fix, _ = TABLE[row]
    assert not INTERNALS.search(f"{message} {fix or ''}")


def test_every_code_but_the_guards_has_a_row() -> None:
    assert set(ErrorCode) - {code for code, *_ in TABLE.values()} <= {ErrorCode.STOPPED}


@every_row
def test_what_the_model_can_not_mend_it_is_not_invited_to_retry(row: str) -> None:
    code, _, _, retryable = TABLE[row]
    if code in (ErrorCode.PERMISSION_DENIED, ErrorCode.UNKNOWN_OUTCOME, ErrorCode.UNAVAILABLE, ErrorCode.RATE_LIMITED):
        assert not retryable


def test_an_unknown_outcome_forbids_to_book_again() -> None:
    error = tool_error("unknown_outcome", **words(Effect.BOOKING))
    assert "Do not ask for it again" in (error.fix or "")
    assert error.code not in MAY_PASS


def test_values_with_braces_are_told_as_they_are() -> None:
    assert tool_error("unknown_tool", sent="'{secret}'", allowed="{x}").message == (
        "There is no tool '{secret}'. Allowed: {x}."
    )


def test_an_error_says_its_message() -> None:
    error = Invalid(tool_error("malformed", problem="not JSON"), path="x")
    assert str(error) == "The request body is not usable: not JSON."
    assert error.context == {"path": "x"}


def calls() -> list[tuple[str, ast.Call]]:
    """Each call of `tool_error` in the sources with a literal row and literal names of values."""
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("tool_error")
        and isinstance(node.args[0], ast.Constant)
    ]


def test_every_caller_gives_exactly_what_its_row_needs() -> None:
    assert calls()
    for where, call in calls():
        row = ast.literal_eval(call.args[0])
        assert row in TABLE, where
        given = {keyword.arg for keyword in call.keywords}
        if None not in given:  # **values: checked where they are made
            assert places(row) <= given, where


def test_every_refusal_that_an_adapter_makes_has_a_row() -> None:
    rows = [
        ast.literal_eval(node.args[0])
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Rejected"
        and isinstance(node.args[0], ast.Constant)
    ]
    assert rows
    assert set(rows) <= set(TABLE)
