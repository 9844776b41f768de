"""Inference, marginals and estimation against explicit joint tables."""

from itertools import combinations, permutations

import numpy as np
import pytest

from mechanisms.pgm import Domain, Measurement, SolverOptions, estimate, model_cells
from mechanisms.pgm.axes import axes_of
from mechanisms.pgm.backends import BACKENDS, Backend
from mechanisms.pgm.structure import build
from tests.oracles.pgm import brute

REAL_BACKENDS = [backend for backend in BACKENDS if backend != "auto"]
"""JAX compiles each new loop nest for a tenth of a second and more: its random cases are among the slow tests."""

TIGHT = SolverOptions(tolerance=0.01, improvement=1e-3, proximal_weight=1.0)


def cases() -> list[tuple[str, Domain, list[tuple[str, ...]]]]:
    found = [
        (name, brute.domain_of(sizes), [tuple(clique) for clique in cliques])
        for name, (sizes, cliques) in brute.SHAPES.items()
    ]
    rng = np.random.default_rng(20190113)
    return found + [(f"random {i}", *brute.random_case(rng)) for i in range(25)]


CASES = cases()
NAMES = [name for name, _, _ in CASES]
WITH_BACKENDS = [
    pytest.param(
        *case[1:],
        backend,
        id=f"{case[0]}-{backend}",
        marks=[pytest.mark.slow] if backend == "jax" and case[0].startswith("random") else [],
    )
    for case in CASES
    for backend in REAL_BACKENDS
]


def infer(domain: Domain, potentials: dict, backend: Backend, zeros: dict | None = None):
    """Run belief propagation on given log-potentials; return log Z, marginals and clique tables by clique."""
    axes = axes_of(domain)
    allowed = {axes.mask(c): axes.inward(1.0 - table, c) for c, table in (zeros or {}).items()}
    shape = build(axes, [axes.mask(c) for c in potentials], allowed, (), max_cells=10**6, backend=backend)
    tables = {axes.mask(c): axes.inward(table, c).ravel() for c, table in potentials.items()}
    answer = shape.engine.run(np.concatenate([np.zeros(0), *(tables[mask] for mask in shape.measured)]))
    assert answer is not None
    log_z, flat = answer
    found, at = {}, 0
    for mask in shape.measured:
        clique = axes.clique(mask)
        found[clique] = axes.outward(flat[at : at + axes.cells(mask)].reshape(axes.shape(mask)), clique)
        at += axes.cells(mask)
    beliefs = {
        axes.clique(mask): axes.outward(table, axes.clique(mask))
        for mask, table in zip(shape.tree.cliques, shape.engine.beliefs(), strict=True)
    }
    return log_z, found, beliefs


@pytest.mark.parametrize(("domain", "cliques", "backend"), WITH_BACKENDS)
def test_inference_equals_the_explicit_joint(domain, cliques, backend):
    rng = np.random.default_rng(1)
    potentials = {domain.canonical(c): rng.normal(0, 3, domain.shape(domain.canonical(c))) for c in cliques}
    joint = brute.joint_of_potentials(domain, potentials)
    log_z, marginals, beliefs = infer(domain, potentials, backend)
    np.testing.assert_allclose(log_z, np.log(joint.sum()), rtol=1e-9, atol=1e-9)
    joint /= joint.sum()
    for clique, table in {**marginals, **beliefs}.items():
        np.testing.assert_allclose(table, brute.marginal(domain, joint, clique), rtol=1e-9)
    assert {name for clique in beliefs for name in clique} == set(domain.attributes)


@pytest.mark.parametrize(
    ("seed", "backend"),
    [(seed, backend) for backend in REAL_BACKENDS for seed in range(1 if backend == "jax" else 8)],
)
def test_inference_with_structural_zeros_equals_the_explicit_joint(seed, backend):
    rng = np.random.default_rng(seed)
    domain = brute.domain_of((3, 2, 4, 3))
    potentials = {tuple(c): rng.normal(0, 2, domain.shape(tuple(c))) for c in ("ab", "bc", "d")}
    zeros = {tuple(c): rng.random(domain.shape(tuple(c))) < 0.3 for c in ("ac", "cd", "abd")}
    joint = brute.joint_of_potentials(domain, potentials, zeros)
    _, marginals, beliefs = infer(domain, potentials, backend, zeros)
    joint /= joint.sum()
    for clique, table in {**marginals, **beliefs}.items():
        expected = brute.marginal(domain, joint, clique)
        np.testing.assert_allclose(table, expected, rtol=1e-9)
        assert ((table == 0) == (expected == 0)).all()


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize(("domain", "cliques"), [case[1:] for case in CASES], ids=NAMES)
def test_every_marginal_of_a_fitted_model_equals_the_explicit_joint(domain, cliques, backend):
    """All subsets of attributes, in and across cliques, connected or not, in several orders."""
    rng = np.random.default_rng(2)
    truth = rng.gamma(0.3, size=domain.sizes) * 100 / domain.cells()
    measurements = brute.noisy(domain, truth, cliques, 2.0, rng)
    model = estimate(domain, measurements, total=100.0, options=SolverOptions(backend=backend))
    joint = brute.joint_of_potentials(domain, model.potentials)
    joint *= 100.0 / joint.sum()
    asked = [subset for size in range(5) for subset in combinations(domain.attributes, size)]
    asked += [order for subset in asked[-3:] for order in permutations(subset)]
    for clique, table in zip(asked, model.marginals(asked), strict=True):
        assert table.shape == domain.shape(clique)
        np.testing.assert_allclose(table, brute.marginal(domain, joint, clique), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.marginal(asked[-1]), table, rtol=1e-12)


def test_a_fit_by_jax_is_that_of_the_other_backends():
    """Whole fits, warm and with impossible cells, stop at the same place."""
    rng = np.random.default_rng(5)
    domain = brute.domain_of((3, 4, 3))
    zeros = {("a", "c"): np.eye(3, dtype=bool)}
    truth = rng.gamma(0.5, size=domain.sizes) * brute.joint_of_potentials(domain, {}, zeros)
    measurements = brute.noisy(domain, truth * 500 / truth.sum(), [("a", "b"), ("b", "c")], 5.0, rng)
    models = []
    for backend in REAL_BACKENDS:
        options = SolverOptions(backend=backend)
        first = estimate(domain, measurements[:1], total=500.0, zeros=zeros, options=options)
        models.append(estimate(domain, measurements, total=500.0, zeros=zeros, options=options, warm_start=first))
    for model in models[1:]:
        assert model.passes == models[0].passes
        for clique in (("a", "b"), ("b", "c"), ("a", "c"), domain.attributes):
            np.testing.assert_allclose(model.marginal(clique), models[0].marginal(clique), rtol=1e-9, atol=1e-9)


def test_jax_says_where_potentials_leave_no_representable_mass():
    """As the other backends do, which stop at the first such message."""
    domain = brute.domain_of((2, 2))
    axes = axes_of(domain)
    masks = [axes.mask(("a",)), axes.mask(("b",))]
    allowed = {axes.mask(("a", "b")): np.array([[1.0, 0.0], [0.0, 0.0]])}
    for backend in REAL_BACKENDS:
        engine = build(axes, masks, allowed, (), max_cells=100, backend=backend).engine
        assert engine.run(np.zeros(4)) is not None
        engine.restrict(np.array([0.0, 1.0, 1.0, 1.0]))  # only where the fixed factor has no mass
        assert engine.run(np.zeros(4)) is None, backend


@pytest.mark.parametrize(
    ("domain", "cliques"), [case[1:] for case in CASES if case[2]], ids=[c[0] for c in CASES if c[2]]
)
def test_the_fit_reaches_the_least_loss_of_any_table(domain, cliques):
    """Against non-negative least squares over the explicit joint table, with noise that leaves negative cells."""
    rng = np.random.default_rng(3)
    truth = rng.gamma(0.2, size=domain.sizes)
    truth *= 200 / truth.sum()
    measurements = brute.noisy(domain, truth, cliques, 10.0, rng)
    model = estimate(domain, measurements, total=200.0, options=TIGHT)
    best = brute.least_loss(domain, measurements, 200.0)
    assert best <= model.loss + 1e-6
    assert model.loss <= best * 1.01 + 0.05
    fitted = sum(0.5 * np.square((model.marginal(m.clique) - m.values) / m.sigma).sum() for m in measurements)
    np.testing.assert_allclose(model.loss, fitted, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_fit_with_structural_zeros_reaches_the_least_loss(seed):
    rng = np.random.default_rng(seed)
    domain = brute.domain_of((3, 4, 2, 3))
    zeros = {("b", "a"): rng.random((4, 3)) < 0.3, ("c", "d"): rng.random((2, 3)) < 0.2}
    possible = brute.joint_of_potentials(domain, {}, zeros)
    truth = rng.gamma(0.3, size=domain.sizes) * possible
    truth *= 300 / truth.sum()
    measurements = brute.noisy(domain, truth, [("a", "b"), ("b", "c"), ("d",), ("c", "d", "a")], 8.0, rng)
    model = estimate(domain, measurements, total=300.0, zeros=zeros, options=TIGHT)
    best = brute.least_loss(domain, measurements, 300.0, zeros)
    assert best <= model.loss + 1e-6
    assert model.loss <= best * 1.01 + 0.05
    for clique, table in zeros.items():
        assert (model.marginal(clique)[table] == 0).all()
    assert (model.marginal(domain.attributes)[possible == 0] == 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_default_stop_is_near_the_least_loss_after_few_passes(seed):
    """The fit that mechanisms use: it stops early on purpose, for the last percents of the loss are noise."""
    rng = np.random.default_rng(seed)
    domain = brute.domain_of((6, 5, 4, 6))
    truth = rng.gamma(0.2, size=domain.sizes)
    truth *= 2000 / truth.sum()
    cliques = [tuple(c) for c in ("abc", "bcd", "ad", "a", "b", "c", "d")]
    measurements = brute.noisy(domain, truth, cliques, 15.0, rng)
    first = estimate(domain, measurements[3:], total=2000.0)
    model = estimate(domain, measurements, total=2000.0, warm_start=first)
    assert model.converged
    assert model.loss <= 1.25 * brute.least_loss(domain, measurements, 2000.0)
    assert model.passes <= 100


@pytest.mark.parametrize("seed", range(20))
def test_model_cells_are_those_of_the_model_built(seed):
    rng = np.random.default_rng(seed)
    domain, cliques = brute.random_case(rng)
    measurements = [Measurement(c, np.ones(domain.shape(c)), 1.0) for c in cliques]
    model = estimate(domain, measurements, total=10.0)
    assert sum(domain.cells(c) for c in model.cliques) == model_cells(domain, cliques)
