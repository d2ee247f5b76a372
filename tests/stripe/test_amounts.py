"""Amounts in minor units, as Stripe documents them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.stripe_amounts import amount_of, minor_units


@pytest.mark.parametrize(
    ("amount", "currency", "units"),
    [
        ("10", "EUR", 1000),
        ("10.50", "USD", 1050),
        ("0.01", "EUR", 1),
        ("500", "JPY", 500),
        ("500.00", "JPY", 500),
        ("5.12", "KWD", 5120),
        ("5", "ISK", 500),
        ("10.45", "HUF", 1045),
        ("1E+2", "EUR", 10000),
    ],
)
def test_an_amount_and_its_minor_units(amount: str, currency: str, units: int) -> None:
    assert minor_units(Decimal(amount), currency) == units
    assert amount_of(units, currency) == Decimal(amount)


@pytest.mark.parametrize(
    ("amount", "currency", "problem"),
    [
        ("10.005", "EUR", "an amount in EUR must be more than 0 and a multiple of 0.01"),
        ("10.50", "JPY", "an amount in JPY must be more than 0 and a multiple of 1"),
        ("5.50", "ISK", "multiple of 1$"),
        ("5.124", "KWD", "multiple of 0.01"),
        ("0", "EUR", "more than 0"),
        ("-1", "EUR", "more than 0"),
        ("1E+30", "EUR", "more than 0"),
        ("NaN", "EUR", "more than 0"),
        ("sNaN", "EUR", "more than 0"),
        ("Infinity", "EUR", "more than 0"),
        ("1", "UGX", "without a person"),
        ("1", "jpy", "three capital letters"),
    ],
)
def test_what_a_currency_does_not_have_is_named(amount: str, currency: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        minor_units(Decimal(amount), currency)


@pytest.mark.parametrize(("units", "currency"), [(-1, "EUR"), (10**12, "EUR"), (1, "UGX"), (1, "eu")])
def test_units_that_are_no_amount(units: int, currency: str) -> None:
    with pytest.raises(ValueError, match=r"not an amount|amounts in UGX|capital letters"):
        amount_of(units, currency)


@given(st.decimals() | st.decimals(0, 10**6, places=3), st.sampled_from(["EUR", "JPY", "KWD", "ISK", "UGX", "eur"]))
def test_any_amount_is_counted_exactly_or_refused(amount: Decimal, currency: str) -> None:
    try:
        units = minor_units(amount, currency)
    except ValueError:
        return
    assert amount_of(units, currency) == amount > 0
