"""The reference contract's changes and cancellations as paths and bytes. Pure."""

import json
from urllib.parse import quote


def change_body(check_in: str, check_out: str) -> bytes:
    """The bytes of a change: compact ASCII JSON in a fixed order. Dates go as they are, the hotel's local calendar."""
    return json.dumps({"check_in": check_in, "check_out": check_out}, separators=(",", ":")).encode()


def dates_of(body: bytes) -> tuple[str, str]:
    """The check_in and check_out that `change_body` put into its bytes."""
    sent = json.loads(body)
    return sent["check_in"], sent["check_out"]


def change_path(reservation_id: str) -> str:
    """Where a change goes to."""
    return f"/v1/bookings/{quote(reservation_id, safe='')}"


def cancel_path(reservation_id: str) -> str:
    """Where a cancellation goes to."""
    return f"{change_path(reservation_id)}/cancel"
