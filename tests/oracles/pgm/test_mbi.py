"""Estimation against mbi 2.0.0 (Private-PGM's own library), on the same measurements."""

import os
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from mechanisms.pgm import Domain, Measurement, Model, SolverOptions, estimate
from tests.oracles.pgm import brute

DATA = Path(os.environ.get("DPRELEASE_DATA", "../shared/data"))


def mbi_loss(domain: Domain, measurements: list[Measurement], total: float, iterations: int) -> float:
    """Return the loss that mbi's mirror descent reaches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jax

        jax.config.update("jax_enable_x64", True)
        import mbi

        model = mbi.estimation.MirrorDescent().estimate(
            mbi.Domain(domain.attributes, domain.sizes),
            [mbi.LinearMeasurement(np.ravel(m.values).astype(float), m.clique, stddev=m.sigma) for m in measurements],
            known_total=total,
            iters=iterations,
        )
        tables = [np.asarray(model.project(m.clique).datavector(flatten=False)) for m in measurements]
    return sum(
        0.5 * float(np.square((table - m.values.reshape(table.shape)) / m.sigma).sum())
        for table, m in zip(tables, measurements, strict=True)
    )


def test_a_small_fit_is_no_worse_than_mbi():
    rng = np.random.default_rng(10)
    domain = brute.domain_of((4, 3, 5))
    truth = rng.gamma(0.5, size=domain.sizes)
    truth *= 500 / truth.sum()
    measurements = brute.noisy(domain, truth, [("a", "b"), ("b", "c")], 6.0, rng)
    ours = estimate(domain, measurements, total=500.0, options=SolverOptions(proximal_weight=1.0, improvement=0.01))
    assert ours.loss <= 1.05 * mbi_loss(domain, measurements, 500.0, 100)


@pytest.mark.slow
@pytest.mark.skipif(
    not (DATA / "adult_discretized.csv").is_file(), reason="DPRELEASE_DATA holds no adult_discretized.csv"
)
@pytest.mark.parametrize(("sigma", "seed"), [(50.0, 0), (10.0, 1)])
def test_a_warm_fit_on_adult_is_within_five_percent_of_mbi_at_a_thousand_iterations(sigma, seed):
    """As in AIM: one-way marginals first, then pairs and triples one by one, each fit starting from the last."""
    names = ("workclass", "education-num", "marital-status", "occupation", "race", "sex", "income>50K")
    header, *_ = (DATA / "adult_discretized.csv").read_text().splitlines()
    table = np.loadtxt(DATA / "adult_discretized.csv", delimiter=",", skiprows=1, dtype=np.int64)
    columns = dict(zip(header.split(","), table.T, strict=True))
    domain = Domain(names, tuple(int(columns[name].max()) + 1 for name in names))
    rng = np.random.default_rng(seed)
    larger = [c for size in (2, 3) for c in combinations(names, size) if domain.cells(c) <= 1500]
    cliques = [(name,) for name in names] + [larger[i] for i in rng.permutation(len(larger))[:15]]
    measurements: list[Measurement] = []
    model: Model | None = None
    for clique in cliques:
        shape = domain.shape(clique)
        exact = np.bincount(
            np.ravel_multi_index([columns[name] for name in clique], shape), minlength=domain.cells(clique)
        )
        noisy = np.rint(exact + rng.normal(0, sigma, exact.size)).reshape(shape)
        measurements.append(Measurement(clique, noisy, sigma))
        model = estimate(domain, measurements, total=float(len(table)), warm_start=model)
    assert model is not None
    assert model.passes <= 200
    assert model.loss <= 1.05 * mbi_loss(domain, measurements, float(len(table)), 1000)
