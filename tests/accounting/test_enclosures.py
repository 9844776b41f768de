"""Enclosures hold and are narrow, against mpmath at far higher precision."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.enclosures import erfc_bounds, exp_minus_bounds

_RATIONALS = st.builds(
    lambda mantissa, denominator, shift: Fraction(mantissa, denominator) * Fraction(2) ** shift,
    st.integers(1, 2**70),
    st.integers(1, 2**70),
    st.integers(-60, 12),
)


def _true(function, argument: Fraction, precision: int) -> mpmath.mpf:
    """Return function(argument)·2^precision with 200 bits more than the precision, even where it is tiny."""
    with mpmath.workprec(precision + 200):
        return mpmath.ldexp(function(mpmath.mpf(argument.numerator) / argument.denominator), precision)


@settings(max_examples=200, deadline=None)
@given(_RATIONALS, st.sampled_from([8, 79, 143, 207, 1000]))
def test_erfc_is_enclosed_narrowly(square, precision):
    low, high = erfc_bounds(square, precision)
    assert 0 <= low <= _true(lambda q: mpmath.erfc(mpmath.sqrt(q)), square, precision) <= high
    assert high - low <= 3


@settings(max_examples=200, deadline=None)
@given(_RATIONALS, st.sampled_from([8, 80, 144, 208, 1000]))
def test_exp_is_enclosed_narrowly(exponent, precision):
    low, high = exp_minus_bounds(exponent, precision)
    assert 0 <= low <= _true(lambda r: mpmath.exp(-r), exponent, precision) <= high
    assert high - low <= 3


def test_exp_of_zero_is_exact():
    assert exp_minus_bounds(Fraction(0), 80) == (2**80, 2**80)


@pytest.mark.parametrize("bounds", [erfc_bounds, exp_minus_bounds])
@pytest.mark.parametrize("precision", [79, 143])
def test_both_sides_of_the_point_where_the_value_vanishes_hold(bounds, precision):
    edge = Fraction(25 * precision, 36)
    function = (lambda q: mpmath.erfc(mpmath.sqrt(q))) if bounds is erfc_bounds else (lambda r: mpmath.exp(-r))
    for argument in (edge - Fraction(1, 10**6), edge, edge * 1000):
        low, high = bounds(argument, precision)
        assert low <= _true(function, argument, precision) <= high
        assert high - low <= 3
