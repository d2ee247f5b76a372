"""Rules that hold for every answer whatsoever, written down apart from the code that keeps them."""

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from booking.outcomes import Done, Misconfigured, NotSent, Rejected, Reservation, Unknown
from providers.line import Reply
from providers.replies import classify_lookup, classify_write

NOW = datetime(2026, 12, 4, 18, 40, tzinfo=UTC)
OURS = "rkaaaaaaaaaaaaaaaaaa"
REFUSALS = {
    (409, "sold_out"),
    (409, "price_changed"),
    (400, "invalid"),
    (422, "invalid"),
    (404, "not_found"),
    (403, "forbidden"),
}
CODES = ["sold_out", "price_changed", "invalid", "not_found", "forbidden", "unauthorized", "key_in_progress", "other"]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
odd = anything | st.just(OURS)


CONFIRMED = {"booking_id": "B-1", "reference": OURS, "status": "confirmed"}
WHOLE = CONFIRMED | {
    "property": "BER",
    "room_type": "double",
    "check_in": "2026-12-24",
    "check_out": "2026-12-26",
    "guest": {"name": "Ada"},
}


@st.composite
def nearly(draw: st.DrawFn, right: dict[str, Any]) -> dict[str, Any]:
    """The right object, or one with up to two fields missing, odd or added: near the rules' edges, on both sides."""
    made = dict(right)
    names = st.sampled_from([*right, "error", "field", "price", "status"])
    for name in draw(st.sampled_from([(), (), (None,), (None, None)])):
        chosen = name or draw(names)
        made[chosen] = draw(odd | st.sampled_from(["cancelled", "pending", "adults", "", "B\n1"]))
        if draw(st.booleans()):
            del made[chosen]
    return made


bookings = nearly(WHOLE) | nearly(CONFIRMED)
money = nearly({"amount": "190.00", "currency": "EUR"})
lists = st.fixed_dictionaries({"bookings": st.lists(nearly(WHOLE), max_size=3)})


def error(fields: dict[str, Any], code: Any, price: Any) -> dict[str, Any]:
    return {"error": {**fields, "code": code, "price": price}}


said = nearly({"message": "no", "field": "adults"})
errors = st.builds(error, said, st.sampled_from(CODES) | odd, money)


def as_json(values: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    return values.map(lambda value: json.dumps(value).encode())


bodies = st.one_of(
    as_json(bookings),
    as_json(errors),
    as_json(lists),
    as_json(anything),
    st.builds(lambda body, cut: body[:-cut], as_json(bookings | errors | lists), st.integers(1, 9)),
    st.sampled_from([b"", b"<html>", b"[" * 100_000, b"{" * 9, b"1" * 5000, b"x" * 1_048_576, b"\xff", b'"\\ud800"']),
    st.binary(max_size=40),
)
headers = st.dictionaries(st.just("retry-after"), st.text(max_size=20))
replies = st.one_of(
    st.builds(Reply, st.integers(100, 599), headers, bodies),
    st.builds(Reply, st.sampled_from([200, 201]), headers, as_json(bookings | lists)),
    # A refusal's own status and code, around content that may be spoilt.
    st.builds(
        lambda rule, fields, price: Reply(rule[0], {}, json.dumps(error(fields, rule[1], price)).encode()),
        st.sampled_from(sorted(REFUSALS)),
        said,
        money,
    ),
)


def parsed(reply: Reply) -> Any:
    try:
        return json.loads(reply.body.decode())
    except (ValueError, RecursionError):
        return None


@settings(deadline=None)  # one of the bodies is a megabyte
@given(replies)
def test_a_write_is_done_or_refused_only_by_what_the_answer_says(reply: Reply) -> None:
    outcome = classify_write(reply, OURS, NOW)
    body = parsed(reply)
    match outcome:
        case Done(result):
            assert reply.status in (200, 201)
            assert result["booking_id"] == body["booking_id"] != ""
            assert isinstance(body["booking_id"], str)
            assert (body["reference"], body["status"]) == (OURS, "confirmed")
            assert "error" not in body
        case Rejected():
            assert (reply.status, body["error"]["code"]) in REFUSALS
            assert outcome.code is not None
            assert all(isinstance(value, str) and value.isprintable() for value in outcome.values.values())
        case NotSent():
            assert reply.status == 429
        case Misconfigured():
            assert reply.status in (401, 403, 404, 405)
        case Unknown():
            pass


@settings(deadline=None)  # one of the bodies is a megabyte
@given(replies)
def test_a_lookup_gives_a_list_only_by_what_the_answer_says(reply: Reply) -> None:
    found = classify_lookup(reply, OURS, NOW)
    body = parsed(reply)
    match found:
        case list():
            assert reply.status == 200
            ours = [entry["booking_id"] for entry in body["bookings"] if entry["reference"] == OURS]
            assert [booking.booking_id for booking in found] == ours
            assert all(isinstance(booking, Reservation) and booking.reference == OURS for booking in found)
        case NotSent():
            assert reply.status == 429
        case Misconfigured():
            assert reply.status in (401, 403, 404, 405) or 300 <= reply.status < 400
        case Unknown():
            pass
