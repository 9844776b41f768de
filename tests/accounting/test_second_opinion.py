from fractions import Fraction

import pytest

from accounting import convert
from accounting.budget import Mu, Rho
from accounting.errors import ConfigError
from accounting.second_opinion import agree, delta, epsilon

AMOUNTS = [Fraction(text) for text in ("1e-15", "1e-6", "0.125", "1", "37", "1e3", "1e6")]
DELTAS = [Fraction(text) for text in ("0.99", "0.5", "0.1", "1e-6", "1e-18", "1e-100", "1e-300")]
CLOSE = Fraction(1, 10**14)


@pytest.mark.parametrize("kind", [Rho, Mu])
@pytest.mark.parametrize("at_delta", DELTAS)
def test_p08_two_independent_conversions_to_epsilon_agree(kind, at_delta):
    for value in AMOUNTS:
        first, second = convert.epsilon(kind(value), at_delta), epsilon(kind(value), at_delta)
        assert abs(first - second) <= CLOSE * second
        assert agree(first, second)
        assert agree(second, first)


@pytest.mark.parametrize("kind", [Rho, Mu])
@pytest.mark.parametrize("at_epsilon", [Fraction(0), Fraction(1, 10**6), Fraction(1), Fraction(10), Fraction(1000)])
def test_p08_two_independent_conversions_to_delta_agree(kind, at_epsilon):
    for value in AMOUNTS:
        first, second = convert.delta(kind(value), at_epsilon), delta(kind(value), at_epsilon)
        assert abs(first - second) <= CLOSE * second


def test_agreement_is_relative_with_a_floor():
    assert agree(Fraction(3), Fraction(3) + Fraction(29, 10**10))
    assert not agree(Fraction(3), Fraction(3) + Fraction(31, 10**10))
    assert agree(Fraction(0), Fraction(1, 10**12))
    assert not agree(Fraction(0), Fraction(2, 10**12))


def test_a_wrong_curve_does_not_agree():
    # The conversion that is common for zCDP, ρ + 2√(ρ ln 1/δ), and a μ that is off by one part in a million.
    rho = Rho(Fraction(1, 8))
    assert not agree(Fraction(1, 8) + Fraction(2628, 1000), epsilon(rho, Fraction(1, 10**6)))
    nearly = Mu(Fraction(1) + Fraction(1, 10**6))
    assert not agree(convert.epsilon(nearly, Fraction(1, 10**6)), epsilon(Mu(Fraction(1)), Fraction(1, 10**6)))


@pytest.mark.parametrize("at_delta", [Fraction(0), Fraction(1), Fraction(1, 10**301), 1 - Fraction(1, 10**31)])
def test_a_delta_out_of_range_is_refused(at_delta):
    with pytest.raises(ConfigError, match="second formula"):
        epsilon(Rho(Fraction(1)), at_delta)
