"""What an answer to a read means. Pure, and by positive rules, like `providers.replies`.

Nothing is left out in silence: an entry that can't be read, or isn't what was asked for, makes the whole answer
Unknown, since a shorter list would be told to a guest as "nothing else is free". An empty list is an answer only where
a 200 said so.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from booking.errors import ErrorCode
from booking.outcomes import NotSent, Rejected, Reservation, Unknown
from booking.reads import GetReservation, ListArrivals, Offer, Price, SearchAvailability
from booking.text import clean
from providers.line import Reply
from providers.ports import ArrivalsPage, NoAnswer
from providers.replies import (
    cause_of,
    date_of,
    error_of,
    json_of,
    our_mistake,
    price_of,
    refusal_of,
    reservation_of,
    text_of,
    wait_of,
)

#: Cancellation terms are prose; more than this is not for a chat.
_LONGEST_TERMS = 2000

T = TypeVar("T")


def classify_availability(reply: Reply, asked: SearchAvailability, now: datetime) -> list[Offer] | NoAnswer:
    """The offers, each for the stay that was asked for."""
    return _read(reply, now, lambda body: [_offer(entry, asked) for entry in _list(body, "offers")])


def classify_booking(reply: Reply, asked: GetReservation, now: datetime) -> Reservation | NoAnswer:
    """The reservation with exactly this id."""

    def parse(body: dict[str, Any]) -> Reservation:
        found = reservation_of(body, ours=False)
        _same(found.booking_id, asked.reservation_id)
        return found

    return _read(reply, now, parse, of_one=True)


def classify_arrivals(reply: Reply, asked: ListArrivals, now: datetime) -> ArrivalsPage | NoAnswer:
    """One page of reservations that arrive at the hotel on that date."""

    def parse(body: dict[str, Any]) -> ArrivalsPage:
        found = [reservation_of(entry, ours=False) for entry in _list(body, "arrivals")]
        for arrival in found:
            _same((arrival.property, arrival.check_in), (asked.property, asked.date.isoformat()))
        following = body.get("next_cursor")
        if following is not None and text_of(following) == asked.cursor:
            raise ValueError("this page leads to itself")
        return ArrivalsPage(found, following)

    return _read(reply, now, parse)


def _read(reply: Reply, now: datetime, parse: Callable[[dict[str, Any]], T], *, of_one: bool = False) -> T | NoAnswer:
    """`of_one`: the read is about one object, so a 404 or 403 may be about that and not about us."""
    body = json_of(reply.body)
    if reply.status == 200:
        return _parsed(body, parse)
    error = error_of(body)
    if mistake := our_mistake(reply, error, may_forbid=of_one):
        return mistake
    if reply.status == 429:
        return NotSent(cause_of(reply, error), ErrorCode.RATE_LIMITED, wait_of(reply, now))
    refused = refusal_of(reply, error)
    allowed = {"refused_argument", "not_found", "denied"} if of_one else {"refused_argument"}
    if isinstance(refused, Rejected) and refused.row in allowed:
        return refused
    return Unknown(cause_of(reply, error), wait_of(reply, now))


def _parsed(body: Any, parse: Callable[[dict[str, Any]], T]) -> T | Unknown:
    if not isinstance(body, dict):
        return Unknown("success without a readable body")
    if "error" in body:
        return Unknown("success with an error in the body")
    try:
        return parse(body)
    except (ValueError, OverflowError):  # OverflowError: a time in the year 0 or 10000
        return Unknown("success with an answer that can't be read or wasn't asked for")


def _list(body: dict[str, Any], name: str) -> list[Any]:
    listed = body.get(name)
    if not isinstance(listed, list):
        raise ValueError(f"no list of {name}")
    return listed


def _offer(entry: Any, asked: SearchAvailability) -> Offer:
    if not isinstance(entry, dict) or "error" in entry:
        raise ValueError("not an offer")
    # A hotel system that reads our dates in another time zone shows it here, not in front of the guest.
    for name, wanted in (("check_in", asked.check_in), ("check_out", asked.check_out)):
        if entry.get(name) is not None:
            _same(date_of(entry[name]), wanted.isoformat())
    _same(entry.get("property"), asked.property)
    if asked.room_type is not None:
        _same(entry.get("room_type"), asked.room_type)
    return Offer(
        quote_id=text_of(entry.get("quote_id")),
        property=asked.property,
        room_type=text_of(entry.get("room_type")),
        rate_plan=text_of(entry.get("rate_plan")),
        price=_price(entry.get("price")),
        cancellation_terms=_terms(entry.get("cancellation_terms")),
        valid_until=_moment(entry.get("valid_until")),
    )


def _same(said: object, asked: object) -> None:
    if said != asked:
        raise ValueError("not what was asked for")


def _price(value: Any) -> Price:
    price = price_of(value)
    if price is None:
        raise ValueError("not a price")
    amount, _, currency = price.partition(" ")
    return Price(amount=amount, currency=currency)


def _terms(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TERMS:
        raise ValueError("not usable terms")
    return clean(" ".join(value.split()))


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError("not a time")
    moment = datetime.fromisoformat(value)
    if moment.utcoffset() is None:
        raise ValueError("a time without a zone")
    return moment
