"""The bounds hold on repeated releases at least as often as they say, and they are worth reading."""

from fractions import Fraction

import numpy as np
import pytest

from accounting.budget import Law, cap
from accounting.queries import Coding, Marginals
from accounting.unit import RowUnit
from mechanisms.bounds import CONFIDENCE
from mechanisms.registry import config_from_table
from tests.mechanisms.fakes import NumpyTable, categorical, integer, schema_of

OPTIONS = {
    "independent": {},
    "mst": {"bins": 6},
    "aim": {"max_rounds": 8, "bins": 6},
    "aim-gdp": {"max_rounds": 8, "bins": 6, "max_candidates": 4},
}
SCHEMA = schema_of(categorical("a", 3), categorical("b", 4), integer("x", 0, 29), categorical("c", 2))


def ticks_of(rows: int):
    rng = np.random.default_rng(9)
    a = rng.integers(0, 3, rows)
    return {
        "a": a,
        "b": (a + rng.integers(0, 2, rows)) % 4,
        "x": np.minimum(29, 8 * a + rng.integers(0, 14, rows)),
        "c": (rng.random(rows) < 0.2 + 0.3 * a).astype(np.int64),
    }


def release(kind, seed, *, rows=None, law=Law.ZCDP, amount="1/20", size=600):
    ticks = ticks_of(size)
    mechanism = config_from_table(kind, OPTIONS[kind]).calibrate(cap(law, Fraction(amount)), RowUnit(), SCHEMA)
    table = NumpyTable(SCHEMA, ticks, cap(law, Fraction(amount)), seed=seed)
    result = mechanism.run(table, np.random.default_rng(seed), rows=rows)
    codings = [query.coding for query in table.asked if isinstance(query, Marginals)]
    coding = codings[-1] if kind != "independent" else Coding()
    return result, errors(result, ticks, coding)


def errors(result, ticks, coding):
    """The true L1 error of every bounded marginal, at the model's bins."""
    truth = NumpyTable(SCHEMA, ticks, cap(Law.ZCDP, Fraction(1)))
    made = NumpyTable(SCHEMA, result.synthetic.ticks, cap(Law.ZCDP, Fraction(1)))
    scale = result.error_bounds.scale
    return np.array(
        [
            np.abs(truth._counts(bound.columns, coding) - scale * made._counts(bound.columns, coding)).sum()
            for bound in result.error_bounds.marginals
        ]
    )


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_bounds_cover_on_repeated_releases(kind):
    runs = 40
    covered, together, ratio = [], [], []
    for seed in range(runs):
        result, true = release(kind, seed)
        alone = np.array([bound.l1 for bound in result.error_bounds.marginals])
        joint = np.array([bound.l1_simultaneous for bound in result.error_bounds.marginals])
        assert (joint >= alone).all()
        covered.append(true <= alone)
        together.append((true <= joint).all())
        ratio.append(np.median(alone / np.maximum(true, 1)))
    assert np.mean(covered, axis=0).min() >= CONFIDENCE
    assert np.mean(together) >= CONFIDENCE
    assert np.median(ratio) < 6  # far from vacuous; a better fit lowers the true error below the bound, not the bound


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_bounds_count_the_sampling_error_of_few_declared_rows(kind):
    result, true = release(kind, 1, rows=12)
    assert result.error_bounds.scale == pytest.approx(result.notes["noisy_total"] / 12)
    assert (true <= [bound.l1 for bound in result.error_bounds.marginals]).all()


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_no_bound_exceeds_what_holds_for_any_table(kind):
    result, _ = release(kind, 2, amount="1/100000")
    rows = result.synthetic.rows
    for bound in result.error_bounds.marginals:
        assert bound.l1 <= rows + max(0, result.notes["noisy_total"]) + 8 * (100_000 * 4 * 2) ** 0.5


def test_every_workload_marginal_and_its_parts_are_bounded():
    result, _ = release("aim", 0)
    assert len(result.error_bounds.marginals) == 14
    assert {len(bound.columns) for bound in result.error_bounds.marginals} == {1, 2, 3}
    assert {bound.basis for bound in result.error_bounds.marginals} >= {"measured", "offered"}


def test_records_for_the_table_of_bounds():
    result, _ = release("independent", 0)
    first = result.error_bounds.rows()[0]
    assert first["columns"] == "a"
    assert first["cells"] == 3
    assert first["basis"] == "measured"
    assert first["share"] == pytest.approx(first["l1"] / (2 * result.error_bounds.total), abs=1e-5)
