"""Bets against a claim keep their significance at every time, and the overlap of two laws is what theory says."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from accounting.errors import ConfigError
from audits.betting import Bets, p_value
from audits.claims import Claim
from audits.overlap import Overlap
from audits.statistics import error_rate_at
from audits.transcript.runs import Observation, TwoRuns
from audits.transcript.testing import PairTest, Trial, power_against


def gaussian_runs(mu, count, rng, *, shared=0.9, turned=False):
    """Log-ratios of a pair that attains μ, of two runs that share a part of their noise."""
    common, *own = rng.normal(size=(3, count))
    noises = [math.sqrt(shared) * common + math.sqrt(1 - shared) * part for part in own]
    absent, present = mu * noises[0] - mu * mu / 2, mu * noises[1] + mu * mu / 2
    if turned:  # the same laws, absent and present exchanged
        absent, present = -present, -absent
    return [
        TwoRuns(Observation(a, a > 0, mu * mu, mu * mu, 0.0), Observation(p, p > 0, mu * mu, mu * mu, 0.0))
        for a, p in zip(absent.tolist(), present.tolist(), strict=True)
    ]


def claim_of(mu):
    return Claim("mu", "", mu, error_rate_at(mu))


def audit_of(runs, claimed, planned=None, significance=0.05):
    test = PairTest([claim_of(claimed)], planned or len(runs), significance)
    test.add(runs)
    return test


@pytest.mark.parametrize("scores", ["two values", "uniform", "rare"])
def test_bets_on_the_true_mean_seldom_win_at_any_time(scores):
    rng = np.random.default_rng(3)
    draw = {
        "two values": (lambda: (rng.random(300) < 0.4).astype(float), 0.4),
        "uniform": (lambda: rng.random(300), 0.5),
        "rare": (lambda: (rng.random(300) < 0.01).astype(float), 0.01),
    }[scores]
    wins = 0
    for _ in range(400):
        bets = Bets(300, 0.1)
        bets.add(draw[0]())
        wins += p_value(bets.log_wealth(draw[1])) <= 0.1
    assert wins <= 70  # 40 on average at most; five deviations


def test_bets_do_not_depend_on_the_blocks_in_which_scores_come():
    scores = np.random.default_rng(1).random(100)
    whole, parts = Bets(100, 0.05), Bets(100, 0.05)
    whole.add(scores)
    for block in np.split(scores, [1, 7, 60]):
        parts.add(block)
    assert np.allclose(whole.log_wealth(0.6), parts.log_wealth(0.6))
    assert np.allclose(whole.stakes, parts.stakes)


def test_a_stake_does_not_see_its_own_score():
    one, other = Bets(10, 0.05), Bets(10, 0.05)
    one.add(np.array([0.2, 0.0]))
    other.add(np.array([0.2, 1.0]))
    assert one.stakes.tolist() == other.stakes.tolist()


def test_wealth_grows_with_the_mean_that_is_bet_against():
    bets = Bets(50, 0.05)
    bets.add(np.random.default_rng(1).random(50))
    ends = [bets.log_wealth(mean)[-1] for mean in np.linspace(0, 1, 11)]
    assert ends == sorted(ends)


def test_no_scores_say_nothing():
    bets = Bets(10, 0.05)
    assert p_value(bets.log_wealth(0.5)) == 1
    assert audit_of([], 1.0, planned=10).lower_bound() == 0


@pytest.mark.parametrize("scores", [[-0.1], [1.1], [math.nan]])
def test_impossible_scores_and_plans_are_refused(scores):
    with pytest.raises(ConfigError):
        Bets(10, 0.05).add(np.array(scores))
    with pytest.raises(ConfigError):
        Bets(0, 0.05)
    with pytest.raises(ConfigError):
        Overlap(1.5)


@pytest.mark.parametrize("mu", [0.05, 0.45, 1.0, 3.0])
@pytest.mark.parametrize("reach", [0.1, 0.675, 1.0])
def test_the_least_overlap_is_the_integral_over_thresholds_and_the_gaussians_own_mean(mu, reach):
    overlap = Overlap(reach)

    def both_errors(t):
        return math.exp(t / 2) * norm.cdf(-t / mu - mu / 2) + math.exp(-t / 2) * norm.cdf(t / mu - mu / 2)

    most = 8 * math.sinh(reach / 2)
    assert overlap.least(mu) == pytest.approx(quad(both_errors, -reach, reach)[0] / most, rel=1e-9)

    def mean(score, centre):
        def weighed(x):
            return score(np.array([x]))[0] * norm.pdf(x, centre, mu)

        return quad(weighed, centre - 9 * mu, centre + 9 * mu, points=[-reach, reach], limit=200)[0]

    far = np.array([-99.0])
    absent = mean(lambda x: overlap.score(x, -far), -mu * mu / 2)
    present = mean(lambda x: overlap.score(far, x), mu * mu / 2)
    assert absent + present == pytest.approx(overlap.least(mu), rel=1e-6)


def test_the_least_overlap_falls_in_mu_from_that_of_equal_laws():
    overlap = Overlap(0.7)
    values = [overlap.least(mu) for mu in (0.0, 1e-6, 0.1, 0.5, 1.0, 5.0, 40.0)]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    assert overlap.score(np.zeros(1), np.zeros(1))[0] == pytest.approx(values[0])


def test_no_mu_gdp_law_has_a_smaller_overlap():
    # randomised response and two-point laws that are μ-GDP, exactly
    overlap = Overlap(1.0)
    for mu in (0.2, 1.0, 2.0):
        for flip in np.linspace(norm.cdf(-mu / 2), 0.5, 7):
            ratio = math.log((1 - flip) / flip)
            laws = [(flip, ratio), (1 - flip, -ratio)]
            mean = sum(p * q * overlap.score(np.array([a]), np.array([-b]))[0] for p, a in laws for q, b in laws)
            assert mean >= overlap.least(mu) - 1e-12


def test_the_bound_comes_near_the_true_mu_and_shared_noise_helps():
    rng = np.random.default_rng(5)
    shared, apart = (audit_of(gaussian_runs(0.45, 4000, rng, shared=s), 0.45).lower_bound() for s in (0.97, 0.0))
    assert 0.9 * 0.45 < shared < 0.45
    assert apart < shared


def test_p38_pure_noise_bounds_nothing_and_a_planted_leak_is_found_in_both_directions():
    rng = np.random.default_rng(8)
    none = [gaussian_runs(1e-9, 500, rng) for _ in range(40)]
    assert sum(audit_of(runs, 0.5).lower_bound() > 0 for runs in none) <= 9
    for turned in (False, True):
        leak = audit_of(gaussian_runs(2.0, 500, rng, turned=turned), 0.5)
        assert leak.p_value(claim_of(0.5)) < 1e-6
        assert 1.5 < leak.lower_bound() < 2.0


def test_p39_the_extremes_give_finite_bounds():
    perfect = TwoRuns(Observation(-1e6, False, 1.0, 1.0, 0.0), Observation(1e6, True, 1.0, 1.0, 0.0))
    reversed_ = TwoRuns(perfect.present, perfect.absent)
    assert 4 < audit_of([perfect] * 1000, 1.0).lower_bound() < 8
    assert audit_of([reversed_] * 1000, 1.0).lower_bound() == 0
    assert audit_of([perfect], 1.0).lower_bound() < 1
    assert audit_of([perfect], 1.0, planned=1000).p_value(claim_of(1.0)) > 0.05


def test_a_grave_fault_is_seen_within_a_few_dozen_runs():
    # a tenth of the declared noise: the ratio, computed by the declared law, hardly varies around ±μ²/2
    mu = 0.45
    absent, present = (Observation(sign * mu * mu / 2, sign > 0, mu * mu, mu * mu, 0.0) for sign in (-1, 1))
    quiet = [TwoRuns(absent, present)] * 60
    assert audit_of(quiet, mu, planned=5000).p_value(claim_of(mu)) < 0.05


def test_the_power_calculation_gives_the_power():
    rng = np.random.default_rng(2)
    for mu, ratio, shared in ((1.0, 0.8, 0.0), (0.5, 0.85, 0.97)):
        trial = Trial.of(gaussian_runs(mu, 2000, rng, shared=shared), 1.0, claim_of(mu))
        assert trial.value == pytest.approx(mu)
        planned = trial.pairs_for_ratio(claim_of(mu), ratio, 0.05, 0.9)
        reached = [
            audit_of(gaussian_runs(mu, planned, rng, shared=shared), mu).lower_bound() >= ratio * mu for _ in range(60)
        ]
        assert 0.75 <= np.mean(reached) <= 1.0
    claimed = [
        audit_of(gaussian_runs(1.0, 300, rng, shared=0.0), 0.6).p_value(claim_of(0.6)) <= 0.05 for _ in range(80)
    ]
    assert np.mean(claimed) == pytest.approx(power_against(1.0, 0.6, 300, 0.05), abs=0.15)
    assert power_against(1.0, 0.5, 500, 0.05) > 0.95  # noise of half its scale at mu = 0.5
