"""Estimation: what goes in, what is refused, what stays the same."""

from itertools import permutations

import numpy as np
import pytest

from accounting.errors import ConfigError
from mechanisms.pgm import Domain, Measurement, Model, SolverOptions, estimate
from mechanisms.pgm import solver as solving
from mechanisms.pgm.axes import axes_of
from mechanisms.pgm.gauge import Gauge
from mechanisms.pgm.inference import FLOOR
from mechanisms.pgm.structure import build

DOMAIN = Domain(("a", "b", "c", "d"), (3, 4, 2, 5))


def measurements(seed: int = 0, sigma: float = 5.0) -> list[Measurement]:
    rng = np.random.default_rng(seed)
    cliques = [("a",), ("b", "a"), ("c", "b"), ("d",), ("a", "b")]
    return [Measurement(c, rng.normal(300 / DOMAIN.cells(c), sigma, DOMAIN.shape(c)), sigma) for c in cliques]


@pytest.mark.parametrize(
    ("clique", "values", "sigma"),
    [
        ((), np.zeros(1), 1.0),
        (("a", "a"), np.zeros(9), 1.0),
        (("a",), np.zeros(3), 0.0),
        (("a",), np.zeros(3), -1.0),
        (("a",), np.zeros(3), float("nan")),
        (("a",), np.zeros(3), float("inf")),
        (("a",), np.zeros(3), True),
        (("a",), np.array([1.0, np.nan, 0.0]), 1.0),
        (("a",), np.array([1.0, np.inf, 0.0]), 1.0),
        (("a",), np.array(["1", "2", "3"]), 1.0),
        (("a",), np.array([True, False, True]), 1.0),
    ],
)
def test_a_wrong_measurement_is_refused(clique, values, sigma):
    with pytest.raises(ConfigError):
        Measurement(clique, values, sigma)


@pytest.mark.parametrize("values", [np.zeros(4), np.zeros((4, 3)), np.zeros((3, 4, 1))])
def test_a_measurement_of_another_shape_is_refused(values):
    with pytest.raises(ConfigError, match=r"shape \(3, 4\)"):
        estimate(DOMAIN, [Measurement(("a", "b"), values, 1.0)])


def test_flat_and_shaped_values_and_any_order_of_attributes_say_the_same():
    table = np.arange(12.0).reshape(3, 4)
    models = [
        estimate(DOMAIN, [Measurement(("a", "b"), table, 1.0)]),
        estimate(DOMAIN, [Measurement(("a", "b"), table.ravel(), 1.0)]),
        estimate(DOMAIN, [Measurement(("b", "a"), table.T, 1.0)]),
        estimate(DOMAIN, [Measurement(("a", "b"), table.astype(np.int64), 1.0)]),
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.marginal(("a", "b")), models[0].marginal(("a", "b")))


def test_the_order_of_measurements_changes_no_bit():
    given = measurements()
    first = estimate(DOMAIN, given)
    rows = first.sample(500, np.random.default_rng(1))
    for order in list(permutations(given))[::17]:
        model = estimate(DOMAIN, order)
        np.testing.assert_array_equal(model.marginal(DOMAIN.attributes), first.marginal(DOMAIN.attributes))
        for name, column in model.sample(500, np.random.default_rng(1)).items():
            np.testing.assert_array_equal(column, rows[name])


@pytest.mark.parametrize("backend", ["numpy", "numba", "jax"])
def test_the_same_inputs_give_the_same_bits(backend):
    if backend == "numba":
        pytest.importorskip("numba")
    options = SolverOptions(backend=backend)
    first, second = (estimate(DOMAIN, measurements(), options=options) for _ in range(2))
    np.testing.assert_array_equal(first.marginal(DOMAIN.attributes), second.marginal(DOMAIN.attributes))


def test_several_measurements_of_a_clique_are_their_inverse_variance_mean():
    given = [Measurement(("a",), np.array([10.0, 20.0, 30.0]), 1.0), Measurement(("a",), np.array([40.0, 0, 0]), 2.0)]
    pooled = (4 * given[0].values + given[1].values) / 5
    model = estimate(DOMAIN, given, options=SolverOptions(tolerance=1e-6, improvement=1e-6))
    np.testing.assert_allclose(model.marginal(("a",)), pooled, rtol=1e-3)
    expected = sum(0.5 * np.square((model.marginal(("a",)) - m.values) / m.sigma).sum() for m in given)
    assert model.loss == pytest.approx(expected)


def test_the_total_is_the_inverse_variance_mean_of_the_measured_totals():
    given = [Measurement(("a",), np.full(3, 100.0), 1.0), Measurement(("d",), np.full(5, 40.0), 2.0)]
    weights = np.array([1 / 3, 1 / 20])
    assert estimate(DOMAIN, given).total == pytest.approx(weights @ [300, 200] / weights.sum())


@pytest.mark.parametrize("values", [np.full(3, -5.0), np.zeros(3), np.array([-50.0, 0.1, 0.2])])
def test_the_total_is_at_least_one(values):
    model = estimate(DOMAIN, [Measurement(("a",), values, 1.0)])
    assert model.total == 1.0
    assert model.marginal(("a", "d")).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("total", [0.0, -1.0, float("nan"), float("inf"), True])
def test_a_wrong_total_is_refused(total):
    with pytest.raises(ConfigError, match="total"):
        estimate(DOMAIN, measurements(), total=total)


def test_without_measurements_the_model_is_uniform():
    model = estimate(DOMAIN, [], total=120.0)
    np.testing.assert_allclose(model.marginal(DOMAIN.attributes), 1.0)
    assert model.converged
    assert model.loss == 0.0


def test_disconnected_parts_are_each_scaled_to_the_total():
    given = [Measurement(("a", "b"), np.full((3, 4), 10.0), 1.0), Measurement(("c", "d"), np.full((2, 5), 50.0), 3.0)]
    model = estimate(DOMAIN, given)
    for clique in (("a",), ("c", "d"), ("a", "d"), ("d", "b", "c")):
        assert model.marginal(clique).sum() == pytest.approx(model.total)


def test_cells_with_negative_counts_go_to_zero_and_no_potential_runs_away():
    """Over many warm fits, as in AIM, with counts that stay negative and measurements that contradict each other."""
    rng = np.random.default_rng(2)
    cliques = [("a",), ("b",), ("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c")]
    given = [Measurement(c, rng.normal(0, 20, DOMAIN.shape(c)) + 200 * (rng.random() < 0.5), 1.0) for c in cliques]
    model = estimate(DOMAIN, given, total=1000.0)
    for _ in range(40):
        model = estimate(DOMAIN, given, total=1000.0, warm_start=model)
        assert np.isfinite(model.marginal(DOMAIN.attributes)).all()
        assert all(np.abs(table).max() <= -2 * FLOOR for table in model.potentials.values())
    assert model.loss == pytest.approx(estimate(DOMAIN, given, total=1000.0).loss, rel=0.05)


def test_a_warm_start_saves_passes_and_keeps_the_fit():
    cold = estimate(DOMAIN, measurements(sigma=1.0))
    warm = estimate(DOMAIN, measurements(sigma=1.0), warm_start=cold)
    assert warm.passes < cold.passes
    assert warm.loss <= cold.loss * (1 + 1e-9)


def test_a_warm_start_from_another_domain_is_refused():
    other = estimate(Domain(("a",), (3,)), [], total=1.0)
    with pytest.raises(ConfigError, match="another domain"):
        estimate(DOMAIN, measurements(), warm_start=other)


def test_structure_asks_for_cliques_without_measuring_them():
    model = estimate(DOMAIN, measurements(), structure=[("a", "d", "c")])
    assert any({"a", "c", "d"} <= set(clique) for clique in model.cliques)
    np.testing.assert_allclose(
        model.marginal(DOMAIN.attributes),
        estimate(DOMAIN, measurements()).marginal(DOMAIN.attributes),
        rtol=0.2,
        atol=0.5,
    )


def test_a_model_over_the_limit_is_refused_with_the_figure():
    with pytest.raises(ConfigError, match=r"needs 25 cells.* limit of 24"):
        estimate(DOMAIN, measurements(), options=SolverOptions(max_cells=24))


@pytest.mark.parametrize(
    "wrong",
    [{"max_passes": 0}, {"max_cells": True}, {"tolerance": 0.0}, {"improvement": float("nan")}, {"backend": "gpu"}],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ConfigError):
        SolverOptions(**wrong)


def test_zeros_are_exactly_zero_in_every_marginal():
    zeros = {("b", "a"): np.arange(12).reshape(4, 3) % 5 == 0}
    model = estimate(DOMAIN, measurements(), zeros=zeros)
    assert (model.marginal(("b", "a"))[zeros["b", "a"]] == 0).all()
    assert (model.marginal(("b", "a"))[~zeros["b", "a"]] > 0).all()
    assert (np.moveaxis(model.marginal(("d", "b", "a")), 0, -1)[zeros["b", "a"]] == 0).all()


def test_noise_on_impossible_cells_does_not_count_into_the_total():
    zeros = {("a",): np.array([False, True, False])}
    assert estimate(DOMAIN, [Measurement(("a",), np.array([10.0, 5000.0, 20.0]), 1.0)], zeros=zeros).total == 30.0


@pytest.mark.parametrize(
    "zeros",
    [
        {("a",): np.zeros(4, dtype=bool)},
        {("a",): np.zeros(3)},
        {("a", "a"): np.zeros((3, 3), dtype=bool)},
        {(): np.zeros((), dtype=bool)},
    ],
)
def test_wrong_zeros_are_refused(zeros):
    with pytest.raises(ConfigError, match="zeros"):
        estimate(DOMAIN, measurements(), zeros=zeros)


def test_contradicting_zeros_are_refused():
    zeros = {("a",): np.array([True, True, False]), ("a", "b"): np.array([[False] * 4] * 2 + [[True] * 4])}
    with pytest.raises(ConfigError, match="no possible row"):
        estimate(DOMAIN, measurements(), zeros=zeros)


def test_when_the_dual_fails_mirror_descent_lowers_the_loss(monkeypatch):
    monkeypatch.setattr(solving, "minimise_dual", lambda counter, start, weight, tolerance: (start, False))
    uniform = estimate(DOMAIN, [], total=300.0)
    start = sum(0.5 * np.square((uniform.marginal(m.clique) - m.values) / m.sigma).sum() for m in measurements())
    model = estimate(DOMAIN, measurements(), total=300.0)
    monkeypatch.undo()
    best = estimate(DOMAIN, measurements(), total=300.0, options=SolverOptions(tolerance=0.01, improvement=1e-3))
    assert not model.converged
    assert model.loss < start / 2
    assert model.loss == pytest.approx(best.loss, rel=0.02)


def test_the_normal_form_keeps_the_distribution():
    axes = axes_of(DOMAIN)
    masks = [axes.mask(c) for c in (("a",), ("a", "b"), ("b", "c"), ("b", "d"), ("a", "b", "c"))]
    shape = build(axes, masks, {}, (), max_cells=10**6)
    theta = np.random.default_rng(3).normal(0, 10, sum(axes.cells(mask) for mask in masks))
    before = shape.engine.run(theta)
    assert before is not None
    settled = Gauge(axes, shape.measured, None).settle(theta, before[1])
    after = shape.engine.run(settled)
    assert after is not None
    np.testing.assert_allclose(after[0], before[0], rtol=1e-9)
    np.testing.assert_allclose(after[1], before[1], rtol=1e-9, atol=1e-12)
    assert np.abs(settled - theta).max() > 1


def test_the_normal_form_keeps_a_distribution_whose_largest_potentials_lie_where_nothing_is():
    axes = axes_of(Domain(tuple("abcd"), (2, 2, 2, 2)))
    tables = {
        ("a",): [0.0, -70.0],
        ("b",): [0.0, 1.0],
        ("a", "b"): [[0.0, 0.0], [150.0, 0.0]],  # largest at a = 1, which the others forbid
        ("a", "c"): [[0.0, 1.0], [-80.0, -79.0]],
        ("a", "d"): [[0.5, 0.0], [-79.5, -80.0]],
    }
    shape = build(axes, [axes.mask(clique) for clique in tables], {}, (), max_cells=10**6)
    by_mask = {axes.mask(clique): axes.inward(np.array(values), clique).ravel() for clique, values in tables.items()}
    theta = np.concatenate([by_mask[mask] for mask in shape.measured])
    before = shape.engine.run(theta)
    settled = Gauge(axes, shape.measured, None).settle(theta, before[1])
    after = shape.engine.run(settled)
    np.testing.assert_allclose(after[1], before[1], atol=1e-12)
    assert settled.max() < 10


def test_a_normal_form_that_is_another_distribution_is_not_taken(monkeypatch):
    fitted = estimate(DOMAIN, measurements(), total=300.0)
    monkeypatch.setattr(Gauge, "settle", lambda _, theta, __: np.roll(theta, 1))
    other = estimate(DOMAIN, measurements(), total=300.0)
    assert other.converged
    assert other.loss == pytest.approx(fitted.loss, rel=0.03)


def test_models_do_not_hold_what_was_given():
    values = np.full(3, 10.0)
    given = Measurement(("a",), values, 1.0)
    model = estimate(DOMAIN, [given])
    before = model.marginal(("a",)).copy()
    values[:] = 0
    np.testing.assert_array_equal(model.marginal(("a",)), before)
    assert isinstance(model, Model)
