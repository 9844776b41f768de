import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.concentration import error_below, noise_norm, sum_above

RUNS = 4000


def rounded_noise(rng, sigma, shape):
    return np.rint(rng.normal(0, sigma, shape))


@pytest.mark.parametrize("sigma", [0.3, 1.0, 20.0])
@pytest.mark.parametrize(("cells", "draws"), [(1, 1), (8, 1), (200, 1), (12, 9)])
@pytest.mark.parametrize("failure", [0.05, 0.001])
def test_noise_norm_covers_and_is_not_far_above_the_true_quantile(sigma, cells, draws, failure):
    rng = np.random.default_rng(1)
    norms = np.abs(rounded_noise(rng, sigma, (RUNS, cells, draws)).sum(axis=2)).sum(axis=1)
    bound = noise_norm(sigma**2, np.full(cells, draws), failure)
    assert np.mean(norms > bound) <= failure
    if sigma >= 1:
        assert bound < (1.6 if sigma > 1 else 2.6) * max(np.quantile(norms, 1 - failure), sigma)


def test_noise_norm_of_cells_with_different_numbers_of_draws():
    rng = np.random.default_rng(2)
    draws = np.array([1, 1, 5, 30, 2])
    norms = sum(np.abs(rounded_noise(rng, 7.0, (RUNS, count)).sum(axis=1)) for count in draws)
    bound = noise_norm(49.0, draws, 0.05)
    assert np.mean(norms > bound) <= 0.05
    assert bound < 1.7 * np.quantile(norms, 0.95)


@given(st.floats(1e-3, 1e9), st.integers(1, 1000), st.floats(1e-9, 0.5))
def test_a_smaller_failure_probability_never_gives_a_smaller_bound(variance, cells, failure):
    draws = np.ones(cells, dtype=np.int64)
    assert noise_norm(variance, draws, failure / 10) >= noise_norm(variance, draws, failure) > 0


@pytest.mark.parametrize("size", [0.0, 0.5, 3.0, 50.0])
@pytest.mark.parametrize("failure", [0.05, 0.01])
def test_error_below_covers_the_true_error(size, failure):
    rng = np.random.default_rng(3)
    cells, sigma = 60, 10.0
    error = np.rint(rng.normal(0, size * sigma, cells))
    true = np.abs(error).sum()
    distances = np.abs(error + rounded_noise(rng, sigma, (RUNS, cells))).sum(axis=1)
    bounds = np.array([error_below(distance, sigma**2, cells, failure) for distance in distances[:800]])
    assert np.mean(bounds < true) <= failure
    assert np.median(bounds) < true + 1.2 * cells * sigma


@pytest.mark.parametrize("failure", [0.05, 0.001])
def test_sum_above_covers(failure):
    rng = np.random.default_rng(4)
    totals = 1000 + rounded_noise(rng, 4.0, (RUNS, 25)).sum(axis=1)
    bounds = np.array([sum_above(int(total), 16.0, 25, failure) for total in totals])
    assert np.mean(bounds < 1000) <= failure
    assert np.median(bounds) < 1000 + 5 * 4.0 * 5
