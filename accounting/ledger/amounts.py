"""Amounts in entries: the text form of ``accounting.exact``, read and written thousands of times a second.

The same few texts recur in most entries, so what was read before is remembered.
"""

import math
import re
from fractions import Fraction
from functools import lru_cache

from accounting.budget import Law
from accounting.errors import QueryRefused

SHORT_BITS = 256
"""Longest numerator or denominator, in bits, of an event's numbers and of a cap."""

SUM_BITS = 4096
"""Longest numerator or denominator, in bits, of a running sum."""

_TEXT = re.compile(r"(0|[1-9][0-9]{0,1299})/([1-9][0-9]{0,1299})")


def to_text(value: Fraction) -> str:
    """Write an amount as ``p/q`` in lowest terms, as ``accounting.exact.to_text`` does."""
    return f"{value.numerator}/{value.denominator}"


@lru_cache(maxsize=4096)
def from_text(text: str) -> Fraction:
    """Read an amount ≥ 0 that is written ``p/q`` in lowest terms, at most 1300 digits each.

    Raises:
        ValueError: any other spelling.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError("an amount is written p/q in lowest terms")
    numerator, denominator = int(match[1]), int(match[2])
    if math.gcd(numerator, denominator) != 1:
        raise ValueError("an amount is written p/q in lowest terms")
    return Fraction(numerator, denominator)


def in_law(amount: Fraction, law: Law, now: Law) -> Fraction:
    """Convert a release's amount to the law that its dataset has now: a μ² is a ρ of half its size."""
    return amount if law is now else amount / 2


def check_short(value: Fraction, what: str) -> None:
    """Refuse a number that no honest parameter needs: more than 256 bits above or below the line.

    Raises:
        QueryRefused: too long; nothing was spent.
    """
    if value.numerator.bit_length() > SHORT_BITS or value.denominator.bit_length() > SHORT_BITS:
        raise QueryRefused(f"the {what} has more than {SHORT_BITS} bits; choose a short rational; nothing was spent")


def check_sum(value: Fraction) -> None:
    """Refuse a sum that would grow beyond what an entry holds: prices with many unrelated denominators.

    Raises:
        QueryRefused: too long; nothing was spent.
    """
    if value.numerator.bit_length() > SUM_BITS or value.denominator.bit_length() > SUM_BITS:
        raise QueryRefused("the sum of prices is too long to write; choose short rationals. Nothing was spent")
