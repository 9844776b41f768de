from fractions import Fraction

import numpy as np
import pytest

from accounting.budget import Cap, Rho
from accounting.unit import RowUnit
from mechanisms import fitting
from mechanisms.asking import Asker
from mechanisms.base import Plan, PlannedQuestions
from mechanisms.noisy import NoisyTable
from mechanisms.opening import measure_one_ways
from mechanisms.pgm import SolverOptions, estimate
from tests.mechanisms.fakes import NumpyTable, categorical, schema_of

CAP = Cap(Rho(1))
SCHEMA = schema_of(categorical("a", 4), categorical("b", 5), categorical("c", 3))


def opening(schema=SCHEMA, ticks=None, cap=CAP):
    rng = np.random.default_rng(0)
    if ticks is None:
        ticks = {column.name: rng.integers(0, column.ticks, 900) for column in schema.columns}
    plan = Plan(cap.law, (PlannedQuestions("marginals", "", 1, cap.value),), cap.value)
    asker = Asker(NumpyTable(schema, ticks, cap), schema, RowUnit(), cap, plan)
    return measure_one_ways(asker, schema, cap.value, 16)


def diagonal() -> NoisyTable:
    values = np.zeros((4, 5), dtype=np.int64)
    values[range(4), range(4)] = 225
    return NoisyTable.measured(("a", "b"), values, Fraction(1))


def test_moving_is_measured_on_the_measured_clique():
    state = fitting.Fitting(opening())
    assert state.add((diagonal(),)) > 900
    assert state.add((diagonal(),)) < 90
    assert state.cliques == (("a",), ("b",), ("c",), ("a", "b"), ("a", "b"))


def test_a_fit_that_stopped_short_is_continued(monkeypatch):
    """An under-converged model seems not to have moved, and annealing would burn the rounds."""
    calls = []

    def short(*arguments, **keywords):
        model = estimate(*arguments, **keywords, options=SolverOptions(max_passes=2))
        calls.append(model.converged)
        return model

    state = fitting.Fitting(opening())
    monkeypatch.setattr(fitting, "estimate", short)
    state.add((diagonal(),))
    assert calls[0] is False
    assert len(calls) == 1 + fitting.MORE_FITS
    monkeypatch.setattr(fitting, "estimate", estimate)
    assert state.add((diagonal(),)) >= 0


def test_the_total_uses_everything_measured():
    state = fitting.Fitting(opening())
    before = state.total
    state.add((diagonal(),))
    assert state.total.variance < before.variance
    assert state.total.value == pytest.approx(900, abs=30)


def test_the_noise_of_very_many_merged_categories_does_not_drown_the_frequent_ones():
    """The sum of 20,000 noisy cells is off by thousands; what the total and the other cells say is kept."""
    schema = schema_of(categorical("job", 20_000), categorical("a", 4))
    rng = np.random.default_rng(2)
    jobs = np.where(rng.random(6000) < 0.8, rng.integers(0, 3, 6000), rng.integers(3, 20_000, 6000))
    cap = Cap(Rho("1/500"))
    opened = opening(schema, {"job": jobs, "a": rng.integers(0, 4, 6000)}, cap)
    state = fitting.Fitting(opened)
    sigma = opened.tables[1].sigma
    bins = opened.hybrid.coding.bins["job"]
    assert abs(opened.tables[0].values.sum() - 6000) > 20 * sigma
    made = state.model.marginal(("job",))
    for job in range(3):
        assert made[bins[job]] == pytest.approx((jobs == job).sum(), abs=6 * sigma)
