"""Metrics against oracles and closed forms, and on empty, constant, null, one-row and disjoint tables."""

import math

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from accounting.schema import Schema
from audits.results import Figure, NotComputable
from audits.utility.learning import propensity, train_and_test
from audits.utility.marginals import (
    correlation_error,
    k_marginal_score,
    subsample_yardstick,
    variation,
    workload_error,
)
from audits.utility.wasserstein import line_distance, one_way, wasserstein

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
    assert k_marginal_score(SCHEMA, one, other, 2).value == 500.0
    assert workload_error(SCHEMA, one, other, [(("a",), 1), (("a", "n"), 3)]).value == 1.0


def test_equal_tables_are_0_apart_and_disjoint_ones_1():
    one = random_table(50, 1)
    for ways in (1, 2, 3):
        assert variation(SCHEMA, one, one, ways).value == 0.0
        assert wasserstein(SCHEMA, one, one, ways, RNG(0)).value == pytest.approx(0, abs=1e-12)
    assert variation(SCHEMA, table((0, 1, 1)), table((1, 2, 2)), 1).value == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_a_line_distance_is_scipys(seed):
    rng = RNG(seed)
    one, other = rng.random(int(rng.integers(1, 40))), rng.random(int(rng.integers(1, 40)))
    assert math.isclose(line_distance(one, other), wasserstein_distance(one, other), rel_tol=1e-9, abs_tol=1e-12)


def test_one_column_in_closed_form():
    column = SCHEMA.column("n")
    assert one_way(column, np.array([0, 0]), np.array([9, 9])) == 1
    assert one_way(column, np.array([2, 4]), np.array([3, 5])) == pytest.approx(1 / 9)
    assert one_way(column, np.array([-1, 4]), np.array([4, 4])) == 0.5
    assert one_way(column, np.array([-1]), np.array([4])) == 1
    assert one_way(SCHEMA.column("a"), np.array([0, 0, 1]), np.array([2, 0, 1])) == pytest.approx(1 / 3)


def test_optimal_transport_agrees_with_one_dimension_and_with_a_closed_form():
    schema = schema_of(n=integer(), m=integer())
    one, other = ({"n": RNG(s).integers(0, 10, 40), "m": np.zeros(40, dtype=np.int64)} for s in (1, 2))
    expected = wasserstein_distance(one["n"] / 9, other["n"] / 9)
    assert wasserstein(schema, one, other, 2, RNG(0)).value == pytest.approx(expected)
    # a shift of both columns by one step moves every row by 2/9
    moved = {name: values + 1 for name, values in random_table(30, 3).items() if name != "a"}
    base = {name: values - 1 for name, values in moved.items()}
    base, moved = ({n: np.clip(v, 0, 9) for n, v in t.items()} for t in (base, moved))
    keep = (base["n"] + 1 == moved["n"]) & (base["m"] + 1 == moved["m"])
    base, moved = ({n: v[keep] for n, v in t.items()} for t in (base, moved))
    assert wasserstein(schema, base, moved, 2, RNG(0)).value == pytest.approx(2 / 9)


def test_a_subsample_is_recognised():
    real = random_table(2000, 1)
    kept = RNG(9).choice(2000, 400, replace=False)
    score = k_marginal_score(SCHEMA, real, {name: values[kept] for name, values in real.items()}, 2).value
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
    assert (right.accuracy, right.macro_f1, right.auc) == (Figure(1.0), Figure(1.0), Figure(1.0))
    assert (wrong.accuracy, wrong.auc) == (Figure(0.0), Figure(0.0))


def test_three_classes_have_an_auc():
    schema = schema_of(n=integer(), a=CATEGORY)
    n = np.tile(np.arange(9), 40)
    learnt = train_and_test(schema, {"n": n, "a": n // 3}, {"n": n, "a": n // 3}, "a")
    assert learnt.auc == Figure(1.0)


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
            *(wasserstein(SCHEMA, one, two, ways, RNG(0)) for ways in (1, 2, 4)),
            k_marginal_score(SCHEMA, one, two, 3),
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
