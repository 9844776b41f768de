"""How amounts are written for people; a script reads exact texts instead."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from accounting.budget import Law
from accounting.exact import decimal_above, decimal_below

SYMBOLS: Mapping[Law, str] = MappingProxyType({Law.ZCDP: "ρ", Law.GDP: "μ²"})


def cost_text(value: Fraction, law: Law) -> str:
    """Write a cost, rounded up: ``ρ = 0.125``."""
    return f"{SYMBOLS[law]} = {decimal_above(value)}"


def left_text(value: Fraction, law: Law) -> str:
    """Write a remainder, rounded down."""
    return f"{SYMBOLS[law]} = {decimal_below(value)}"


def delta_text(delta: Fraction) -> str:
    """Write a δ, rounded up: ``1e-6`` rather than 0.000001."""
    exponent = len(str(delta.denominator)) - 1
    if delta.numerator == 1 and delta.denominator == 10**exponent:
        return f"1e-{exponent}"
    return decimal_above(delta)


def statement_text(epsilon: Fraction, delta: Fraction) -> str:
    """Write an (ε, δ), both rounded up."""
    return f"ε = {decimal_above(epsilon)} at δ = {delta_text(delta)}"
