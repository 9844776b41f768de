"""Bounds against brute force, against a grid, at the extremes, and their power."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from accounting.errors import ConfigError
from audits.statistics import (
    ErrorCounts,
    ErrorProcess,
    claim_p_value,
    error_rate_at,
    holm,
    mu_lower_bound,
    mu_lower_bound_apart,
    power_against,
    proportion_lower,
    proportion_upper,
    runs_for_ratio,
    variation_lower_bound,
    wilson,
)


@pytest.mark.parametrize(("count", "trials"), [(0, 1), (0, 50), (3, 50), (49, 50), (7, 9)])
def test_the_upper_bound_is_where_the_lower_tail_is_the_significance(count, trials):
    bound = proportion_upper(count, trials, 0.05)
    assert math.isclose(binom.cdf(count, trials, bound), 0.05, rel_tol=1e-9)
    assert math.isclose(proportion_lower(trials - count, trials, 0.05), 1 - bound)


def test_the_bounds_of_everything_and_nothing_are_trivial():
    assert proportion_upper(5, 5, 0.05) == 1
    assert proportion_lower(0, 5, 0.05) == 0


@pytest.mark.parametrize("runs", [1, 2, 6])
@pytest.mark.parametrize("significance", [0.025, 0.05, 0.25])
def test_the_pooled_bound_covers_every_pair_of_rates(runs, significance):
    # the exact chance that the bound passes the true average rate, for all alpha and beta on a grid
    bounds = np.array([proportion_upper(errors, 2 * runs, significance) for errors in range(2 * runs + 1)])
    counts = np.arange(runs + 1)
    for alpha, beta in itertools.product(np.linspace(0, 1, 21), repeat=2):
        law = np.convolve(binom.pmf(counts, runs, alpha), binom.pmf(counts, runs, beta))
        assert law[bounds < (alpha + beta) / 2 - 1e-12].sum() <= significance + 1e-12


def test_the_bound_of_a_perfect_attack_is_finite():
    perfect = ErrorCounts(1000, 0, 0)
    for bound in (mu_lower_bound(perfect, 0.05), mu_lower_bound_apart(perfect, 0.05)):
        assert 5 < bound < 8
    assert variation_lower_bound(perfect, 0.05) < 1


@pytest.mark.parametrize("errors", [ErrorCounts(10, 10, 10), ErrorCounts(10, 5, 5), ErrorCounts(1, 1, 0)])
def test_no_better_than_guessing_bounds_nothing(errors):
    assert mu_lower_bound(errors, 0.05) == mu_lower_bound_apart(errors, 0.05) == 0
    assert variation_lower_bound(errors, 0.05) == 0


def test_the_pooled_bound_is_tighter_than_two_bounds_apart():
    errors = ErrorCounts(10_000, 4110, 4110)
    assert mu_lower_bound_apart(errors, 0.05) < mu_lower_bound(errors, 0.05) < 2 * norm.ppf(0.589)


def test_both_directions_count_alike():
    assert mu_lower_bound(ErrorCounts(100, 3, 20), 0.05) == mu_lower_bound(ErrorCounts(100, 20, 3), 0.05)


def test_a_p_value_is_small_exactly_where_the_bound_passes_the_claim():
    for errors in range(0, 200, 7):
        counts = ErrorCounts(100, errors // 2, errors - errors // 2)
        for claim in (0.1, 0.5, 2.0):
            beyond = mu_lower_bound(counts, 0.05) > claim
            assert beyond == (claim_p_value(counts, error_rate_at(claim)) < 0.05)


def test_holm_stops_at_the_first_that_holds():
    assert holm([0.001, 0.04, 0.02, 0.5], 0.05) == (True, False, False, False)
    assert holm([0.001, 0.012, 0.016, 0.5], 0.05) == (True, True, True, False)


def test_wilson_holds_both_ends():
    low, high = wilson(0, 10, 0.05)
    assert low == 0 < high < 0.35
    assert wilson(10, 10, 0.05)[1] == pytest.approx(1)


def test_the_power_calculation_gives_the_power():
    for mu, ratio in ((0.45, 0.85), (1.0, 0.95)):
        runs = runs_for_ratio(mu, ratio, 0.05, 0.95)
        assert math.isclose(power_against(mu, ratio * mu, runs, 0.05), 0.95, abs_tol=0.02)


def test_pooling_needs_about_a_third_of_the_runs_of_bounds_apart():
    assert 40_000 < runs_for_ratio(0.45, 0.95, 0.05, 0.95) < 75_000
    assert power_against(1.0, 0.5, 500, 0.05) > 0.99  # a factor-2 noise error at mu = 0.5


def test_the_process_rejects_a_false_claim_early_and_keeps_a_true_one():
    rng = np.random.default_rng(5)
    false_claim = ErrorProcess(error_rate_at(0.5), 0.01)
    pairs = 0
    while not false_claim.rejects and pairs < 2000:
        false_claim.add(int((rng.random(2) < error_rate_at(2.0)).sum()))
        pairs += 1
    assert pairs < 200
    wrong = 0
    for _ in range(200):
        process = ErrorProcess(error_rate_at(0.5), 0.05)
        for errors in (rng.random((300, 2)) < error_rate_at(0.5)).sum(axis=1):
            process.add(int(errors))
            if process.rejects:
                wrong += 1
                break
    assert wrong <= 20


@pytest.mark.parametrize("significance", [0, 0.0, 0.3, 1, True, float("nan")])
def test_a_significance_outside_its_range_is_refused(significance):
    with pytest.raises(ConfigError):
        proportion_upper(1, 2, significance)


@pytest.mark.parametrize("counts", [(0, 0, 0), (5, 6, 0), (5, -1, 0), (5, True, 0), (5.0, 1, 1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ConfigError):
        ErrorCounts(*counts)


def test_impossible_power_and_rates_are_refused():
    with pytest.raises(ConfigError):
        runs_for_ratio(0.0, 0.9, 0.05, 0.95)
    with pytest.raises(ConfigError):
        ErrorProcess(0.6, 0.05)
