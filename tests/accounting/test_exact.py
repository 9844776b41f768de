import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.errors import ConfigError
from accounting.exact import (
    MAX_TEXT_DIGITS,
    decimal_above,
    decimal_below,
    float_above,
    float_below,
    from_text,
    non_negative,
    positive,
    short_above,
    short_below,
    sqrt_above,
    sqrt_below,
    to_text,
)

MANY = settings(max_examples=100, deadline=None)
POSITIVE = st.builds(Fraction, st.integers(1, 10**30), st.integers(1, 10**30))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 3), "1/3"),
        (Fraction(0), "0/1"),
        (Fraction(5), "5/1"),
        (Fraction(-7, 2), "-7/2"),
        (Fraction(6, 4), "3/2"),
    ],
)
def test_a_rational_has_one_text(value, text):
    assert to_text(value) == text
    assert from_text(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1/0",
        "2/4",
        "-0/1",
        "+1/2",
        "01/2",
        "1/02",
        " 1/2",
        "1/2 ",
        "1/2\n",
        "1/-2",
        "0.5",
        "1e3/1",
        "٣/4",
        "1_0/3",
    ],
)
def test_every_other_spelling_of_a_rational_is_refused(text):
    with pytest.raises(ConfigError, match="lowest terms"):
        from_text(text)


def test_very_long_rationals_are_refused_in_both_directions():
    longest = Fraction(10**MAX_TEXT_DIGITS - 1)
    assert from_text(to_text(longest)) == longest
    for value in (longest + 1, 1 / (longest + 1), -(longest + 1)):
        with pytest.raises(ConfigError, match="digits"):
            to_text(value)
    with pytest.raises(ConfigError):
        from_text("1" * (MAX_TEXT_DIGITS + 2) + "/1")
    with pytest.raises(ConfigError):
        from_text("1" * (MAX_TEXT_DIGITS + 1) + "/1")


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, Fraction(3)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        ("+2.50E+1", Fraction(25)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("1E-9"), Fraction(1, 10**9)),
        (Fraction(22, 7), Fraction(22, 7)),
    ],
)
def test_exact_numbers_are_taken_as_written(value, exact):
    assert positive(value, "rho") == exact
    assert non_negative(value, "rho") == exact


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        0.1,
        float("nan"),
        float("inf"),
        5e-324,
        np.float64(0.1),
        np.float32(0.5),
        np.int64(3),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1E+1001"),
        Decimal("1E-1001"),
        "nan",
        "inf",
        "",
        " 1",
        "1 ",
        "1/0",
        "1_000",
        "1e999999999",
        "0x10",
        "١",
        "9" * 1001,
        b"1",
        1 + 0j,
        [1],
        object(),
    ],
)
def test_numbers_that_are_not_exact_are_refused(value):
    for take in (positive, non_negative):
        with pytest.raises(ConfigError, match="rho must be an exact number"):
            take(value, "rho")


def test_signs_are_checked():
    assert non_negative(0, "delta") == 0
    assert non_negative("-0", "delta") == 0
    with pytest.raises(ConfigError, match="rho must be greater than 0"):
        positive(0, "rho")
    for value in (-1, "-0.1", Fraction(-1, 3)):
        with pytest.raises(ConfigError, match="must not be negative"):
            positive(value, "rho")


def test_a_rational_of_wrapping_integers_becomes_one_of_pythons():
    wrapping = Fraction(np.int64(2**62), np.int64(3))
    value = positive(wrapping, "variance")
    assert type(value.numerator) is int
    assert value * 4 == Fraction(2**64, 3)


@MANY
@given(POSITIVE, st.integers(min_value=1, max_value=80))
def test_short_rationals_lie_on_their_side_and_are_close(value, bits):
    below, above = short_below(value, bits), short_above(value, bits)
    assert below <= value <= above
    assert value - below < value / 2**bits
    assert above - value < value / 2**bits
    for short in (below, above):
        assert short.denominator & (short.denominator - 1) == 0
        assert (short.numerator // (short.numerator & -short.numerator)).bit_length() <= bits + 2


@pytest.mark.parametrize("value", [Fraction(0), Fraction(-1, 3)])
def test_only_positive_numbers_are_shortened(value):
    for shorten in (short_below, short_above):
        with pytest.raises(ConfigError, match="positive"):
            shorten(value)


def test_a_number_that_is_short_stays():
    assert short_below(Fraction(3, 8)) == short_above(Fraction(3, 8)) == Fraction(3, 8)


@MANY
@given(POSITIVE, st.integers(min_value=1, max_value=100))
def test_square_roots_lie_on_their_side_and_are_close(value, bits):
    below, above = sqrt_below(value, bits), sqrt_above(value, bits)
    assert below**2 <= value <= above**2
    assert value < (below * (1 + Fraction(1, 2**bits))) ** 2
    assert (above * (1 - Fraction(1, 2**bits))) ** 2 < value


def test_square_roots_of_squares_are_exact():
    for root in (Fraction(0), Fraction(1, 2), Fraction(3), Fraction(10**20)):
        assert sqrt_below(root**2) == sqrt_above(root**2) == root
    with pytest.raises(ConfigError, match="negative"):
        sqrt_below(Fraction(-1))


@MANY
@given(st.fractions())
def test_floats_lie_on_their_side_and_are_nearest(value):
    below, above = float_below(value), float_above(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert above in (below, math.nextafter(below, math.inf))


def test_floats_at_the_ends_of_their_range():
    huge, tiny = Fraction(10**400), Fraction(1, 10**400)
    assert float_above(huge) == math.inf
    assert float_below(huge) == sys.float_info.max
    assert float_above(-huge) == -sys.float_info.max
    assert float_below(-huge) == -math.inf
    assert (float_below(tiny), float_above(tiny)) == (0.0, 5e-324)


@pytest.mark.parametrize(
    ("value", "below", "above"),
    [
        (Fraction(1, 8), "0.125", "0.125"),
        (Fraction(1, 3), "0.333333", "0.333334"),
        (Fraction(0), "0", "0"),
        (Fraction(100000), "100000", "100000"),
        (Fraction(1234567), "1.23456e+6", "1.23457e+6"),
        (Fraction(1, 3 * 10**9), "3.33333e-10", "3.33334e-10"),
        (Fraction(1, 10**7), "0.0000001", "0.0000001"),
    ],
)
def test_decimals_lie_on_their_side(value, below, above):
    assert (decimal_below(value), decimal_above(value)) == (below, above)


@MANY
@given(st.fractions(min_value=0))
def test_decimals_enclose(value):
    assert Fraction(decimal_below(value)) <= value <= Fraction(decimal_above(value))
    assert Fraction(decimal_above(value, 12)) <= value * (1 + Fraction(1, 10**11))
