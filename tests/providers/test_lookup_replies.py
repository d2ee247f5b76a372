"""What a look-up's answer means, example by example."""

from typing import Any

import pytest

from booking.outcomes import Unknown
from tests.providers.answers import BOOKING, OURS, error, lookup


def test_a_lookup_gives_all_bookings_with_exactly_our_reference() -> None:
    cancelled = BOOKING | {"booking_id": "B-9922", "status": "cancelled"}
    longer = BOOKING | {"booking_id": "B-9923", "reference": OURS + "0"}
    found = lookup(200, {"bookings": [BOOKING, longer, cancelled]})
    assert [(b.booking_id, b.is_live()) for b in found] == [("B-9921", True), ("B-9922", False)]
    assert (found[0].reference, found[0].check_out, found[0].guest_name) == (OURS, "2026-12-26", "Ada Lovelace")


def test_an_empty_lookup_is_empty() -> None:
    assert lookup(200, {"bookings": []}) == []


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        "B-9921",
        error("internal"),
        BOOKING | {"reference": None},
        BOOKING | {"status": "pending"},
        BOOKING | {"booking_id": 1},
        BOOKING | {"guest": None},
        BOOKING | {"guest": {"name": ""}},
        BOOKING | {"check_in": "tomorrow"},
        BOOKING | {"property": ["BER"]},
        BOOKING | {"status": ["confirmed"]},
    ],
)
def test_an_unreadable_entry_is_never_dropped(entry: Any) -> None:
    assert isinstance(lookup(200, {"bookings": [BOOKING, entry]}), Unknown)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, {"bookings": None}),
        (200, {"bookings": {}}),
        (200, {"results": []}),
        (200, []),
        (200, error("internal") | {"bookings": []}),
        (201, {"bookings": []}),
        (204, b""),
        (404, error("not_found")),
        (404, error("not_supported")),
        (501, error("not_supported")),
        (400, error("invalid", field="reference")),
        (409, error("sold_out")),
        (500, error("internal")),
    ],
)
def test_a_lookup_that_told_nothing_is_never_empty(status: int, body: Any) -> None:
    assert isinstance(lookup(status, body), Unknown)
