"""Metrics against oracles and closed forms, and on empty, constant, null, one-row and disjoint tables."""

import math

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from accounting.schema import Schema
from audits.results import Figure, NotComputable
from audits.statistics import wilson
from audits.utility import learning
from audits.utility.learning import propensity, train_and_test
from audits.utility.marginals import (
    correlation_error,
    score_of,
    subsample_yardstick,
    variation,
    workload_error,
)
from audits.utility.wasserstein import euclidean_wasserstein, line_distance

RNG = np.random.default_rng


def schema_of(**columns):
    return Schema(table={"name": "t"}, columns=[{"name": name, "nullable": True, **c} for name, c in columns.items()])


def integer(low=0, high=9):
    return {"kind": "integer", "min": low, "max": high}


CATEGORY = {"kind": "categorical", "categories": ["x", "y", "z"]}
SCHEMA = schema_of(a=CATEGORY, n=integer(), m=integer())


def table(*rows):
    return {name: np.array([row[i] for row in rows], dtype=np.int64) for i, name in enumerate(("a", "n", "m"))}


def random_table(rows, seed, shift=0):
    rng = RNG(seed)
    return {"a": rng.integers(-1, 3, rows), "n": rng.integers(-1, 8, rows) + shift, "m": rng.integers(0, 10, rows)}


def test_variation_counts_by_hand():
    one, other = table((0, 1, 1), (0, 1, 1), (1, 2, 2), (2, 3, 3)), table((0, 1, 1), (1, 2, 2), (1, 2, 2), (1, 2, 2))
    # per column: shares (1/2, 1/4, 1/4) against (1/4, 3/4, 0): half of 1/4 + 1/2 + 1/4
    assert variation(SCHEMA, one, other, 1).value == 0.5
    assert variation(SCHEMA, one, other, 3).value == 0.5
    assert score_of(variation(SCHEMA, one, other, 2)).value == 500.0
    assert workload_error(SCHEMA, one, other, [(("a",), 1), (("a", "n"), 3)]).value == 1.0


def test_equal_tables_are_0_apart_and_disjoint_ones_1():
    one = random_table(50, 1)
    for ways in (1, 2, 3):
        assert variation(SCHEMA, one, one, ways).value == 0.0
    assert variation(SCHEMA, table((0, 1, 1)), table((1, 2, 2)), 1).value == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_a_line_distance_is_scipys(seed):
    rng = RNG(seed)
    one, other = rng.random(int(rng.integers(1, 40))), rng.random(int(rng.integers(1, 40)))
    assert math.isclose(line_distance(one, other), wasserstein_distance(one, other), rel_tol=1e-9, abs_tol=1e-12)


def assignment(one, other):
    """The transport of equally many rows is an assignment."""
    from scipy.optimize import linear_sum_assignment

    cost = np.sqrt(((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2))
    return cost[linear_sum_assignment(cost)].mean()


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_the_papers_distance_is_that_of_an_optimal_assignment(ways):
    from itertools import combinations

    one, other = (
        {"a": RNG(s).integers(0, 3, 60), "n": RNG(s + 9).integers(0, 10, 60), "m": RNG(s + 5).integers(0, 10, 60)}
        for s in (1, 2)
    )
    scaled = [np.stack([t["a"] / 2, t["n"] / 9, t["m"] / 9], axis=1) for t in (one, other)]
    groups = list(combinations(range(3), ways))
    expected = np.mean([assignment(*(points[:, list(group)] for points in scaled)) for group in groups])
    assert euclidean_wasserstein(SCHEMA, one, other, ways, RNG(0)).value == pytest.approx(expected)
    assert euclidean_wasserstein(SCHEMA, one, one, ways, RNG(0)).value == pytest.approx(0, abs=1e-7)
    first = assignment(*(points[:, list(groups[0])] for points in scaled))
    assert euclidean_wasserstein(SCHEMA, one, other, ways, RNG(0), most=1).value == pytest.approx(first)


def test_the_papers_distance_leaves_nulls_out_and_samples_by_its_seed():
    one, other = table((0, 2, 2), (-1, 9, 9)), table((0, 4, -1), (0, 4, 6))
    # a: 0; n: 2 or 9 against 4; m: 2 or 9 against 6
    expected = np.mean([0, (2 + 5) / 2 / 9, (4 + 3) / 2 / 9])
    assert euclidean_wasserstein(SCHEMA, one, other, 1, RNG(0)).value == pytest.approx(expected)
    big = [random_table(400, seed) for seed in (1, 2)]
    drawn = [euclidean_wasserstein(SCHEMA, *big, 2, RNG(seed), sample=50).value for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


def whole_distance(one, other):
    """The mean transport over the pairs of columns of whole tables without nulls, by the shares of their cells."""
    import ot

    found = []
    for pair in (("a", "n"), ("a", "m"), ("n", "m")):
        cells, shares = [], []
        for rows in (one, other):
            points, counts = np.unique(np.stack([rows[name] for name in pair], axis=1), axis=0, return_counts=True)
            cells.append(points / [2 if name == "a" else 9 for name in pair])
            shares.append(counts / counts.sum())
        found.append(ot.emd2(*shares, ot.dist(*cells, metric="euclidean")))
    return np.mean(found)


@pytest.mark.parametrize("shift", [0, 1, 4])
def test_the_interval_of_a_sampled_distance_holds_the_whole_tables(shift):
    rng = RNG(7)
    one, other = (
        {"a": rng.integers(0, 3, 4000), "n": rng.integers(0, 5, 4000) + by, "m": rng.integers(0, 10, 4000)}
        for by in (0, shift)
    )
    truth = whole_distance(one, other)
    found = [euclidean_wasserstein(SCHEMA, one, other, 2, RNG(seed), sample=200) for seed in range(20)]
    assert sum(result.low <= truth <= result.high for result in found) >= 17  # 19 expected at least
    assert all((result.low > 0) == (shift == 4) for result in found)
    assert max(result.high - result.low for result in found) < 0.3
    exact = euclidean_wasserstein(SCHEMA, one, other, 2, RNG(0), sample=4000)
    assert exact.value == pytest.approx(truth)
    assert exact.low is exact.high is None


def test_a_subsample_is_recognised():
    real = random_table(2000, 1)
    kept = RNG(9).choice(2000, 400, replace=False)
    score = score_of(variation(SCHEMA, real, {name: values[kept] for name, values in real.items()}, 2)).value
    share = subsample_yardstick(SCHEMA, real, score, 2, RNG(1))
    assert 0.05 <= share.value <= 0.3


def test_correlations():
    x = np.arange(10)
    same, turned = {"a": x * 0, "n": x, "m": x}, {"a": x * 0, "n": x, "m": 9 - x}
    assert correlation_error(SCHEMA, same, turned).value == pytest.approx(2)
    assert isinstance(correlation_error(SCHEMA, same, {**same, "m": x * 0}), NotComputable)


def test_training_on_a_planted_table_with_a_known_answer():
    schema = schema_of(n=integer(), b={"kind": "boolean"})
    n = RNG(1).integers(0, 10, 400)
    real = {"n": n, "b": (n > 4).astype(np.int64)}
    turned = {"n": n, "b": (n <= 4).astype(np.int64)}
    right, wrong = (train_and_test(schema, train, real, "b") for train in (real, turned))
    assert (right.accuracy.value, right.macro_f1.value, right.auc.value) == (1.0, 1.0, 1.0)
    assert (wrong.accuracy.value, wrong.auc.value) == (0.0, 0.0)
    assert right.accuracy.low == wilson(400, 400, 0.05)[0]
    rarest = int(min(np.bincount(real["b"])))
    assert right.auc.low == wilson(rarest, rarest, 0.05)[0]


def test_xgboost_learns_the_same_answer_also_where_a_class_is_missing():
    pytest.importorskip("xgboost")
    schema = schema_of(n=integer(), a=CATEGORY)
    n = np.tile(np.arange(9), 40)
    real, gap = {"n": n, "a": n // 3}, {"n": n, "a": np.where(n < 3, 0, 2)}
    learnt = train_and_test(schema, real, real, "a", learner="xgboost")
    assert (learnt.accuracy.value, learnt.macro_f1.value, learnt.auc.value) == (1.0, 1.0, 1.0)
    for learner in ("boosting", "xgboost"):
        assert train_and_test(schema, gap, real, "a", learner=learner).accuracy.value == pytest.approx(2 / 3)


def test_one_hot_columns_learn_what_no_order_of_the_categories_shows():
    schema = schema_of(n=integer(), a=CATEGORY, b={"kind": "boolean"})
    n, a = (values.ravel() for values in np.meshgrid(np.arange(10), np.arange(3)))
    real = {"n": np.tile(n, 9), "a": np.tile(a, 9), "b": np.tile(((a == 1) | (n > 7)).astype(np.int64), 9)}
    learnt = train_and_test(schema, real, real, "b", learner="one-hot")
    assert (learnt.accuracy.value, learnt.auc.value) == (1.0, 1.0)
    turned = {**real, "b": 1 - real["b"]}
    assert train_and_test(schema, turned, real, "b", learner="one-hot").auc.value == 0.0


def test_without_xgboost_there_is_a_reason(monkeypatch):
    monkeypatch.setattr(learning, "find_spec", lambda _: None)
    assert "not installed" in str(train_and_test(SCHEMA, USUAL, USUAL, "a", learner="xgboost").accuracy)


def test_three_classes_have_an_auc():
    schema = schema_of(n=integer(), a=CATEGORY)
    n = np.tile(np.arange(9), 40)
    learnt = train_and_test(schema, {"n": n, "a": n // 3}, {"n": n, "a": n // 3}, "a")
    assert learnt.auc.value == 1.0


def test_propensity_is_small_for_equal_laws_and_a_quarter_for_disjoint_tables():
    assert propensity(SCHEMA, random_table(300, 1), random_table(300, 2)).value < 0.1
    apart = propensity(SCHEMA, table(*[(0, 1, 1)] * 100), table(*[(2, 8, 8)] * 100))
    assert apart.value == pytest.approx(0.25, abs=0.01)


EMPTY = table()
NULLS = table(*[(-1, -1, -1)] * 20)
CONSTANT = table(*[(1, 4, 4)] * 20)
ONE = table((1, 4, 4))
USUAL = random_table(60, 5)


@pytest.mark.parametrize(
    "real", [EMPTY, NULLS, CONSTANT, ONE, USUAL], ids=["empty", "nulls", "constant", "one", "usual"]
)
@pytest.mark.parametrize("other", [EMPTY, NULLS, CONSTANT, ONE], ids=["empty", "nulls", "constant", "one"])
def test_degenerate_tables_give_figures_or_reasons(real, other):
    for one, two in ((real, other), (other, real)):
        learnt = train_and_test(SCHEMA, one, two, "a")
        results = [
            *(variation(SCHEMA, one, two, ways) for ways in (1, 2, 3, 4)),
            *(euclidean_wasserstein(SCHEMA, one, two, ways, RNG(0)) for ways in (1, 2, 4)),
            score_of(variation(SCHEMA, one, two, 3)),
            correlation_error(SCHEMA, one, two),
            propensity(SCHEMA, one, two),
            learnt.accuracy,
            learnt.macro_f1,
            learnt.auc,
        ]
        for result in results:
            assert isinstance(result, NotComputable) or math.isfinite(result.value)


def test_one_column_has_nothing_to_learn_from():
    schema = schema_of(a=CATEGORY)
    rows = {"a": np.array([0, 1, 2])}
    assert "no column" in str(train_and_test(schema, rows, rows, "a").auc)
    assert isinstance(variation(schema, rows, rows, 2), NotComputable)


def test_a_figure_is_finite():
    from accounting.errors import ConfigError

    for value in (math.nan, math.inf):
        with pytest.raises(ConfigError):
            Figure(value)
