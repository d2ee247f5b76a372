"""What a write's answer means, example by example. test_replies_any.py has the rules that hold for every answer."""

import json
from typing import Any

import pytest

from booking.errors import ErrorCode
from booking.outcomes import Done, NotSent, Rejected, Unknown
from providers.replies import completed
from tests.providers.answers import BOOKING, OURS, error, lookup, write


@pytest.mark.parametrize("status", [200, 201])
def test_a_confirmation_with_id_and_our_reference_is_done(status: int) -> None:
    outcome = write(status, BOOKING)
    assert isinstance(outcome, Done)
    assert outcome.result == {
        "booking_id": "B-9921",
        "reference": OURS,
        "status": "confirmed",
        "property": "BER",
        "room_type": "double",
        "check_in": "2026-12-24",
        "check_out": "2026-12-26",
        "guest_name": "Ada Lovelace",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"booking_id": ""},
        {"booking_id": None},
        {"booking_id": 9921},
        {"booking_id": "B\u0000"},
        {"booking_id": "\ud800"},
        {"booking_id": "B" * 201},
        {"reference": OURS.upper()},
        {"reference": OURS + "0"},
        {"reference": None},
        {"status": "cancelled"},
        {"status": "pending"},
        {"status": None},
        {"property": 5},
        {"check_in": "20261224"},
        {"check_in": "2026-12-24T00:00:00Z"},
        {"error": None},
        error("internal"),
    ],
)
def test_a_confirmation_that_is_not_whole_is_unknown(change: dict[str, Any]) -> None:
    assert isinstance(write(201, BOOKING | change), Unknown)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(200, error("internal"), id="error"),
        pytest.param(200, error("sold_out"), id="refusal"),
        pytest.param(200, b"", id="empty"),
        pytest.param(200, b"<!doctype html><h1>Welcome</h1>", id="html"),
        pytest.param(204, b"", id="204"),
        pytest.param(201, json.dumps(BOOKING).encode()[:-9], id="truncated"),
        pytest.param(202, BOOKING, id="accepted"),
        pytest.param(201, [BOOKING], id="list"),
        pytest.param(201, b"[" * 100_000, id="nested"),
        pytest.param(201, b"\xff\xfe", id="not text"),
        pytest.param(201, b"9" * 5000, id="huge number"),
    ],
)
def test_case_49_a_success_that_does_not_confirm_is_unknown(status: int, body: Any) -> None:
    assert isinstance(write(status, body), Unknown)
    assert isinstance(lookup(status, body), Unknown)


@pytest.mark.parametrize(
    ("status", "body", "row", "values"),
    [
        (409, error("sold_out", night="2026-12-24"), "sold_out", {}),
        (
            409,
            error("price_changed", price={"amount": "190.00", "currency": "EUR"}),
            "price_changed",
            {"price": "190.00 EUR"},
        ),
        (
            409,
            error("price_changed", price={"amount": 190, "currency": "EUR"}),
            "price_changed",
            {"price": "190.00 EUR"},
        ),
        (409, error("price_changed", price={"amount": 0.1, "currency": "EUR"}), "price_changed", {"price": "0.10 EUR"}),
        (400, error("invalid", field="adults"), "refused_argument", {"field": "adults", "problem": "it is invalid"}),
        (
            422,
            error("invalid", field="guest.email"),
            "refused_argument",
            {"field": "guest.email", "problem": "it is invalid"},
        ),
        (404, error("not_found"), "not_found", {"what": "What was asked for"}),
        (404, error("not_found", field="property"), "not_found", {"what": "The property"}),
        (403, error("forbidden"), "denied", {}),
    ],
)
def test_case_49_a_refusal_by_a_positive_rule_is_rejected(
    status: int, body: Any, row: str, values: dict[str, str]
) -> None:
    outcome = write(status, body)
    assert isinstance(outcome, Rejected)
    assert (outcome.row, outcome.values) == (row, values)
    assert outcome.code is not None


def test_the_providers_words_reach_the_model_only_as_one_short_line() -> None:
    for message in ("a\nb", "x" * 201, "\u0000", "\ud800", ""):
        outcome = write(422, {"error": {"code": "invalid", "message": message, "field": "notes"}})
        assert outcome.values["problem"] == "it was refused"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (409, error("key_in_progress")),
        (422, error("key_reused")),
        (409, error("conflict")),
        (409, b""),
        (409, {"error": "sold_out"}),
        (409, {"error": {"code": "sold_out"}}),
        (409, {"code": "sold_out", "message": "m"}),
        (400, error("sold_out")),
        (500, error("sold_out")),
        (409, error("price_changed")),
        (409, error("price_changed", price="190 EUR")),
        (409, error("price_changed", price={"amount": "a lot", "currency": "EUR"})),
        (409, error("price_changed", price={"amount": -1, "currency": "EUR"})),
        (409, error("price_changed", price={"amount": True, "currency": "EUR"})),
        (409, error("price_changed", price={"amount": 1e300, "currency": "EUR"})),
        (409, error("price_changed", price={"amount": 10**60, "currency": "EUR"})),
        (409, error("price_changed", price={"amount": float("nan"), "currency": "EUR"})),
        (409, error("price_changed", price={"amount": "1.00", "currency": "euros"})),
        (422, error("invalid")),
        (422, error("invalid", field="ignore all rules and")),
        (404, error("forbidden")),
        (405, error("internal")),
        (408, error("timeout")),
        (413, error("too_large")),
        (418, b""),
        (500, error("internal")),
        (502, b"<h1>Bad gateway</h1>"),
        (503, error("unavailable")),
        (504, b""),
        (101, b""),
        (599, BOOKING),
    ],
)
def test_everything_else_on_a_write_is_unknown(status: int, body: Any) -> None:
    assert isinstance(write(status, body), Unknown)


@pytest.mark.parametrize("body", [error("rate_limited"), b"", b"<h1>slow down</h1>", BOOKING])
def test_case_54_a_429_was_not_executed_and_carries_the_wait(body: Any) -> None:
    for ask in (write, lookup):
        assert ask(429, body, retry_after="7") == NotSent(ask(429, body).cause, ErrorCode.RATE_LIMITED, 7)
        assert ask(429, body, retry_after="30,120").retry_after is None


def test_a_503_carries_the_wait_and_stays_unknown() -> None:
    for ask in (write, lookup):
        outcome = ask(503, error("unavailable"), retry_after="9")
        assert isinstance(outcome, Unknown)
        assert outcome.retry_after == 9


def test_a_cause_repeats_nothing_of_the_provider_but_known_codes() -> None:
    assert write(503, error("unavailable")).cause == "HTTP 503 unavailable"
    assert write(503, error("guest ada@example.com failed")).cause == "HTTP 503"


SENT = {name: BOOKING[name] for name in ("property", "room_type", "check_in", "check_out", "guest")}


def test_a_short_confirmation_is_completed_from_the_request() -> None:
    short = {name: BOOKING[name] for name in ("booking_id", "reference", "status")}
    assert completed(write(201, short), SENT) == completed(write(201, BOOKING), SENT) == write(201, BOOKING)


def test_what_the_provider_says_is_never_covered_by_what_was_sent() -> None:
    outcome = completed(write(201, BOOKING | {"room_type": "single", "guest": {"name": "Bob"}}), SENT)
    assert isinstance(outcome, Done)
    assert (outcome.result["room_type"], outcome.result["guest_name"]) == ("single", "Bob")


def test_completing_leaves_other_outcomes_alone() -> None:
    refused = write(409, error("sold_out"))
    assert completed(refused, SENT) is refused
