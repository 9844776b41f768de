"""The price of a selection, tested step by step as docs/guarantees.md (Selection) proves it.

All output laws have a finite support, so each trade-off curve is piecewise linear and its exact μ is the largest over
its vertices of Φ⁻¹(1 - type I error) - Φ⁻¹(type II error).
"""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp, ndtri

from accounting.budget import Law
from accounting.events import SelectionEvent, price

EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
ORDERS = (1.01, 1.5, 2.0, 3.0, 8.0, 32.0, 128.0)
ROUNDING = 1e-9


def charged_mu(epsilon):
    return math.sqrt(price(SelectionEvent(Fraction(epsilon)), Law.GDP))


def charged_rho(epsilon):
    return float(price(SelectionEvent(Fraction(epsilon)), Law.ZCDP))


def proved_mu(epsilon):
    return 2 * float(ndtri(1 / (1 + math.exp(-epsilon / 2))))


def softmax(scores, scale):
    weights = np.exp(scale * (np.asarray(scores, dtype=float) - np.max(scores)))
    return weights / weights.sum()


def permute_and_flip(scores, scale):
    """Return the law of permute-and-flip for two candidates: visit them in random order, keep each by a coin."""
    first, second = np.exp(scale * (np.asarray(scores, dtype=float) - np.max(scores)))
    ahead = first * (1 - second / 2) / (first + second - first * second)
    return np.array([ahead, 1 - ahead])


def exact_mu(p, q):
    """Return the smallest μ for which T(P, Q) ≥ G_μ on a finite support."""
    order = np.argsort(q / p)[::-1]
    rejected_p, kept_q = np.cumsum(p[order])[:-1], np.cumsum(q[order][::-1])[::-1][1:]
    kept_p = np.cumsum(p[order][::-1])[::-1][1:]
    upper = np.where(rejected_p < 0.5, -ndtri(rejected_p), ndtri(kept_p))
    rejected_q = np.cumsum(q[order])[:-1]
    lower = np.where(kept_q < 0.5, ndtri(kept_q), -ndtri(rejected_q))
    return float(np.max(upper - lower))


def renyi(p, q, order):
    return float(logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1))


def worst_pair(epsilon, law=softmax, factor=0.5):
    """Return two laws of a selection between two candidates whose scores move by Δ = 1 in opposite directions."""
    return law((1, 0), factor * epsilon), law((0, 1), factor * epsilon)


def random_pairs(epsilon, rng, count, factor=0.5):
    """Draw selections whose scores move by at most Δ = 8, none of them monotonically."""
    for _ in range(count):
        size = int(rng.integers(2, 13))
        scores = rng.integers(-40, 41, size) * int(rng.choice([0, 1, 4]))
        moves = rng.choice([-8, 8], size) if rng.random() < 0.5 else rng.integers(-8, 9, size)
        yield softmax(scores, factor * epsilon / 8), softmax(scores + moves, factor * epsilon / 8)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_softmax_of_half_the_scale_has_bounded_range_epsilon(epsilon):
    rng = np.random.default_rng(1)
    for p, q in [worst_pair(epsilon), *random_pairs(epsilon, rng, 200)]:
        losses = np.log(p / q)
        assert np.ptp(losses) <= epsilon + ROUNDING
    assert math.isclose(np.ptp(np.log(np.divide(*worst_pair(epsilon)))), epsilon, rel_tol=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_selection_is_never_easier_to_attack_than_its_mu(epsilon):
    rng = np.random.default_rng(2)
    for p, q in [worst_pair(epsilon), *random_pairs(epsilon, rng, 200)]:
        for one, other in ((p, q), (q, p)):
            assert exact_mu(one, other) <= proved_mu(epsilon) + ROUNDING
    assert proved_mu(epsilon) <= epsilon * math.sqrt(math.pi / 8) <= charged_mu(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_worst_pair_attains_the_proved_mu(epsilon):
    assert math.isclose(exact_mu(*worst_pair(epsilon)), proved_mu(epsilon), rel_tol=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wrong_twin_with_mu_five_percent_smaller_is_rejected(epsilon):
    assert exact_mu(*worst_pair(epsilon)) > 0.95 * proved_mu(epsilon) + ROUNDING


def test_the_charged_mu_itself_has_no_five_percent_to_spare_at_small_epsilon():
    assert exact_mu(*worst_pair(0.1)) > 0.95 * charged_mu(0.1)
    assert exact_mu(*worst_pair(1.0)) > 0.95 * charged_mu(1.0)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0, 2.0, 5.0])
def test_wrong_twin_without_the_factor_one_half_is_rejected(epsilon):
    assert exact_mu(*worst_pair(epsilon, factor=1.0)) > charged_mu(epsilon)
    assert max(renyi(*worst_pair(epsilon, factor=1.0), order) - order * charged_rho(epsilon) for order in ORDERS) > 0
    rng = np.random.default_rng(3)
    assert any(exact_mu(p, q) > charged_mu(epsilon) for p, q in random_pairs(epsilon, rng, 300, factor=1.0))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0])
def test_p02_wrong_twin_permute_and_flip_is_rejected(epsilon):
    pair = worst_pair(epsilon, law=permute_and_flip)
    assert exact_mu(*pair) > charged_mu(epsilon)
    assert max(renyi(*pair, order) - order * charged_rho(epsilon) for order in ORDERS) > 0


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_selection_keeps_its_rho_at_every_order(epsilon):
    rng = np.random.default_rng(4)
    for p, q in [worst_pair(epsilon), *random_pairs(epsilon, rng, 50)]:
        for order in ORDERS:
            assert renyi(p, q, order) <= order * charged_rho(epsilon) + ROUNDING
            assert renyi(q, p, order) <= order * charged_rho(epsilon) + ROUNDING


def test_the_charged_rho_is_tight_at_small_epsilon():
    assert renyi(*worst_pair(0.01), 1.5) > 0.99 * 1.5 * charged_rho(0.01)


def two_points(epsilon, top):
    """Return the pair with losses ``top`` and ``top - epsilon``: the extremal pair of the proof."""
    q = (math.exp(-top) - math.exp(-epsilon)) / (1 - math.exp(-epsilon))
    p = (1 - math.exp(top - epsilon)) / (1 - math.exp(-epsilon))
    return np.array([p, 1 - p]), np.array([q, 1 - q])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_step_one_a_two_point_pair_dominates_every_law_of_bounded_range(epsilon):
    rng = np.random.default_rng(5)
    levels = np.exp(np.linspace(-1.2 * epsilon, 1.2 * epsilon, 41))
    for _ in range(100):
        q = rng.dirichlet(np.full(int(rng.integers(2, 9)), 0.5))
        ratio = np.exp(rng.uniform(0, epsilon, q.size))
        ratio[rng.integers(q.size)], p = 1.0, q * ratio / (q * ratio).sum()
        top = max(0.0, float(np.log(p / q).min()) + epsilon)
        extremal_p, extremal_q = two_points(epsilon, top)
        for level in levels:
            ours = np.maximum(p - level * q, 0).sum()
            assert ours <= np.maximum(extremal_p - level * extremal_q, 0).sum() + ROUNDING
        assert exact_mu(p, q) <= proved_mu(epsilon) + ROUNDING


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_step_two_the_symmetric_two_point_pair_is_the_worst(epsilon):
    values = []
    for share in np.linspace(0.02, 0.98, 97):
        p, q = two_points(epsilon, share * epsilon)
        assert math.isclose(math.log(p[0] / p[1]) - math.log(q[0] / q[1]), epsilon, rel_tol=1e-6)
        values.append(exact_mu(p, q))
    assert max(values) <= proved_mu(epsilon) + ROUNDING
    assert int(np.argmax(values)) == 48
    assert math.isclose(values[48], proved_mu(epsilon), rel_tol=1e-9)


def test_step_three_the_slope_of_the_normal_score_falls_away_from_0():
    # k(x) = Φ(x)(1 - Φ(x))/φ(x) falls on x > 0 from k(0) = √(π/8), since M(x) = φ(2Φ - 1) - xΦ(1 - Φ) > 0.
    with mpmath.workdps(40):
        phi, normal = mpmath.npdf, mpmath.ncdf
        places = [mpmath.mpf(step) / 50 for step in range(1001)]
        slopes = [normal(x) * normal(-x) / phi(x) for x in places]
        assert abs(slopes[0] - mpmath.sqrt(mpmath.pi / 8)) < mpmath.mpf(10) ** -35
        assert all(later < earlier for earlier, later in pairwise(slopes))
        assert all(phi(x) * (1 - 2 * normal(-x)) - x * normal(x) * normal(-x) > 0 for x in places[1:])


def test_step_three_m_rises_and_then_falls():
    # n = M' = 2φ² - Φ(1 - Φ) changes its sign once: it falls on (0, y) from n(0) > 0 and then rises to 0.
    with mpmath.workdps(40):
        phi, normal = mpmath.npdf, mpmath.ncdf
        values = [2 * phi(x) ** 2 - normal(x) * normal(-x) for x in (mpmath.mpf(step) / 50 for step in range(501))]
        signs = [value > 0 for value in values]
        assert signs[0]
        assert sum(one != other for one, other in pairwise(signs)) == 1
        turns = [later > earlier for earlier, later in pairwise(values)]
        assert sum(one != other for one, other in pairwise(turns)) == 1


def test_one_row_moves_two_l1_errors_in_opposite_directions():
    # Two candidates, one record added: (8, 8) becomes (9, 7), so L1 errors are not monotonic and the range is 2Δ wide.
    estimates = np.array([[0, 8], [8, 0]])
    before, after = np.array([[0, 0], [0, 0]]), np.array([[1, 0], [1, 0]])
    errors_before = np.abs(before - estimates).sum(axis=1)
    errors_after = np.abs(after - estimates).sum(axis=1)
    assert errors_before.tolist() == [8, 8]
    assert errors_after.tolist() == [9, 7]
    losses = np.log(softmax(errors_before, 0.5) / softmax(errors_after, 0.5))
    assert math.isclose(np.ptp(losses), 1.0)
