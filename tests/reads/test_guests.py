"""Whose reservation it is, as a table."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from booking.guests import VerifiedGuest, access, within_limit
from booking.outcomes import Reservation
from booking.settings import TenantSettings


def held(name: str = "Anna Moser", email: str = "anna.moser@example.com") -> Reservation:
    return Reservation("B-1", "", "confirmed", "BER", "double", "2027-05-14", "2027-05-16", name, email)


ANNA = VerifiedGuest(name="Anna Moser", email="anna.moser@example.com")
NAMESAKE = VerifiedGuest(name="Anna Moser", email="another.anna@example.com")
BEN = VerifiedGuest(name="Ben Kern", email="ben@example.com")


@pytest.mark.parametrize(
    ("reservation", "guest", "verdict"),
    [
        (held(), ANNA, "allowed"),
        (held(email="ANNA.Moser@Example.com"), ANNA, "allowed"),
        (held(name="A. Moser"), ANNA, "allowed"),
        (held(), NAMESAKE, "denied"),
        (held(), BEN, "denied"),
        (held(email=""), NAMESAKE, "allowed"),
        (held(email=""), BEN, "denied"),
        (held(email="?"), ANNA, "denied"),
    ],
)
def test_a_verified_guest_by_mail_address_else_by_name(
    reservation: Reservation, guest: VerifiedGuest, verdict: str
) -> None:
    assert access(reservation, guest, None, None) == verdict


@pytest.mark.parametrize(("name", "email"), [("Anna Moser", None), (None, "anna.moser@example.com")])
def test_what_the_model_claims_opens_nothing_to_another_verified_guest(name: str | None, email: str | None) -> None:
    assert access(held(), BEN, name, email) == "denied"


@pytest.mark.parametrize(
    ("name", "email", "verdict"),
    [
        ("Anna Moser", None, "allowed"),
        ("  anna   MOSER ", None, "allowed"),
        (None, "Anna.Moser@EXAMPLE.com", "allowed"),
        ("Ben Kern", "anna.moser@example.com", "allowed"),
        ("Anna Mosel", None, "not_found"),
        ("Anna", None, "not_found"),
        (None, "anna.moser@example.org", "not_found"),
        ("", "", "not_found"),
        (None, None, "not_found"),
    ],
)
def test_without_a_verified_guest_by_name_or_mail_address(name: str | None, email: str | None, verdict: str) -> None:
    assert access(held(), None, name, email) == verdict


def test_what_the_hotel_system_does_not_tell_matches_no_empty_claim() -> None:
    assert access(held(email=""), None, None, "") == "not_found"
    assert access(held(name=" "), None, " ", None) == "not_found"


def test_names_are_compared_in_one_unicode_form() -> None:
    assert access(held(name="Zo\u00eb Strau\u00df"), None, "zoe\u0308 STRAUSS", None) == "allowed"


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12) | st.none(), st.text(max_size=12) | st.none())
def test_no_text_raises_and_nobody_is_denied_without_a_verified_guest(
    name: str, email: str, claimed: str | None, address: str | None
) -> None:
    assert access(held(name, email), None, claimed, address) in ("allowed", "not_found")


@pytest.mark.parametrize(("amount", "allowed"), [("0", True), ("499.99", True), ("500", True), ("500.01", False)])
def test_an_amount_above_the_tenants_limit_needs_a_person(amount: str, allowed: bool) -> None:
    assert within_limit(Decimal(amount), TenantSettings(max_refund=500)) is allowed
