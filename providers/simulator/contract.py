"""What a caller may send, as the reference contract has it. Unknown fields are refused."""

import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

PLAIN_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def plain_date(value: object) -> object:
    """Pydantic alone would take a timestamp or a date-time for a date; a hotel's day is neither."""
    if isinstance(value, str) and PLAIN_DATE.fullmatch(value):
        return value
    raise ValueError("must be a local date like 2026-12-24")


def scalar_as_amount(value: object) -> object:
    """A bare number is an amount in the property's currency."""
    return {"amount": value} if isinstance(value, (int, float, str)) else value


PlainDate = Annotated[date, BeforeValidator(plain_date)]
Amount = Annotated[Decimal, Field(gt=0, max_digits=12, decimal_places=2)]
Currency = Annotated[str, Field(pattern="^[A-Z]{3}$")]
Email = Annotated[str, Field(max_length=254, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
Line = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Phone = Annotated[str, Field(max_length=40, pattern=r"^[0-9+() ./-]+$")]
Reference = Annotated[str, Field(min_length=1, max_length=50, pattern="^[A-Za-z0-9._-]+$")]
Name = Annotated[str, Field(min_length=1, max_length=50, pattern="^[A-Za-z0-9._-]+$")]
Notes = Annotated[str, Field(max_length=2000, pattern=r"^[^\x00]*$")]


class Strict(BaseModel):
    """A body or query with no fields beside the named ones."""

    model_config = ConfigDict(extra="forbid")


class Guest(Strict):
    """Who stays."""

    name: Line
    email: Email
    phone: Phone | None = None


class PriceLimit(Strict):
    """The most the guest agreed to pay for the whole stay; without a currency, the property's."""

    amount: Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=2)]
    currency: Currency | None = None


class CreateBooking(Strict):
    """`POST /v1/bookings`."""

    reference: Reference
    property: Name
    room_type: Name
    check_in: PlainDate
    check_out: PlainDate
    guest: Guest
    adults: Annotated[int, Field(strict=True, ge=1, le=20)] = 1
    children: Annotated[int, Field(strict=True, ge=0, le=20)] = 0
    max_price: Annotated[PriceLimit, BeforeValidator(scalar_as_amount)] | None = None
    rate_plan: Name | None = None
    quote_id: Annotated[str, Field(max_length=100)] | None = None
    notes: Notes | None = None
    phone: Phone | None = None


class ChangeDates(Strict):
    """`PATCH /v1/bookings/{id}`."""

    check_in: PlainDate
    check_out: PlainDate


class RefundPayment(Strict):
    """`POST /v1/payments/{id}/refunds`."""

    amount: Amount
    currency: Currency
    reference: Reference


class ReferenceQuery(Strict):
    """Look-ups by reference match it exactly."""

    reference: Reference


class AvailabilityQuery(Strict):
    """`GET /v1/availability`."""

    property: Name
    check_in: PlainDate
    check_out: PlainDate
    room_type: Name | None = None
    rate_plan: Name | None = None
    adults: Annotated[int, Field(ge=1, le=20)] = 1
    children: Annotated[int, Field(ge=0, le=20)] = 0


class ArrivalsQuery(Strict):
    """`GET /v1/arrivals`; `cursor` is what the page before named as `next_cursor`."""

    property: Name
    date: PlainDate
    cursor: Annotated[str, Field(pattern="^B-[0-9]{1,12}$")] | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


def first_problem(errors: list[Any] | tuple[Any, ...]) -> tuple[str | None, str, bool]:
    """(field, message, malformed) of the first of pydantic's errors; the input itself is never repeated."""
    if not errors:
        return None, "the request is not valid", False
    error = errors[0]
    if tuple(error["loc"]) == ("body",):
        return None, "the body must be a JSON object, sent as application/json", True
    malformed = error["type"] == "json_invalid"
    parts = [str(part) for part in error["loc"][1:] if isinstance(part, (str, int))]
    field = None if malformed or not parts else ".".join(parts)
    return field, str(error["msg"]).removeprefix("Value error, "), malformed
