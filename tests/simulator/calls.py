"""Contract calls as a caller makes them."""

from typing import Any

import httpx
import pytest

FIRST_NIGHT, LAST_DAY = "2027-03-05", "2027-03-07"
IMPATIENT = httpx.Timeout(5, read=0.2)  # s; gives up on answers that are held


def stay(reference: str = "r-1", **changes: Any) -> dict[str, Any]:
    body = {
        "reference": reference,
        "property": "BER",
        "room_type": "suite",
        "check_in": FIRST_NIGHT,
        "check_out": LAST_DAY,
        "guest": {"name": "Ana Müller", "email": "ana@guests.example"},
    }
    return body | changes


def book(http: httpx.Client, reference: str = "r-1", key: str | None = None, **changes: Any) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return http.post("/v1/bookings", json=stay(reference, **changes), headers=headers)


def book_in_vain(http: httpx.Client, reference: str = "r-1", key: str | None = None, **changes: Any) -> None:
    """Book, and give up before the held answer comes."""
    headers = {} if key is None else {"Idempotency-Key": key}
    with pytest.raises(httpx.ReadTimeout):
        http.post("/v1/bookings", json=stay(reference, **changes), headers=headers, timeout=IMPATIENT)


def found(http: httpx.Client, reference: str = "r-1") -> list[str]:
    """Ids of the bookings with this reference."""
    response = http.get("/v1/bookings", params={"reference": reference})
    assert response.status_code == 200, response.text
    return [booking["booking_id"] for booking in response.json()["bookings"]]


def error(response: httpx.Response) -> tuple[int, str, str | None]:
    """(status, code, field) of a refusal; also checks that it has the contract's shape."""
    body = response.json()
    assert set(body) == {"error"}, body
    assert body["error"]["message"]
    return response.status_code, body["error"]["code"], body["error"].get("field")


def arrivals(http: httpx.Client, limit: int = 200, day: str = FIRST_NIGHT) -> list[list[str]]:
    """Ids of who arrives in Berlin, page by page."""
    pages: list[list[str]] = []
    query = {"property": "BER", "date": day, "limit": str(limit)}
    cursor: str | None = None
    while cursor or not pages:
        answer = http.get("/v1/arrivals", params=query | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.text
        pages.append([booking["booking_id"] for booking in answer.json()["arrivals"]])
        cursor = answer.json()["next_cursor"]
    return pages


def free_suites(http: httpx.Client, check_in: str = FIRST_NIGHT, check_out: str = LAST_DAY) -> int:
    """How many can be booked, by booking them and cancelling."""
    answers = [book(http, "probe", check_in=check_in, check_out=check_out) for _ in range(9)]
    made = [answer.json()["booking_id"] for answer in answers if answer.status_code == 201]
    for id in made:
        http.post(f"/v1/bookings/{id}/cancel")
    return len(made)
