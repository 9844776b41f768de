import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from mechanisms.projection import apportion, shrunk, to_simplex

counts = st.lists(st.integers(-1000, 1000), min_size=1, max_size=30).map(
    lambda values: np.array(values, dtype=np.int64)
)


@given(counts, st.floats(0.001, 1e6))
def test_projection_is_non_negative_and_sums_to_the_total(values, total):
    projected = to_simplex(values, total)
    assert (projected >= 0).all()
    assert projected.sum() == pytest.approx(total)


@given(counts, st.floats(1.0, 1e4))
def test_projection_shifts_the_kept_cells_alike_and_drops_only_smaller_ones(values, total):
    """The optimality conditions of the projection: kept cells moved by one amount, dropped ones lie below it."""
    projected = to_simplex(values, total)
    kept = projected > 0
    shift = (values - projected)[kept]
    assert np.ptp(shift) <= 1e-6 * (1 + np.abs(values).max() + total)
    if not kept.all():
        assert values[~kept].max() <= shift.mean() + 1e-6 * (1 + np.abs(values).max() + total)


def test_projection_equals_a_general_solver():
    values = np.array([5.0, -2.0, 3.0, 0.5])
    found = minimize(
        lambda x: ((x - values) ** 2).sum(),
        np.full(4, 2.0),
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 8},
        options={"ftol": 1e-12},
    )
    assert to_simplex(values, 8.0) == pytest.approx(found.x, abs=1e-4)


@given(counts, st.floats(0.001, 1e6), st.floats(0.001, 1e4))
def test_shrunk_counts_are_non_negative_sum_to_the_total_and_keep_their_order(values, total, sigma):
    shares = shrunk(values, total, sigma)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(total)
    order = np.argsort(values, kind="stable")
    assert (np.diff(shares[order]) >= -1e-9 * total).all()


def test_shrinking_beats_the_projection_where_noise_hides_the_counts_and_leaves_clear_ones_alone():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 60, 200)
    for sigma, better in ((60, 0.8), (1, 1.05)):
        noisy = np.rint(true + rng.normal(0, sigma, 200)).astype(np.int64)
        errors = [
            np.abs(made - true).sum() for made in (shrunk(noisy, true.sum(), sigma), to_simplex(noisy, true.sum()))
        ]
        assert errors[0] < better * errors[1]
    assert np.ptp(shrunk(np.array([3, -2, 1, 0, 2]), 50.0, 10.0)) == 0  # noise explains all of it


@pytest.mark.parametrize("total", [0.0, -3.0])
def test_a_total_that_is_not_positive_gives_zeros(total):
    assert to_simplex(np.array([[4, -1], [2, 2]]), total).tolist() == [[0, 0], [0, 0]]


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=40).map(np.array), st.integers(0, 5000), st.integers(0, 2**32 - 1)
)
def test_apportioned_counts_are_the_integers_next_to_the_expectation(shares, rows, seed):
    counted = apportion(shares, rows, np.random.default_rng(seed))
    assert counted.sum() == rows
    expected = shares * (rows / shares.sum()) if shares.sum() > 0 else np.full(shares.size, rows / shares.size)
    assert (np.abs(counted - expected) < 1 + 1e-6).all()
    assert (counted[expected == 0] == 0).all() or shares.sum() == 0


def test_apportioning_is_unbiased():
    shares = np.array([0.2, 0.5, 1.3, 3.0])
    rng = np.random.default_rng(0)
    mean = np.mean([apportion(shares, 3, rng) for _ in range(20_000)], axis=0)
    assert mean == pytest.approx(shares * 3 / 5, abs=0.02)
