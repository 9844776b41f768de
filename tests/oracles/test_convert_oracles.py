"""Conversions against dp-accounting, against mpmath at 60 digits by other formulas, and against the definition."""

import math
import random
from fractions import Fraction

import mpmath
import pytest

from accounting.budget import EpsilonDelta, Law, Mu, Rho
from accounting.convert import alpha_used, cap_for, delta, epsilon

RANDOM = random.Random(20240601)
CASES = [(Fraction(10 ** RANDOM.uniform(-3, 2.5)), Fraction(10 ** -RANDOM.uniform(0.1, 14))) for _ in range(14)] + [
    (Fraction(1, 10**6), Fraction(1, 10**5)),
    (Fraction(1000), Fraction(1, 10**5)),
    (Fraction(1), Fraction(1, 10**18)),
]


@pytest.fixture(scope="module")
def dp_accounting():
    return pytest.importorskip("dp_accounting")


@pytest.mark.parametrize(("stated", "at_delta"), CASES)
def test_rdp_accountant_at_our_order_gives_our_epsilon(stated, at_delta, dp_accounting):
    from dp_accounting.rdp import RdpAccountant

    rho = cap_for(EpsilonDelta(stated, at_delta), Law.ZCDP)
    accountant = RdpAccountant(orders=[float(alpha_used(rho, at_delta))])
    accountant.compose(dp_accounting.GaussianDpEvent(math.sqrt(1 / (2 * float(rho.value)))))
    theirs = accountant.get_epsilon(float(at_delta))
    assert math.isclose(theirs, float(epsilon(rho, at_delta)), rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize(("stated", "at_delta"), CASES)
def test_rdp_accountants_own_orders_are_never_better(stated, at_delta, dp_accounting):
    from dp_accounting.rdp import RdpAccountant

    rho = cap_for(EpsilonDelta(stated, at_delta), Law.ZCDP)
    accountant = RdpAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(math.sqrt(1 / (2 * float(rho.value)))))
    assert accountant.get_epsilon(float(at_delta)) >= float(epsilon(rho, at_delta)) * (1 - 1e-9)


@pytest.mark.parametrize(("stated", "at_delta"), CASES)
def test_exact_gaussian_curve_gives_our_epsilon(stated, at_delta, dp_accounting):
    mu = cap_for(EpsilonDelta(stated, at_delta), Law.GDP)
    theirs = dp_accounting.get_epsilon_gaussian(1 / math.sqrt(mu.squared), float(at_delta))
    assert math.isclose(theirs, float(epsilon(mu, at_delta)), rel_tol=1e-9, abs_tol=3e-11)


def test_privacy_loss_distribution_agrees_to_its_own_accuracy(dp_accounting):
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    distribution = from_gaussian_mechanism(2.0, value_discretization_interval=1e-4)
    theirs = distribution.get_epsilon_for_delta(1e-6)
    ours = float(epsilon(Mu(Fraction(1, 4)), Fraction(1, 10**6)))
    assert ours <= theirs + 1e-9
    assert math.isclose(theirs, ours, rel_tol=1e-6)


def _real(value):
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(("stated", "at_delta"), CASES)
def test_gaussian_curve_at_60_digits_by_integrating_its_slope(stated, at_delta):
    # dδ/dε = -e^ε Φ(-ε/μ - μ/2), so δ(ε) = ∫ from ε to ∞; integrated at 60 digits.
    mu_squared = cap_for(EpsilonDelta(stated, at_delta), Law.GDP)
    with mpmath.workdps(60):
        mu, start = mpmath.sqrt(_real(mu_squared.squared)), _real(epsilon(mu_squared, at_delta))
        # In x = ε/μ - μ/2 the integrand is μ e^ε Φ(-x - μ) = μ φ(x) Φ(-x - μ)/φ(x + μ).
        low = start / mu - mu / 2

        def integrand(x):
            return mu * mpmath.exp(mu * x + mu * mu / 2) * mpmath.ncdf(-x - mu)

        width = 1 / (1 + abs(low))
        points = [low, low + width, low + 4 * width, low + 12 * width, low + 40 * width + 20]
        tail = mpmath.quad(integrand, [*points[:-1], max(points[-1], mpmath.mpf(25))], maxdegree=7)
        assert abs(tail / _real(at_delta) - 1) < mpmath.mpf(10) ** -9


@pytest.mark.parametrize(("stated", "at_delta"), CASES)
def test_zcdp_bound_at_60_digits_by_brute_force_over_orders(stated, at_delta):
    rho = cap_for(EpsilonDelta(stated, at_delta), Law.ZCDP)
    ours, order = delta(rho, stated), alpha_used(rho, at_delta)
    with mpmath.workdps(60):
        bound = lambda alpha: (  # noqa: E731  # the published formula, as one expression
            mpmath.exp((alpha - 1) * (alpha * _real(rho.value) - _real(stated)))
            / (alpha - 1)
            * (1 - 1 / alpha) ** alpha
        )
        around = [1 + (_real(order) - 1) * mpmath.mpf(2) ** (mpmath.mpf(step) / 64) for step in range(-256, 257)]
        smallest = min(bound(alpha) for alpha in around)
        assert _real(ours) <= smallest * (1 + mpmath.mpf(10) ** -15)
        assert smallest < _real(ours) * (1 + mpmath.mpf(10) ** -3)


def test_a_delta_is_the_hockey_stick_of_two_gaussians():
    # The definition, by a sum over a fine partition of the line: P(S) - e^ε Q(S) on the set where it is positive.
    mu, at_epsilon = 1.3, 0.7
    exact = float(delta(Mu(Fraction(169, 100)), Fraction(7, 10)))
    step = 1e-3
    total = 0.0
    for index in range(-12000, 12000):
        at = (index + 0.5) * step
        p = math.exp(-((at - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
        q = math.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
        total += max(0.0, p - math.exp(at_epsilon) * q) * step
    assert math.isclose(total, exact, rel_tol=1e-6)


@pytest.mark.parametrize(("stated", "at_delta"), CASES)
def test_gdp_affords_at_least_as_much_gaussian_noise_budget_as_zcdp(stated, at_delta):
    # Both statements bound the same Gaussian mechanism, and its own curve is exact: μ² ≥ 2ρ for the same (ε, δ).
    statement = EpsilonDelta(stated, at_delta)
    assert cap_for(statement, Law.GDP).squared >= 2 * cap_for(statement, Law.ZCDP).value
    rho = Rho(Fraction(1, 8))
    assert epsilon(Mu(Fraction(1, 4)), at_delta) <= epsilon(rho, at_delta)
