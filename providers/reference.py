"""The adapter for the reference contract: a hotel system that speaks JSON over HTTP."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import inf
from typing import Any
from urllib.parse import quote

from booking.capabilities import Capabilities, ReferenceMatch
from booking.outcomes import NotSent, Outcome, Payment, Reservation, Unknown
from booking.reads import GetReservation, ListArrivals, Offer, SearchAvailability
from booking.settings import Mode, Provider
from providers.change_replies import classify_cancellation, classify_change
from providers.line import Broken, HttpLine, NothingSent, Reply, address_of, open_line
from providers.ports import ArrivalsPage, Line, Listing, NoAnswer, Refunds
from providers.read_replies import classify_arrivals, classify_availability, classify_booking
from providers.reference_changes import cancel_path, change_body, change_path, dates_of
from providers.reference_payments import refund_body, refund_request, refunds_path
from providers.reference_reads import arrivals_path, availability_path, booking_path
from providers.refund_replies import classify_refund, classify_refunds
from providers.replies import classify_lookup, classify_write, completed

#: The create's fields in the order they are sent. A changed order would be another request under the same key.
_STAY = ("property", "room_type", "check_in", "check_out", "guest", "adults", "children")
_OPTIONAL = ("max_price", "rate_plan", "quote_id", "notes")
_GUEST = ("name", "email", "phone")
#: Effects whose write honours a key in keyed mode; those whose reservation the contract shows. It shows no payment.
_KEYED = frozenset({"booking", "change", "cancel", "refund"})
_SHOWS = frozenset({"change", "cancel"})


def reference_pms(provider: Provider, url: str) -> "ReferencePms":
    """The adapter as `provider` declares it, for the system at `url`.

    Raises ValueError for a url or token that can't be used.
    """
    address_of(url)
    token = provider.token.get_secret_value() if provider.token is not None else None
    # http.client would refuse such a token later, and repeat it in its message.
    if token is not None and not (token.isascii() and token.isprintable() and token.strip() == token != ""):
        raise ValueError("the provider's token must be printable ASCII without outer blanks")
    return ReferencePms(url, capabilities_of(provider), {"Authorization": f"Bearer {token}"} if token else {})


def capabilities_of(provider: Provider) -> Capabilities:
    """What the provider's mode and settings declare."""
    keyed = provider.mode is Mode.KEYED
    looks_up = provider.mode is not Mode.BLIND
    return Capabilities(
        keyed=_KEYED if keyed else frozenset(),
        key_life=provider.key_life if keyed else timedelta(0),
        key_locks=keyed,
        key_survives_errors=keyed,
        reference_match=ReferenceMatch.EXACT if looks_up else ReferenceMatch.NONE,
        settle_time=timedelta(seconds=provider.settle_time),
        absence_provable=provider.absence_provable is not False and looks_up,
        write_deadline=provider.write_deadline,
        read_deadline=provider.read_deadline,
        idle_timeout=timedelta(seconds=provider.idle_timeout),
        shows=_SHOWS,
    )


class ReferencePms:
    """A `providers.ports.Pms`. One instance serves all threads: it holds no connection."""

    def __init__(self, url: str, capabilities: Capabilities, credentials: Mapping[str, str]) -> None:
        self._url = url
        self._capabilities = capabilities
        self._credentials = credentials

    @property
    def capabilities(self) -> Capabilities:
        """What the provider declares about itself."""
        return self._capabilities

    def connect(self, within: float = inf) -> Line:
        """Open a fresh line within `connect_deadline` and `within` seconds, or raise Unreachable."""
        return open_line(self._url, min(self._capabilities.connect_deadline, within))

    def booking_body(self, stay: Mapping[str, Any], reference: str) -> bytes:
        """The bytes of a create: compact ASCII JSON in a fixed order; what is None is left out."""
        guest = _named(stay["guest"], _GUEST)
        body = _named({**stay, "guest": guest}, _STAY) | {"reference": reference} | _named(stay, _OPTIONAL)
        # str: a date or an amount that is not text yet has its ISO or plain decimal form.
        return json.dumps(body, separators=(",", ":"), default=str).encode()

    def create_booking(self, line: Line, body: bytes, key: str) -> Outcome:
        """Send one create and read the answer within `write_deadline`. `body` is from `booking_body`."""
        sent = json.loads(body)
        reply = self._write(line, "booking", "POST", "/v1/bookings", key, body)
        if not isinstance(reply, Reply):
            return reply
        return completed(classify_write(reply, sent["reference"], datetime.now(UTC)), sent)

    def find_by_reference(self, line: Line, reference: str) -> Listing:
        """All bookings that carry exactly `reference`, cancelled ones included, within `read_deadline`."""
        path = f"/v1/bookings?reference={quote(reference, safe='')}"
        reply = self._ask(line, "GET", path, self._capabilities.read_deadline)
        return classify_lookup(reply, reference, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def change_body(self, check_in: str, check_out: str) -> bytes:
        """The bytes of a change of dates."""
        return change_body(check_in, check_out)

    def change_dates(self, line: Line, reservation_id: str, body: bytes, key: str) -> Outcome:
        """Send one change of dates within `write_deadline`. `body` is from `change_body`."""
        reply = self._write(line, "change", "PATCH", change_path(reservation_id), key, body)
        if not isinstance(reply, Reply):
            return reply
        return classify_change(reply, reservation_id, dates_of(body), datetime.now(UTC))

    def cancel_booking(self, line: Line, reservation_id: str, key: str) -> Outcome:
        """Send one cancellation within `write_deadline`."""
        reply = self._write(line, "cancel", "POST", cancel_path(reservation_id), key)
        if not isinstance(reply, Reply):
            return reply
        return classify_cancellation(reply, reservation_id, datetime.now(UTC))

    def availability(self, line: Line, asked: SearchAvailability, within: float) -> list[Offer] | NoAnswer:
        """What can be booked for the stay, at what price."""
        reply = self._read(line, availability_path(asked), within)
        return classify_availability(reply, asked, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def get_booking(self, line: Line, asked: GetReservation, within: float) -> Reservation | NoAnswer:
        """The reservation with this id, whoever's it is."""
        reply = self._read(line, booking_path(asked), within)
        return classify_booking(reply, asked, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def arrivals(self, line: Line, asked: ListArrivals, within: float) -> ArrivalsPage | NoAnswer:
        """A page of those who arrive at the hotel on a local date."""
        reply = self._read(line, arrivals_path(asked), within)
        return classify_arrivals(reply, asked, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def get_payment(self, line: Line, payment_id: str) -> Payment | NoAnswer:
        """Not in the contract, as `capabilities.shows` says: a call is a mistake of ours."""
        raise NotImplementedError("the reference contract shows no payment")

    def refund_body(self, payment_id: str, amount: Decimal, currency: str, reference: str) -> bytes:
        """The bytes that stand for a refund."""
        return refund_body(payment_id, amount, currency, reference)

    def refund(self, line: Line, body: bytes, key: str) -> Outcome:
        """Give money back once, within `write_deadline`. `body` is from `refund_body`."""
        asked = json.loads(body)
        path, sent = refund_request(asked)
        reply = self._write(line, "refund", "POST", path, key, sent)
        return classify_refund(reply, asked, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def find_refunds(self, line: Line, payment_id: str, reference: str) -> Refunds:
        """All refunds that carry exactly `reference`, within `read_deadline`."""
        reply = self._ask(line, "GET", refunds_path(reference), self._capabilities.read_deadline)
        return classify_refunds(reply, payment_id, reference, datetime.now(UTC)) if isinstance(reply, Reply) else reply

    def _write(
        self, line: Line, effect: str, method: str, path: str, key: str, body: bytes | None = None
    ) -> Reply | NotSent | Unknown:
        """One write of `effect`; the key goes along only where the provider honours it."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._capabilities.honours_key(effect):
            headers["Idempotency-Key"] = key
        return self._ask(line, method, path, self._capabilities.write_deadline, body, headers)

    def _read(self, line: Line, path: str, within: float) -> Reply | NotSent | Unknown:
        return self._ask(line, "GET", path, min(self._capabilities.read_deadline, within))

    def _ask(
        self,
        line: Line,
        method: str,
        path: str,
        deadline: float,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply | NotSent | Unknown:
        if not isinstance(line, HttpLine):
            raise TypeError("the line must come from connect()")
        common = {"Accept": "application/json", "User-Agent": "roomkey", **self._credentials}
        try:
            return line.request(method, path, body, {**common, **(headers or {})}, deadline)
        except NothingSent as failure:
            return NotSent(str(failure))
        except Broken as failure:
            return Unknown(str(failure))


def _named(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those of `names` that have a value, in their order."""
    return {name: values[name] for name in names if values.get(name) is not None}
