"""The exact output law of a Gaussian question on neighbours: its ρ and its μ, at small and large noise."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp
from scipy.stats import norm

from accounting.budget import Law
from accounting.events import price
from accounting.queries import Total, question_event
from accounting.unit import PersonUnit, PrivacyUnit, RowUnit


def log_law(mean: int, sigma: float, support: np.ndarray) -> np.ndarray:
    """Log-probabilities of the integer nearest to N(mean, σ²), accurate in both tails."""
    low, high = (support - 0.5 - mean) / sigma, (support + 0.5 - mean) / sigma
    mirrored = low > 0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    above, below = log_ndtr(high), log_ndtr(low)
    return above + np.log1p(-np.exp(below - above))


def laws(query: Total, unit: PrivacyUnit) -> tuple[np.ndarray, np.ndarray]:
    sigma = float(query.variance) ** 0.5
    support = np.arange(-int(9 * sigma) - 9, int(9 * sigma) + 9 + unit.max_rows)
    return log_law(0, sigma, support), log_law(unit.max_rows, sigma, support)


def renyi_excess(one: np.ndarray, other: np.ndarray, rho: float) -> float:
    worst = -np.inf
    for alpha in (1.01, 1.5, 2.0, 3.0):
        divergence = logsumexp(alpha * one + (1 - alpha) * other) / (alpha - 1)
        worst = max(worst, float(divergence / alpha - rho) / rho)
    return worst


def gdp_excess(one: np.ndarray, other: np.ndarray, mu: float) -> float:
    """The most by which an event has a larger advantage than μ-GDP allows, over all half-lines."""
    detected, false_alarm = np.cumsum(np.exp(one)), np.cumsum(np.exp(other))
    inside = (false_alarm > 1e-12) & (false_alarm < 1 - 1e-12)
    allowed = norm.cdf(mu + norm.ppf(false_alarm[inside]))
    return float((detected[inside] - allowed).max())


@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("who", 2), PersonUnit("who", 3)])
@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(37, 3), Fraction(400)])
def test_rho_and_mu_hold_and_half_the_noise_breaks_them(unit, variance):
    query = Total(variance)
    event = question_event(query, unit)
    rho, mu = float(price(event, Law.ZCDP)), float(price(event, Law.GDP)) ** 0.5
    one, other = laws(query, unit)
    assert renyi_excess(one, other, rho) <= 1e-9
    assert gdp_excess(one, other, mu) <= 1e-9
    one, other = laws(Total(variance / 4), unit)
    assert renyi_excess(one, other, rho) > 0.5
    assert gdp_excess(one, other, mu) > 0.001
