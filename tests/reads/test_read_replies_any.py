"""Rules that hold for every answer to a read whatsoever, written down apart from the code that keeps them."""

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from booking.outcomes import Misconfigured, NotSent, Rejected, Reservation, Unknown
from booking.reads import GetReservation, ListArrivals, SearchAvailability
from providers.line import Reply
from providers.ports import ArrivalsPage
from providers.read_replies import classify_arrivals, classify_availability, classify_booking
from tests.providers.test_replies_any import CODES, WHOLE, anything, as_json, error, money, nearly, said

NOW = dt.datetime(2026, 12, 4, 18, 40, tzinfo=dt.UTC)
SEARCH = SearchAvailability(property="BER", check_in=dt.date(2026, 12, 24), check_out=dt.date(2026, 12, 26))
ONE = GetReservation(reservation_id="B-1")
DAY = ListArrivals(property="BER", date=dt.date(2026, 12, 24), cursor="B-1")
OFFER = {
    "quote_id": "Q-1",
    "property": "BER",
    "room_type": "double",
    "rate_plan": "flexible",
    "check_in": "2026-12-24",
    "check_out": "2026-12-26",
    "price": {"amount": "190.00", "currency": "EUR"},
    "cancellation_terms": "free until 18:00",
    "valid_until": "2026-12-04T18:55:00+00:00",
}
PERMANENT = {(400, "invalid"), (422, "invalid"), (404, "not_found"), (403, "forbidden")}

lists = st.one_of(
    st.fixed_dictionaries({"offers": st.lists(nearly(OFFER), max_size=3)}),
    st.fixed_dictionaries({"arrivals": st.lists(nearly(WHOLE), max_size=3), "next_cursor": st.none() | anything}),
    nearly(WHOLE),
    st.builds(error, said, st.sampled_from(CODES), money),
    anything,
)
bodies = st.one_of(
    as_json(lists),
    st.builds(lambda body, cut: body[:-cut], as_json(lists), st.integers(1, 9)),
    st.sampled_from([b"", b"<html>", b"[" * 100_000, b"null", b"[]", b"{}", b"\xff", b"x" * 1_048_576]),
    st.binary(max_size=40),
)
headers = st.dictionaries(st.just("retry-after"), st.text(max_size=20))
replies = st.builds(Reply, st.integers(100, 599) | st.sampled_from([200, 204, 404, 429]), headers, bodies)


def parsed(reply: Reply) -> Any:
    try:
        return json.loads(reply.body.decode())
    except (ValueError, RecursionError):
        return None


@settings(deadline=None)  # one of the bodies is a megabyte
@given(replies)
def test_only_a_200_that_says_so_is_an_answer(reply: Reply) -> None:
    body = parsed(reply)
    for found in (
        classify_availability(reply, SEARCH, NOW),
        classify_booking(reply, ONE, NOW),
        classify_arrivals(reply, DAY, NOW),
    ):
        match found:
            case list():
                assert (reply.status, len(found)) == (200, len(body["offers"]))
                assert {offer.property for offer in found} <= {"BER"}
            case ArrivalsPage():
                assert (reply.status, len(found.arrivals)) == (200, len(body["arrivals"]))
                assert {(one.property, one.check_in) for one in found.arrivals} <= {("BER", "2026-12-24")}
                assert found.next_cursor != DAY.cursor
            case Reservation():
                assert (reply.status, found.booking_id, body["booking_id"]) == (200, "B-1", "B-1")
            case Rejected():
                assert (reply.status, body["error"]["code"]) in PERMANENT
            case NotSent():
                assert reply.status == 429
            case Misconfigured():
                assert reply.status in (401, 403, 404, 405) or 300 <= reply.status < 400
            case Unknown():
                pass


def test_an_empty_list_is_an_answer_where_the_hotel_system_said_so() -> None:
    assert classify_availability(Reply(200, {}, b'{"offers": []}'), SEARCH, NOW) == []
    assert classify_arrivals(Reply(200, {}, b'{"arrivals": []}'), DAY, NOW) == ArrivalsPage([], None)


@pytest.mark.parametrize("status", [204, 404, 500, 503])
@pytest.mark.parametrize("body", [b"", b'{"offers": [], "arrivals": []}', b"<html>"])
def test_no_other_status_is_an_empty_list(status: int, body: bytes) -> None:
    reply = Reply(status, {}, body)
    for found in (classify_availability(reply, SEARCH, NOW), classify_arrivals(reply, DAY, NOW)):
        assert isinstance(found, Unknown | Misconfigured)


@settings(deadline=None)
@given(nearly(OFFER))
def test_no_offer_is_left_out_in_silence(second: dict[str, Any]) -> None:
    found = classify_availability(Reply(200, {}, json.dumps({"offers": [OFFER, second]}).encode()), SEARCH, NOW)
    assert isinstance(found, Unknown) or len(found) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("check_in", "2026-12-23"),  # shifted through UTC
        ("check_out", "2026-12-25"),
        ("property", "AKL"),
        ("price", {"amount": "-1", "currency": "EUR"}),
        ("price", None),
        ("valid_until", "2026-12-04T18:55:00"),
        ("valid_until", 1764874500),
        ("quote_id", ""),
        ("cancellation_terms", "x" * 2001),
    ],
)
def test_an_offer_that_was_not_asked_for_or_can_not_be_read_spoils_the_answer(name: str, value: Any) -> None:
    reply = Reply(200, {}, json.dumps({"offers": [OFFER, {**OFFER, name: value}]}).encode())
    assert isinstance(classify_availability(reply, SEARCH, NOW), Unknown)


def test_another_room_type_than_asked_for_spoils_the_answer() -> None:
    reply = Reply(200, {}, json.dumps({"offers": [OFFER]}).encode())
    assert isinstance(classify_availability(reply, SEARCH.model_copy(update={"room_type": "suite"}), NOW), Unknown)


def test_a_page_of_arrivals_that_leads_to_itself_is_no_answer() -> None:
    reply = Reply(200, {}, json.dumps({"arrivals": [], "next_cursor": "B-1"}).encode())
    assert isinstance(classify_arrivals(reply, DAY, NOW), Unknown)


def test_a_booking_that_came_in_by_another_way_needs_no_reference() -> None:
    reply = Reply(200, {}, json.dumps({**WHOLE, "reference": None}).encode())
    assert isinstance(classify_booking(reply, ONE, NOW), Reservation)
