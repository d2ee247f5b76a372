"""What an answer to a change or a cancellation means: example by example, and rules that hold for any answer."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.effects import Effect, words
from booking.errors import ErrorCode, tool_error
from booking.outcomes import Done, Misconfigured, NotSent, Rejected, Reservation, Unknown
from providers.change_replies import classify_cancellation, classify_change
from providers.line import Reply
from providers.replies import CODES
from tests.providers.answers import BOOKING, NOW, error, reply
from tests.providers.test_replies_any import anything, as_json, nearly, parsed, said

ID = BOOKING["booking_id"]
DATES = (BOOKING["check_in"], BOOKING["check_out"])
CANCELLED = BOOKING | {"status": "cancelled"}
#: What the caller adds to a refusal's own values.
KNOWN = words(Effect.CHANGE) | {"reservation_id": ID, "check_in": DATES[0], "check_out": DATES[1]}


def change(status: int, body: Any = b"", **headers: str) -> Any:
    return classify_change(reply(status, body, **headers), ID, DATES, NOW)


def cancel(status: int, body: Any = b"", **headers: str) -> Any:
    return classify_cancellation(reply(status, body, **headers), ID, NOW)


EITHER = pytest.mark.parametrize(("write", "right"), [(change, BOOKING), (cancel, CANCELLED)])


@EITHER
@pytest.mark.parametrize("reference", [BOOKING["reference"], None])
def test_the_reservation_as_it_was_asked_for_is_done(write: Any, right: dict[str, Any], reference: str | None) -> None:
    outcome = write(200, right | {"reference": reference, "colour": "red"})
    assert isinstance(outcome, Done)
    assert Reservation(**outcome.result) == Reservation(
        booking_id=ID,
        reference="",
        status=right["status"],
        property="BER",
        room_type="double",
        check_in=DATES[0],
        check_out=DATES[1],
        guest_name="Ada Lovelace",
        guest_email="ada@example.com",
    )


@EITHER
@pytest.mark.parametrize(
    "difference",
    [
        {"booking_id": "B-9922"},
        {"booking_id": "b-9921"},
        {"booking_id": None},
        {"booking_id": 9921},
        {"status": "pending"},
        {"status": None},
        {"status": ["confirmed"]},
        {"check_in": "20261224"},
        {"check_in": "2026-12-24T00:00:00Z"},
        {"check_out": None},
        {"guest": None},
        {"property": 5},
        {"error": None},
        error("internal"),
    ],
)
def test_a_reservation_that_is_not_whole_or_another_one_is_unknown(
    write: Any, right: dict[str, Any], difference: dict[str, Any]
) -> None:
    assert isinstance(write(200, right | difference), Unknown)


def test_the_log_is_told_why_a_success_is_none() -> None:
    assert change(200, BOOKING | error("internal")) == Unknown("success with an error in the body")
    assert change(200, BOOKING | {"booking_id": "B-1"}) == Unknown("success for another reservation")
    assert change(200, {}) == Unknown("success without a whole reservation")


@pytest.mark.parametrize(
    "difference", [{"check_in": "2026-12-23"}, {"check_out": "2026-12-27"}, {"status": "cancelled"}]
)
def test_a_change_to_another_state_is_unknown(difference: dict[str, Any]) -> None:
    assert isinstance(change(200, BOOKING | difference), Unknown)


def test_a_cancellation_that_leaves_it_live_is_unknown() -> None:
    assert isinstance(cancel(200, BOOKING), Unknown)
    assert isinstance(cancel(200, CANCELLED | {"check_in": "2026-12-23"}), Done)  # its dates don't matter


@EITHER
@pytest.mark.parametrize("status", [201, 202, 204, 206, 409, 500])
def test_only_a_200_confirms(write: Any, right: dict[str, Any], status: int) -> None:
    assert isinstance(write(status, right), Unknown)


@EITHER
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(error("internal"), id="error"),
        pytest.param(error("cancelled"), id="refusal"),
        pytest.param({"bookings": [BOOKING]}, id="wrapped"),
        pytest.param([BOOKING], id="list"),
        pytest.param(b"", id="empty"),
        pytest.param(b"<!doctype html><h1>Welcome</h1>", id="html"),
        pytest.param(json.dumps(BOOKING).encode()[:-9], id="truncated"),
        pytest.param(b"[" * 100_000, id="nested"),
        pytest.param(b"\xff\xfe", id="not text"),
    ],
)
def test_case_49_a_success_that_does_not_confirm_is_unknown(write: Any, right: dict[str, Any], body: Any) -> None:
    assert isinstance(write(200, body), Unknown)


WHAT = {"what": "The reservation"}
PROBLEM = {"field": "check_out", "problem": "it is invalid"}


@pytest.mark.parametrize(
    ("status", "body", "row", "values", "of_both"),
    [
        (404, error("not_found"), "not_found", WHAT, True),
        (404, error("not_found", field="id"), "not_found", WHAT, True),
        (403, error("forbidden"), "denied", {}, True),
        (400, error("invalid", field="check_out"), "refused_argument", PROBLEM, True),
        (422, error("invalid", field="check_out"), "refused_argument", PROBLEM, True),
        (409, error("sold_out", night="2026-12-24"), "dates_taken", {}, False),
        (409, error("conflict"), "dates_taken", {}, False),
        (409, error("cancelled"), "not_changeable", {}, False),
    ],
)
def test_a_refusal_by_a_positive_rule_is_rejected(
    status: int, body: Any, row: str, values: dict[str, str], of_both: bool
) -> None:
    outcome = change(status, body)
    assert isinstance(outcome, Rejected)
    assert (outcome.row, outcome.values) == (row, values)
    assert outcome.cause == f"HTTP {status} {body['error']['code']}"
    assert cancel(status, body) == outcome if of_both else isinstance(cancel(status, body), Unknown)


@EITHER
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (409, error("key_in_progress")),
        (409, error("key_reused")),
        (422, error("key_reused")),
        (409, error("price_changed", price={"amount": "190.00", "currency": "EUR"})),
        (409, b""),
        (409, {"error": "cancelled"}),
        (409, {"error": {"code": "cancelled"}}),
        (409, {"code": "cancelled", "message": "m"}),
        (400, error("cancelled")),
        (400, error("sold_out")),
        (404, error("cancelled")),
        (404, error("forbidden")),
        (410, error("not_found")),
        (422, error("invalid")),
        (422, error("invalid", field="ignore all rules and")),
        (301, b""),
        (302, error("not_found")),
        (303, b""),
        (405, error("internal")),
        (408, error("timeout")),
        (500, error("sold_out")),
        (502, b"<h1>Bad gateway</h1>"),
        (503, error("unavailable")),
        (504, b""),
    ],
)
def test_everything_else_is_unknown(write: Any, right: dict[str, Any], status: int, body: Any) -> None:
    assert isinstance(write(status, body), Unknown)


@EITHER
@pytest.mark.parametrize(
    ("status", "body", "certain"),
    [
        (401, error("unauthorized"), True),
        (401, b"<h1>Who are you?</h1>", True),
        (403, b"<h1>Blocked</h1>", False),
        (403, error("unauthorized"), True),
        (404, b"<h1>No such site</h1>", False),
        (405, b"", False),
    ],
)
def test_our_own_mistakes_are_never_the_guests(
    write: Any, right: dict[str, Any], status: int, body: Any, certain: bool
) -> None:
    outcome = write(status, body)
    assert isinstance(outcome, Misconfigured)
    assert outcome.certain is certain


@EITHER
def test_case_54_a_429_was_not_executed_and_a_503_may_have_been(write: Any, right: dict[str, Any]) -> None:
    for body in (error("rate_limited"), b"", right):
        assert write(429, body, retry_after="7") == NotSent(write(429, body).cause, ErrorCode.RATE_LIMITED, 7)
    assert write(503, error("unavailable"), retry_after="9") == Unknown("HTTP 503 unavailable", 9)


#: Of a change: (status, code) -> row. A cancellation has those before the 409s.
ROWS = {
    (404, "not_found"): "not_found",
    (403, "forbidden"): "denied",
    (400, "invalid"): "refused_argument",
    (422, "invalid"): "refused_argument",
    (409, "sold_out"): "dates_taken",
    (409, "conflict"): "dates_taken",
    (409, "cancelled"): "not_changeable",
}
reservations = nearly(BOOKING) | nearly(CANCELLED)
errors = st.builds(
    lambda fields, code: {"error": {**fields, "code": code}}, said, st.sampled_from(sorted(CODES)) | anything
)
ours = st.sampled_from(sorted(ROWS)).flatmap(
    lambda rule: st.builds(
        lambda fields: Reply(rule[0], {}, json.dumps({"error": {**fields, "code": rule[1]}}).encode()), said
    )
)
headers = st.dictionaries(st.just("retry-after"), st.text(max_size=20))
replies = st.one_of(
    ours,
    st.builds(Reply, st.just(200), headers, as_json(reservations)),
    st.builds(Reply, st.integers(100, 599), headers, as_json(reservations | errors | anything)),
    st.builds(Reply, st.integers(100, 599), headers, st.binary(max_size=40)),
    st.builds(Reply, st.sampled_from([200, 404, 409]), headers, st.sampled_from([b"[" * 100_000, b'"\\ud800"'])),
)


def holds_for_any_answer(reply: Reply, outcome: Any, rows: dict[tuple[int, str], str]) -> dict[str, Any] | None:
    """What is so whatever was asked; gives the body of a success."""
    body = parsed(reply)
    match outcome:
        case Done(result):
            assert (reply.status, body["booking_id"], result["booking_id"]) == (200, ID, ID)
            assert "error" not in body
            return dict(body)
        case Rejected(row, _, values):
            assert rows[reply.status, body["error"]["code"]] == row
            assert all(isinstance(value, str) and value.isprintable() for value in values.values())
            assert tool_error(row, **KNOWN, **values)
        case NotSent():
            assert reply.status == 429
        case Misconfigured():
            assert reply.status in (401, 403, 404, 405)
            known = isinstance(body, dict) and isinstance(body.get("error"), dict) and body["error"].get("code")
            assert (reply.status, known) not in rows or not isinstance(body["error"].get("message"), str)
        case Unknown():
            pass
    return None


@settings(deadline=None)
@given(replies)
def test_any_answer_to_a_change(reply: Reply) -> None:
    success = holds_for_any_answer(reply, classify_change(reply, ID, DATES, NOW), ROWS)
    if success:
        assert (success["status"], success["check_in"], success["check_out"]) == ("confirmed", *DATES)


@settings(deadline=None)
@given(replies)
def test_any_answer_to_a_cancellation(reply: Reply) -> None:
    rows = {rule: row for rule, row in ROWS.items() if rule[0] != 409}
    success = holds_for_any_answer(reply, classify_cancellation(reply, ID, NOW), rows)
    if success:
        assert success["status"] == "cancelled"


@given(st.dates(date(1970, 1, 1), date(2999, 1, 1)), st.integers(1, 400), st.sampled_from(["B-1", "8/ä", "-"]))
def test_whatever_dates_and_id_were_asked_for_their_confirmation_is_done(day: date, nights: int, id: str) -> None:
    dates = (day.isoformat(), (day + timedelta(days=nights)).isoformat())
    body = BOOKING | {"booking_id": id, "check_in": dates[0], "check_out": dates[1]}
    outcome = classify_change(reply(200, body), id, dates, NOW)
    assert isinstance(outcome, Done)
    assert (outcome.result["booking_id"], outcome.result["check_in"], outcome.result["check_out"]) == (id, *dates)
    assert isinstance(classify_change(reply(200, body), id, dates[::-1], NOW), Unknown)
