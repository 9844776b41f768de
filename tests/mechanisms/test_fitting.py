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


def opening():
    rng = np.random.default_rng(0)
    table = NumpyTable(
        SCHEMA, {name: rng.integers(0, size, 900) for name, size in zip("abc", (4, 5, 3), strict=True)}, CAP
    )
    plan = Plan(CAP.law, (PlannedQuestions("marginals", "", 1, CAP.value),), CAP.value)
    return measure_one_ways(Asker(table, SCHEMA, RowUnit(), CAP, plan), SCHEMA, CAP.value, 16)


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
