"""Sampled rows against the model they were drawn from."""

import numpy as np
import pytest

from mechanisms.pgm import Domain, Measurement, Model, estimate
from tests.oracles.pgm import brute

ROWS = 50_000


def counts(domain: Domain, rows: dict[str, np.ndarray], clique: tuple[str, ...]) -> np.ndarray:
    """Count rows by a naive loop over cells' codes."""
    shape = domain.shape(clique)
    found = np.zeros(shape, dtype=np.int64)
    np.add.at(found, tuple(rows[name] for name in clique), 1)
    return found


def fitted(name: str) -> tuple[Domain, Model]:
    sizes, cliques = brute.SHAPES[name]
    domain = brute.domain_of(sizes)
    rng = np.random.default_rng(4)
    truth = rng.gamma(0.3, size=domain.sizes)
    truth *= 1000 / truth.sum()
    return domain, estimate(domain, brute.noisy(domain, truth, [tuple(c) for c in cliques], 3.0, rng), total=1000.0)


@pytest.mark.parametrize("name", brute.SHAPES)
@pytest.mark.parametrize("rows", [0, 1, 7, ROWS])
def test_sampled_cliques_are_the_expected_counts_rounded(name, rows):
    """Given the rows of each separator cell, every cell of a clique gets its expected number, rounded up or down."""
    domain, model = fitted(name)
    sample = model.sample(rows, np.random.default_rng(5))
    assert tuple(sample) == domain.attributes
    assert all(column.dtype == np.int32 and column.shape == (rows,) for column in sample.values())
    seen: set[str] = set()
    for clique in model.cliques:
        separator = tuple(name for name in clique if name in seen)
        ordered = separator + tuple(name for name in clique if name not in seen)
        seen |= set(clique)
        joint = model.marginal(ordered).reshape(domain.cells(separator), -1)
        share = joint / joint.sum(axis=1, keepdims=True)
        drawn = counts(domain, sample, ordered).reshape(share.shape)
        assert (np.abs(drawn - drawn.sum(axis=1, keepdims=True) * share) < 1 + 1e-6).all()


@pytest.mark.parametrize("name", ["chain", "cycle of six", "overlapping triples", "disconnected"])
def test_marginals_across_cliques_are_met_by_many_rows(name):
    """Attributes that share no clique are independent given the separators, in the rows as in the model."""
    domain, model = fitted(name)
    sample = model.sample(ROWS, np.random.default_rng(6))
    for first in domain.attributes:
        for second in domain.attributes:
            if first < second:
                expected = model.marginal((first, second)) * ROWS / model.total
                error = np.abs(counts(domain, sample, (first, second)) - expected)
                assert (error <= 5 * np.sqrt(expected + 1) + 5).all()


def test_low_variance_rounding_beats_independent_draws():
    """The first clique's error is below one row a cell, where independent draws would err by √count."""
    domain = brute.domain_of((5, 5))
    model = estimate(domain, [Measurement(("a", "b"), np.full((5, 5), 400.0), 1.0)], total=10_000.0)
    sample = model.sample(10_000, np.random.default_rng(7))
    assert np.abs(counts(domain, sample, ("a", "b")) - 400).max() <= 1


def test_the_rounding_is_unbiased():
    """Over many samples a cell of expectation 0.3 holds a row in 30 % of them; each has one row exactly."""
    domain = brute.domain_of((3,))
    model = estimate(domain, [Measurement(("a",), np.array([300.0, 650.0, 50.0]), 0.01)], total=1000.0)
    rng = np.random.default_rng(8)
    draws = np.array([counts(domain, model.sample(1, rng), ("a",)) for _ in range(4000)])
    assert (draws.sum(axis=1) == 1).all()
    np.testing.assert_allclose(draws.mean(axis=0), [0.3, 0.65, 0.05], atol=0.04)


def test_an_impossible_cell_never_occurs():
    rng = np.random.default_rng(9)
    domain = brute.domain_of((4, 3, 5, 3))
    zeros = {("a", "c"): rng.random((4, 5)) < 0.5, ("d", "b"): rng.random((3, 3)) < 0.4}
    measurements = [Measurement(tuple(c), rng.normal(50, 40, domain.shape(tuple(c))), 40.0) for c in ("ab", "bc", "cd")]
    model = estimate(domain, measurements, zeros=zeros)
    for seed in range(5):
        sample = model.sample(ROWS, np.random.default_rng(seed))
        for clique, impossible in zeros.items():
            assert (counts(domain, sample, clique)[impossible] == 0).all()
