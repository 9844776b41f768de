import math
from fractions import Fraction
from statistics import NormalDist

import pytest

from accounting.budget import Cap, EpsilonDelta, Law, Mu, Rho
from accounting.convert import cap_for
from release.report.attacks import FALSE_POSITIVES, attack

NORMAL = NormalDist()


def gaussian_power(mu: float, rate: float) -> float:
    """The best test of N(0, 1) against N(μ, 1)."""
    return NORMAL.cdf(NORMAL.inv_cdf(rate) + mu)


@pytest.mark.parametrize("squared", ["1/100", "1/4", "1", "4"])
def test_gdp_is_the_exact_curve_rounded_up(squared):
    mu = math.sqrt(Fraction(squared))
    found = attack("release", Cap(Mu(Fraction(squared))))
    assert 0 <= found.power - gaussian_power(mu, FALSE_POSITIVES) < 1.01e-4
    assert 0 <= found.advantage - (2 * NORMAL.cdf(mu / 2) - 1) < 1.01e-4


@pytest.mark.parametrize("rho", ["1/1000000000", "1/1000", "1/8", "1/2", "3", "40", "5000"])
def test_zcdp_is_never_below_the_gaussian_mechanism_of_the_same_rho(rho):
    """The Gaussian mechanism with μ² = 2ρ is ρ-zCDP, so no bound for every ρ-zCDP mechanism may be below its power."""
    mu = math.sqrt(2 * Fraction(rho))
    found = attack("dataset", Cap(Rho(Fraction(rho))))
    assert found.scope == "dataset"
    assert found.advantage >= 2 * NORMAL.cdf(mu / 2) - 1
    for rate, power in found.curve:
        assert rate <= power <= 1
        if 0 < rate < 1:
            assert power >= gaussian_power(mu, rate)


def test_zcdp_is_of_use():
    found = attack("release", Cap(cap_for(EpsilonDelta(Fraction(1), Fraction(1, 10**6)), Law.ZCDP)))
    assert found.advantage < 0.2
    assert found.power < 0.05


@pytest.mark.parametrize("law", [Rho, Mu])
def test_a_cap_with_delta_allows_more(law):
    plain = attack("release", Cap(law(Fraction(1, 8))))
    more = attack("release", Cap(law(Fraction(1, 8)), Fraction(1, 100)))
    assert plain.advantage + 0.0099 <= more.advantage
    assert plain.power < more.power


def test_beliefs_follow_from_the_power_and_grow():
    found = attack("release", Cap(Rho(Fraction(1, 2))))
    for belief in found.beliefs:
        odds = belief.before / (1 - belief.before) * found.power / FALSE_POSITIVES
        assert belief.after == pytest.approx(odds / (1 + odds), abs=1.01e-4)
        assert belief.before < belief.after < 1
