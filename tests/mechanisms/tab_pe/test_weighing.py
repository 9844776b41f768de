"""Weights from noisy counts: near what was paid for as far as its noise allows, equal where nothing speaks."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from accounting.planted import exact_answer
from accounting.queries import Votes
from accounting.unit import RowUnit
from mechanisms.noisy import NoisyTable
from mechanisms.tab_pe.space import draw_uniform, embedding
from mechanisms.tab_pe.weighing import Evidence, of_table, of_votes, weigh
from tests.mechanisms.fakes import categorical, integer, schema_of

SCHEMA = schema_of(categorical("y", 2), integer("a", 0, 99), integer("b", 0, 99))


def table_of(values, variance=1):
    return NoisyTable.measured(("a",), np.asarray(values, dtype=np.int64), Fraction(variance))


def test_weights_reach_a_table_and_are_equal_without_one():
    bins = {"a": np.repeat(np.arange(4), 50)}
    weights = weigh(200, 1000.0, [of_table(table_of([400, 300, 200, 100]), bins)])
    assert np.bincount(bins["a"], weights=weights) == pytest.approx([400, 300, 200, 100], rel=0.005)
    assert np.all(weigh(200, 1000.0, []) == 5)
    assert weigh(0, 1000.0, []).size == 0


def test_pure_noise_moves_nothing():
    rng = np.random.default_rng(0)
    bins = {"a": rng.integers(0, 50, 1000)}
    noise = table_of(np.rint(rng.normal(20, 300, 50)), 300**2)
    assert np.abs(weigh(1000, 1000.0, [of_table(noise, bins)]) - 1).max() < 0.25


def test_negative_counts_and_counts_that_no_candidate_has_are_finite():
    bins = {"a": np.zeros(10, dtype=np.int64)}
    weights = weigh(10, 100.0, [of_table(table_of([-(10**6), 10**6]), bins)])
    assert np.all(np.isfinite(weights))
    assert np.all(weights >= 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_minimises_what_is_declared(seed):
    """The dual's solution against a general minimiser of the declared loss over the logarithms of the weights."""
    rng = np.random.default_rng(seed)
    size, total = 12, 60.0
    evidence = [
        Evidence(rng.integers(-1, 5, (size, 2)), rng.normal(12, 6, 5), np.full(5, 4.0)),
        Evidence(rng.integers(0, 3, (size, 1)), rng.normal(20, 9, 3), np.array([1.0, 9.0, 25.0])),
    ]

    def loss(logs):
        weights = np.exp(logs)
        prior = (weights * np.log(weights / (total / size)) - weights + total / size).sum()
        misses = 0.0
        for item in evidence:
            counts = np.zeros(item.values.size)
            for row, weight in zip(item.places, weights, strict=True):
                for place in row[row >= 0]:
                    counts[place] += weight
            misses += ((counts - item.values) ** 2 / (2 * item.variance)).sum()
        return misses + prior

    fitted = weigh(size, total, evidence)
    best = minimize(loss, np.log(np.full(size, total / size)), method="L-BFGS-B", options={"maxfun": 10**5})
    assert loss(np.log(fitted)) <= best.fun * (1 + 1e-4) + 1e-4


@pytest.mark.parametrize("within", [None, "y"])
def test_candidates_vote_as_private_rows_do(within):
    """The counts that equal weights add to are the curator's exact votes of the same rows."""
    rng = np.random.default_rng(1)
    placed = embedding(SCHEMA, within, Fraction(1))
    query = Votes(draw_uniform(SCHEMA, 30, rng), placed, 3, within, Fraction(1))
    rows = draw_uniform(SCHEMA, 200, rng)
    ticks = {column.name: rows[:, place].astype(np.int64) for place, column in enumerate(SCHEMA.columns)}
    evidence = of_votes(query, np.zeros(30, dtype=np.int64), rows, SCHEMA)
    counts = np.bincount(evidence.places[evidence.places >= 0], minlength=30)
    assert np.array_equal(counts, exact_answer(query, SCHEMA, ticks, RowUnit()))


def test_a_label_with_few_candidates_gives_fewer_votes():
    rng = np.random.default_rng(3)
    candidates = draw_uniform(SCHEMA, 20, rng)
    candidates[:, 0] = 0
    candidates[0, 0] = 1
    query = Votes(candidates, embedding(SCHEMA, "y", Fraction(1)), 3, "y", Fraction(1))
    rows = draw_uniform(SCHEMA, 50, rng)
    rows[:, 0] = 1
    places = of_votes(query, np.zeros(20, dtype=np.int64), rows, SCHEMA).places
    assert np.array_equal(places, np.tile([0, -1, -1], (50, 1)))


def test_what_all_rounds_say_together_counts():
    """Two hundred rounds whose noise each hides the difference."""
    rng = np.random.default_rng(4)
    places = np.arange(40)[:, None]
    truth = np.repeat([5.0, 15.0], 20)
    rounds = [Evidence(places, truth + rng.normal(0, 50, 40), np.full(40, 0.2 * 50.0**2)) for _ in range(200)]
    one, all_of_them = (weigh(40, 400.0, some) for some in (rounds[:1], rounds))
    assert abs(one[20:].mean() - one[:20].mean()) < 3
    assert all_of_them[:20].mean() == pytest.approx(5, abs=2)
    assert all_of_them[20:].mean() == pytest.approx(15, abs=2)
