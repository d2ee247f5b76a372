"""The reference contract's reads as paths with queries. Pure."""

from urllib.parse import quote, urlencode

from booking.reads import GetReservation, ListArrivals, SearchAvailability


def availability_path(asked: SearchAvailability) -> str:
    """Dates go as they are, the hotel's local calendar."""
    return _with("/v1/availability", asked.model_dump(mode="json", exclude_none=True))


def booking_path(asked: GetReservation) -> str:
    """By the id alone: the provider isn't asked whose it is."""
    return f"/v1/bookings/{quote(asked.reservation_id, safe='')}"


def arrivals_path(asked: ListArrivals) -> str:
    """The cursor is the provider's own word for where the page begins."""
    return _with("/v1/arrivals", asked.model_dump(mode="json", exclude_none=True))


def _with(path: str, query: dict[str, str | int]) -> str:
    return f"{path}?{urlencode(query)}"
