from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.budget import Cap, Rho
from accounting.queries import MAX_GRID, Select
from accounting.unit import RowUnit
from mechanisms.asking import Asker
from mechanisms.base import Plan, PlannedQuestions
from mechanisms.fitting import Fitting
from mechanisms.opening import measure_one_ways
from mechanisms.selection import EXPECTED_NOISE, Pool, fine_grid, on_grid, select_worst
from tests.mechanisms.fakes import NumpyTable, categorical, schema_of

CAP = Cap(Rho(100))


@given(st.integers(1, 10**6), st.floats(1e-3, 1e6), st.floats(1, 1e9), st.integers(1, 4096))
def test_the_grid_is_a_power_of_two_and_no_score_leaves_64_bits(cells, noise, total, weight):
    grid = fine_grid(cells, noise, total, weight)
    assert 1 <= grid <= MAX_GRID
    assert grid & (grid - 1) == 0
    assert 2 * total * grid * weight < 2**63


@given(st.integers(1, 10**4), st.floats(1.0, 1e6), st.floats(1, 1e7))
def test_rounding_the_estimates_stays_far_below_the_noise(cells, noise, total):
    grid = fine_grid(cells, noise, total, 4096)
    assert cells / (2 * grid) <= noise / 16


def test_estimates_are_rounded_to_the_nearest_grid_unit():
    (table,) = on_grid([np.array([0.0, 0.49, 3.3])], 4)
    assert table.dtype == np.int64
    assert table.tolist() == [0, 2, 13]


def opened(schema, ticks):
    plan = Plan(CAP.law, tuple(PlannedQuestions(kind, "", 9, CAP.value) for kind in ("marginals", "select")), CAP.value)
    table = NumpyTable(schema, ticks, CAP)
    asker = Asker(table, schema, RowUnit(), CAP, plan)
    return table, asker, Fitting(measure_one_ways(asker, schema, Fraction(50), 16))


def test_p33_the_mechanism_draws_no_selection_itself():
    """Everything that enters the softmax is whole numbers; the draw is the curator's."""
    schema = schema_of(categorical("a", 2), categorical("b", 2), categorical("c", 2))
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 1000)
    table, asker, fitting = opened(schema, {"a": a, "b": a, "c": rng.integers(0, 2, 1000)})
    pool = Pool((("a", "b"), ("a", "c"), ("b", "c")), (1, 1, 1), (4, 4, 4))
    index = select_worst(asker, pool, fitting, epsilon=Fraction(2), sigma=3.0, max_rows=1)
    assert pool.cliques[index] == ("a", "b")
    query = table.asked[-1]
    assert isinstance(query, Select)
    assert all(estimate.dtype == np.int64 for estimate in query.estimates)
    assert all(type(penalty) is int for penalty in query.penalties)
    assert query.penalties[0] == pytest.approx(EXPECTED_NOISE * 3.0 * 4 * query.grid, abs=0.5)
    assert query.estimates[0].sum() == pytest.approx(query.grid * fitting.model.total, abs=2)
