"""Exact numbers: from schema files and from a table's texts, never through a binary float."""

import re
from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

MAX_SCALED = 2**62
"""A bound in units of its last declared decimal stays below this, so that every value fits an int64."""

_PLAIN = re.compile(r"([+-]?[0-9]{1,18})(?:\.([0-9]{1,9}))?")
_NUMBER = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_SPECIAL = re.compile(r"([+-]?)(?:(nan)|inf(?:inity)?)", re.IGNORECASE)
_CONTEXT = Context(prec=40, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation])


def read_number(text: str) -> Decimal | None:
    """Read a decimal number from a table's text, exactly.

    Signs, a decimal point and an exponent are read, in ASCII digits; also inf, infinity and nan, in any case.
    Grouping commas, blanks, underscores and percent signs are not guessed.

    Returns:
        The number, ±Infinity, NaN, or None where the text is no number. An exponent beyond all arithmetic gives
        ±Infinity or 0.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        special = _SPECIAL.fullmatch(text)
        if special is None:
            return None
        return Decimal("NaN") if special[2] else Decimal(f"{special[1]}Infinity")
    try:
        return Decimal(text)
    except InvalidOperation:
        zero = match[3].startswith("-") or not match[2].strip("0.")
        return Decimal(0) if zero else Decimal(f"{match[1]}Infinity")


def scaled_number(text: str, decimals: int) -> int | None:
    """Read a plain number of at most the declared decimals as a whole number of units 10^-decimals: the fast way.

    Returns:
        The scaled number, or None where the text needs :func:`read_number`.
    """
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    whole, fraction = match.groups("")
    return None if len(fraction) > decimals else int(whole + fraction.ljust(decimals, "0"))


def scale(number: Decimal, decimals: int, low: int, high: int) -> tuple[int, bool]:
    """Round a number, half to even, to units of 10^-decimals, held to [low − 1, high + 1].

    Args:
        number: not NaN; may be ±Infinity.
        decimals: from 0 to 9.
        low: the declared lower bound in those units.
        high: the declared upper bound in those units.

    Returns:
        The scaled number and whether rounding changed it.
    """
    unit = Decimal(1).scaleb(-decimals)
    if number <= _CONTEXT.multiply(Decimal(low - 1), unit):
        return low - 1, False
    if number >= _CONTEXT.multiply(Decimal(high + 1), unit):
        return high + 1, False
    rounded = number.quantize(unit, context=_CONTEXT)
    return int(rounded.scaleb(decimals, context=_CONTEXT)), rounded != number


def plain_text(value: Decimal) -> str:
    """Write a number without exponent or trailing zeros, so that equal numbers have one text."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def write_scaled(scaled: int, decimals: int) -> str:
    """Write a whole number of units 10^-decimals with exactly that many decimals."""
    if decimals == 0:
        return str(scaled)
    whole, fraction = divmod(abs(scaled), 10**decimals)
    return f"{'-' if scaled < 0 else ''}{whole}.{fraction:0{decimals}d}"


def _exact(value: object) -> Decimal:
    """Take an exact number from a schema: a whole number, a decimal, or either as text."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = read_number(value)
    elif isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        number = Decimal(value)
    else:
        number = None
    if number is None or not number.is_finite():
        given = ' (a date has kind = "date")' if isinstance(value, date) else ""
        raise ValueError(f'write an exact number, such as 0, 2.5 or "2.5"{given}')
    if number and not -40 < number.adjusted() < 40:
        raise ValueError("the number is too large or too fine; it must stay below 2^62 units of its last decimal")
    return number


def _whole(value: object) -> int:
    number = _exact(value)
    if number != number.to_integral_value():
        raise ValueError("write a whole number")
    return int(number)


WholeNumber = Annotated[int, BeforeValidator(_whole), PlainSerializer(str)]
DecimalNumber = Annotated[Decimal, BeforeValidator(_exact), PlainSerializer(plain_text)]
