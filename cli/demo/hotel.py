"""The hotel's side of the play: makes the simulator misbehave and reads its ledger, the truth."""

from datetime import date, timedelta
from typing import Any

import httpx

from cli.demo.agent import HOTEL


class Hotel:
    """Control of a running simulator."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=10)

    def free_rooms(self, property_id: str, room_type: str, rooms: int) -> None:
        """Set how many rooms of a type can still be booked, every night."""
        self._post("/inventory", {"property": property_id, "room_type": room_type, "rooms": rooms})

    def commit_then_hang(self, room_type: str, hold_ms: int) -> None:
        """Make the next create for `room_type` commit at once and answer only after `hold_ms`."""
        match = {"operation": "create_booking", "room_type": room_type}
        self._post("/faults", {"kind": "commit_then_timeout", "times": 1, "hold_ms": hold_ms, "match": match})

    def calls_of(self, guest: str) -> list[dict[str, Any]]:
        """Every call the hotel received about bookings of `guest`, look-ups included, oldest first."""
        calls = self._http.get("/ledger").raise_for_status().json()["calls"]
        names = {call["reference"] for call in calls if _guest(call) == guest}
        return [call for call in calls if call["reference"] in names]

    def bookings_of(self, guest: str) -> list[str]:
        """The ids of the live bookings of `guest`."""
        bookings = self._http.get("/bookings").raise_for_status().json()["bookings"]
        return [one["booking_id"] for one in bookings if one["guest"]["name"] == guest and one["status"] == "confirmed"]

    def arrivals(self, day: str, guests: list[tuple[str, str]]) -> list[str]:
        """Bookings of guests (name, address) who arrive that day, as they came in by other ways; gives their ids."""
        out = (date.fromisoformat(day) + timedelta(days=2)).isoformat()
        named = [{"name": name, "email": email} for name, email in guests]
        body = {"property": HOTEL, "room_type": "double", "check_in": day, "check_out": out, "guests": named}
        ids: list[str] = self._http.post("/seed", json=body).raise_for_status().json()["booking_ids"]
        return ids

    def close(self) -> None:
        """Let the control connection go."""
        self._http.close()

    def _post(self, path: str, body: dict[str, Any]) -> None:
        self._http.post(path, json=body).raise_for_status()


def _guest(call: dict[str, Any]) -> str | None:
    body = call.get("body")
    return body["guest"]["name"] if isinstance(body, dict) and "guest" in body else None
