"""Exact rationals: the only numbers that the ledger adds, with every float conversion naming its safe side."""

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from accounting.errors import ConfigError

MAX_DIGITS = 1000
"""The most decimal digits of a numerator or denominator that are read from outside."""

MAX_TEXT_DIGITS = 4000
"""The most decimal digits of a numerator or denominator that are written; below Python's own limit for text."""

_TEXT_LIMIT = 10**MAX_TEXT_DIGITS
_TEXT = re.compile(r"(-?(?:0|[1-9][0-9]*))/([1-9][0-9]*)")
_SPELLING = re.compile(r"[+-]?[0-9]+(?:/[0-9]+|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)", re.ASCII)


def to_text(value: Fraction) -> str:
    """Write a rational in its one canonical text form ``p/q`` (lowest terms, q ≥ 1, also for integers).

    Raises:
        ConfigError: the text would exceed ``MAX_TEXT_DIGITS`` digits on a side.
    """
    if max(abs(value.numerator), value.denominator) >= _TEXT_LIMIT:
        raise ConfigError(f"a rational has more than {MAX_TEXT_DIGITS} digits; state amounts with fewer digits")
    return f"{value.numerator}/{value.denominator}"


def from_text(text: str) -> Fraction:
    """Read the canonical text form ``p/q``.

    Raises:
        ConfigError: for any other spelling, lowest terms included, so that one number has one text.
    """
    match = _TEXT.fullmatch(text)
    if match is None or max(len(match[1]), len(match[2])) > MAX_TEXT_DIGITS + 1:
        raise ConfigError("a rational is written p/q in lowest terms")
    value = Fraction(int(match[1]), int(match[2]))
    if to_text(value) != text:
        raise ConfigError("a rational is written p/q in lowest terms")
    return value


def positive(value: object, name: str) -> Fraction:
    """Take a positive exact number: an int, Fraction, Decimal or a text such as ``"0.1"`` or ``"1/3"``.

    Floats are refused, because 0.1 as a float is another number than the one written; NumPy's numbers are refused,
    because their arithmetic wraps around.

    Raises:
        ConfigError: for zero, negatives, NaN, infinities, booleans, floats, texts beyond ``MAX_DIGITS`` digits and
            anything unreadable.
    """
    result = non_negative(value, name)
    if result == 0:
        raise ConfigError(f"{name} must be greater than 0")
    return result


def non_negative(value: object, name: str) -> Fraction:
    """Take an exact number ≥ 0; accepts and refuses the same types as :func:`positive`."""
    result = _exact(value)
    if result is None:
        raise ConfigError(f'{name} must be an exact number, such as 1, "0.1" or "1/3"')
    if result < 0:
        raise ConfigError(f"{name} must not be negative")
    return result


def _exact(value: object) -> Fraction | None:
    if isinstance(value, str):
        return _from_spelling(value)
    if isinstance(value, Decimal):
        return _from_spelling(str(value))
    if isinstance(value, Fraction):
        # A Fraction may hold NumPy integers, which wrap around; int() gives it Python's.
        if type(value) is Fraction and type(value.numerator) is int and type(value.denominator) is int:
            return value
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(int(value))
    return None


def _from_spelling(text: str) -> Fraction | None:
    if len(text) > MAX_DIGITS or _SPELLING.fullmatch(text) is None:
        return None
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > MAX_DIGITS:
        return None
    try:
        return Fraction(text)
    except ZeroDivisionError:
        return None


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
    shift = bits + 1 - (value.numerator.bit_length() - value.denominator.bit_length())
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
    return Fraction(math.isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


def float_above(value: Fraction) -> float:
    """Convert to the nearest float that is not below the value: the safe side of a cost in a report."""
    return -float_below(-value)


def float_below(value: Fraction) -> float:
    """Convert to the nearest float that is not above the value: the safe side of a remainder in a report."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf if value > 0 else -math.inf
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)


def decimal_above(value: Fraction, digits: int = 6) -> str:
    """Write a number ≥ 0 as a short decimal that is not below it: the safe side of a cost in a message or report."""
    return _decimal(value, digits, ROUND_CEILING)


def decimal_below(value: Fraction, digits: int = 6) -> str:
    """Write a number ≥ 0 as a short decimal that is not above it: the safe side of a remainder."""
    return _decimal(value, digits, ROUND_FLOOR)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{rounded:f}" if -7 <= rounded.adjusted() < digits else f"{rounded:e}"
