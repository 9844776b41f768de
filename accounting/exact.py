"""Exact rationals: the only numbers that the ledger adds, with every float conversion naming its safe side."""

import math
import re
from fractions import Fraction

from accounting.errors import ConfigError

_TEXT = re.compile(r"(-?(?:0|[1-9][0-9]*))/([1-9][0-9]*)")


def to_text(value: Fraction) -> str:
    """Write a rational in its one canonical text form ``p/q`` (lowest terms, q ≥ 1, also for integers)."""
    return f"{value.numerator}/{value.denominator}"


def from_text(text: str) -> Fraction:
    """Read the canonical text form ``p/q``.

    Raises:
        ConfigError: for any other spelling, lowest terms included, so that one number has one text.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ConfigError("a rational is written p/q in lowest terms")
    value = Fraction(int(match[1]), int(match[2]))
    if to_text(value) != text:
        raise ConfigError("a rational is written p/q in lowest terms")
    return value


def positive(value: object, name: str) -> Fraction:
    """Take a positive exact number: an int, Fraction, Decimal or a text such as ``"0.1"`` or ``"1/3"``.

    Floats are refused, because 0.1 as a float is another number than the one written.

    Raises:
        ConfigError: for zero, negatives, NaN, infinities, booleans, floats and anything unreadable.
    """
    result = non_negative(value, name)
    if result == 0:
        raise ConfigError(f"{name} must be greater than 0")
    return result


def non_negative(value: object, name: str) -> Fraction:
    """Take an exact number ≥ 0; accepts and refuses the same types as :func:`positive`."""
    if isinstance(value, (bool, float)) or value is None:
        raise ConfigError(f"{name} must be an exact number, such as 1, \"0.1\" or \"1/3\"")
    try:
        result = Fraction(value)  # type: ignore[arg-type]  # other types raise and are refused below
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ConfigError(f"{name} must be an exact number, such as 1, \"0.1\" or \"1/3\"") from None
    if result < 0:
        raise ConfigError(f"{name} must not be negative")
    return result


def short_below(value: Fraction, bits: int = 40) -> Fraction:
    """Round a positive rational down to one with a short text: a multiple of a power of two, relative error < 2^-bits.

    Rounding down is the private side for a budget, a share or ε.
    """
    return _dyadic(value, bits, up=False)


def short_above(value: Fraction, bits: int = 40) -> Fraction:
    """Round a positive rational up to one with a short text: the private side for a variance."""
    return _dyadic(value, bits, up=True)


def _dyadic(value: Fraction, bits: int, *, up: bool) -> Fraction:
    if value <= 0:
        raise ConfigError("only positive numbers are rounded to a short text")
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    return Fraction(math.ceil(scaled) if up else math.floor(scaled)) / Fraction(2) ** shift


def sqrt_above(value: Fraction, bits: int = 64) -> Fraction:
    """Return a rational ≥ √value with relative error below 2^-bits, by integer square root."""
    root = sqrt_below(value, bits + 1)
    return root if root * root == value else root * (1 + Fraction(1, 2**bits))


def sqrt_below(value: Fraction, bits: int = 64) -> Fraction:
    """Return a rational ≤ √value with relative error below 2^-bits, by integer square root."""
    if value < 0:
        raise ConfigError("the square root of a negative number was asked for")
    if value == 0:
        return Fraction(0)
    shift = 2 * bits + 2 * max(0, value.denominator.bit_length() - value.numerator.bit_length() + 1)
    shift += shift % 2
    return Fraction(math.isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


def float_above(value: Fraction) -> float:
    """Convert to the nearest float that is not below the value: the safe side of a cost in a report."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def float_below(value: Fraction) -> float:
    """Convert to the nearest float that is not above the value: the safe side of a remainder in a report."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
