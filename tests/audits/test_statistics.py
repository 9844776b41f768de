"""Bounds against brute force and at the extremes."""

import math

import pytest
from scipy.stats import binom

from accounting.errors import ConfigError
from audits.statistics import (
    ErrorCounts,
    error_rate_at,
    holm,
    mu_lower_bound_apart,
    proportion_lower,
    proportion_upper,
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


def test_the_bound_of_a_perfect_attack_is_finite():
    perfect = ErrorCounts(1000, 0, 0)
    assert 5 < mu_lower_bound_apart(perfect, 0.05) < 8


@pytest.mark.parametrize("errors", [ErrorCounts(10, 10, 10), ErrorCounts(10, 5, 5), ErrorCounts(1, 1, 0)])
def test_no_better_than_guessing_bounds_nothing(errors):
    assert mu_lower_bound_apart(errors, 0.05) == 0


def test_holm_stops_at_the_first_that_holds():
    assert holm([0.001, 0.04, 0.02, 0.5], 0.05) == (True, False, False, False)
    assert holm([0.001, 0.012, 0.016, 0.5], 0.05) == (True, True, True, False)


def test_wilson_holds_both_ends():
    low, high = wilson(0, 10, 0.05)
    assert low == 0 < high < 0.35
    assert wilson(10, 10, 0.05)[1] == pytest.approx(1)


@pytest.mark.parametrize("significance", [0, 0.0, 0.3, 1, True, float("nan")])
def test_a_significance_outside_its_range_is_refused(significance):
    with pytest.raises(ConfigError):
        proportion_upper(1, 2, significance)


@pytest.mark.parametrize("counts", [(0, 0, 0), (5, 6, 0), (5, -1, 0), (5, True, 0), (5.0, 1, 1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ConfigError):
        ErrorCounts(*counts)


def test_the_error_rate_of_a_mu_is_where_the_bound_would_be():
    for mu in (0.1, 1.0, 3.0):
        assert error_rate_at(mu) == pytest.approx(0.5 * math.erfc(mu / 2 / math.sqrt(2)))
