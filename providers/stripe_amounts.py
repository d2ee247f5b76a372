"""Amounts as Stripe counts them: whole numbers of a currency's minor unit, with the exceptions that it documents."""

import re
from dataclasses import dataclass
from decimal import Decimal

#: The most digits of an amount, in minor units.
_MOST = 10**12 - 1


@dataclass(frozen=True)
class _Unit:
    """`digits`: how many of an amount's decimals Stripe counts. `step`: what an amount must be a multiple of."""

    digits: int
    step: Decimal


_USUAL = _Unit(2, Decimal("0.01"))
_ZERO = _Unit(0, Decimal(1))
#: Counted with three decimals, of which the last must be 0.
_THREE = _Unit(3, Decimal("0.01"))
_ZEROS = ("BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF")
_THREES = ("BHD", "JOD", "KWD", "OMR", "TND")
_UNITS = dict.fromkeys(_ZEROS, _ZERO) | dict.fromkeys(_THREES, _THREE)
_UNITS["ISK"] = _Unit(2, Decimal(1))  # has no decimals any more, and is still counted in hundredths
#: Documented as counted in ones and, on the same page, in hundredths. A guess would be wrong by a factor of 100.
CONTRADICTED = frozenset({"UGX"})
_CURRENCY = re.compile(r"[A-Z]{3}")


def minor_units(amount: Decimal, currency: str) -> int:
    """`amount` as Stripe counts it. Raises ValueError, saying what is wrong, for what it can't be asked for."""
    unit = _unit(currency)
    if not (amount.is_finite() and 0 < amount <= Decimal(_MOST).scaleb(-unit.digits) and amount % unit.step == 0):
        raise ValueError(f"an amount in {currency} must be more than 0 and a multiple of {unit.step}")
    return int(amount.scaleb(unit.digits))


def amount_of(units: int, currency: str) -> Decimal:
    """The amount that so many minor units are, with all its decimals. Raises ValueError as `minor_units` does."""
    if not 0 <= units <= _MOST:
        raise ValueError("not an amount")
    return Decimal(units).scaleb(-_unit(currency).digits)


def _unit(currency: str) -> _Unit:
    if not _CURRENCY.fullmatch(currency):  # "jpy" is not in the table, and would be counted in hundredths
        raise ValueError("a currency must be three capital letters")
    if currency in CONTRADICTED:
        raise ValueError(f"amounts in {currency} can't be given back without a person")
    return _UNITS.get(currency, _USUAL)
