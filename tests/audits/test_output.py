"""The output audit's document: column by column, pair by pair, group by group, with intervals, and round trips."""

import json
import math

import numpy as np
import pytest

from accounting.schema import Schema
from audits.output import Tables, audit_tables
from audits.output_document import OutputAudit
from audits.results import Figure, NotComputable
from audits.utility.columns import MOST_BARS, bars, column_figures, group_figures, pair_figures
from audits.utility.intervals import groups_of, jackknife
from audits.utility.marginals import Compared, correlations, variation

SCHEMA = Schema(
    table={"name": "t"},
    columns=[
        {"name": "a", "kind": "categorical", "categories": ["x", "y"], "nullable": True},
        {"name": "n", "kind": "integer", "min": 0, "max": 99, "nullable": True},
        {"name": "m", "kind": "integer", "min": 0, "max": 9, "nullable": False, "replacement": 0},
    ],
)


def table(rows, seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(-1, 100, rows)
    return {"a": rng.integers(-1, 2, rows), "n": n, "m": np.clip(n // 10 + rng.integers(-1, 2, rows), 0, 9)}


ONE, OTHER = table(400, 1), table(300, 2)
EMPTY = table(0, 3)


def whole(private=ONE, synthetic=OTHER, held_out=None):
    tables = Tables(SCHEMA, private, synthetic, held_out)
    return audit_tables(tables, release="r1", target="a", workload=[(("a", "n"), 1)])


def numbers(value):
    """Every number of a document."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize(
    ("private", "synthetic"),
    [
        (ONE, OTHER),
        (EMPTY, OTHER),
        (ONE, EMPTY),
        ({name: values[:1] for name, values in ONE.items()}, OTHER),
        ({name: values * 0 for name, values in ONE.items()}, OTHER),
        ({**ONE, "a": np.full(400, -1), "n": np.full(400, -1)}, OTHER),
        ({"a": np.zeros(40, dtype=int), "n": np.zeros(40, dtype=int), "m": np.zeros(40, dtype=int)},
         {"a": np.ones(40, dtype=int), "n": np.full(40, 99), "m": np.full(40, 9)}),
    ],
    ids=["usual", "no private rows", "no synthetic rows", "one row", "constant", "nulls", "disjoint"],
)  # fmt: skip
def test_a_document_comes_back_as_it_was_and_holds_no_nan(private, synthetic):
    document = whole(private, synthetic, OTHER)
    text = document.model_dump_json()
    assert OutputAudit.model_validate_json(text) == document
    assert all(math.isfinite(number) for number in numbers(json.loads(text)))


def test_without_held_out_rows_it_says_so():
    document = whole()
    assert isinstance(document.attacks, NotComputable)
    assert "held-out" in str(document.utility.train_real_test_real)
    assert document.rows.model_dump() == {"private": 400, "synthetic": 300, "held_out": None}


def test_columns_and_pairs_add_up_to_the_means_of_the_whole_table():
    columns, pairs = column_figures(SCHEMA, ONE, OTHER), pair_figures(SCHEMA, ONE, OTHER)
    for figures, ways in ((columns, 1), (pairs, 2)):
        mean = np.mean([one.variation.value for one in figures])
        assert mean == pytest.approx(variation(SCHEMA, ONE, OTHER, ways).value)
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "n"), ("a", "m"), ("n", "m")]


def test_correlations_are_numpys():
    pair = pair_figures(SCHEMA, ONE, OTHER)[2]
    kept = [side["n"] >= 0 for side in (ONE, OTHER)]
    expected = [
        np.corrcoef(side["n"][known], side["m"][known])[0, 1] for side, known in zip((ONE, OTHER), kept, strict=True)
    ]
    assert (pair.correlation_private.value, pair.correlation_synthetic.value) == pytest.approx(expected)
    assert pair.correlation_difference.value == pytest.approx(expected[1] - expected[0])
    assert isinstance(pair_figures(SCHEMA, ONE, OTHER)[0].correlation_difference, NotComputable)


def test_correlations_without_a_group_are_those_of_the_rows_that_are_left():
    group = groups_of(400, 20)
    found = correlations(ONE["n"], ONE["m"], 20)
    left = (group != 3) & (ONE["n"] >= 0)
    assert found[4] == pytest.approx(np.corrcoef(ONE["n"][left], ONE["m"][left])[0, 1])


def test_distances_without_a_group_are_those_of_the_rows_that_are_left():
    compared = Compared(SCHEMA, ONE, OTHER)
    sides = [
        {name: values[groups_of(values.size, compared.groups) != 7] for name, values in side.items()}
        for side in (ONE, OTHER)
    ]
    expected = Compared(SCHEMA, *sides).distances(("a", "n"))[0]
    assert compared.distances(("a", "n"))[8] == pytest.approx(expected)


def test_a_jackknife_of_a_mean_is_the_usual_interval():
    values = np.random.default_rng(1).normal(size=200)
    without = np.array([np.delete(values, place).mean() for place in range(200)])
    figure = jackknife(values.mean(), without, low=-math.inf)
    assert figure.high - figure.value == pytest.approx(1.959964 * values.std(ddof=1) / 200**0.5)
    assert jackknife(0.5, np.empty(0)) == Figure(0.5)
    assert jackknife(0.0, np.array([0.0, 0.1])).low == 0.0


@pytest.mark.slow
def test_an_interval_of_a_variation_covers_the_populations_value():
    rng = np.random.default_rng(5)
    laws = (np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.4]))
    true = np.abs(laws[0] - laws[1]).sum() / 2
    schema = Schema(table={"name": "t"}, columns=[dict(SCHEMA.to_json()["columns"][0], categories=["x", "y", "z"])])
    covered = 0
    for _ in range(400):
        sides = [{"a": rng.choice(3, 500, p=law)} for law in laws]
        figure = variation(schema, *sides, 1)
        covered += figure.low <= true <= figure.high
    assert 360 <= covered <= 395


def test_bars_share_out_every_row():
    for name in ("a", "n", "m"):
        made = bars(SCHEMA.column(name), ONE[name], OTHER[name])
        assert sum(bar.private for bar in made) == pytest.approx(1)
        assert sum(bar.synthetic for bar in made) == pytest.approx(1)
    made = bars(SCHEMA.column("n"), ONE["n"], OTHER["n"])
    assert len(made) == MOST_BARS + 1
    assert made[0].label == "0 to 4"
    assert made[0].private == pytest.approx(np.mean((ONE["n"] >= 0) & (ONE["n"] <= 4)))
    assert (made[-1].null, made[-1].private) == (True, pytest.approx(np.mean(ONE["n"] < 0)))
    wide = Schema(
        table={"name": "t"},
        columns=[{"name": "c", "kind": "categorical", "categories": [f"v{i}" for i in range(40)], "nullable": False,
                  "replacement": "v0"}],
    ).column("c")  # fmt: skip
    made = bars(wide, np.arange(40).repeat(np.arange(40) + 1), np.arange(40))
    assert [bar.label for bar in made] == [*(f"v{i}" for i in range(17, 40)), "17 others"]


def test_groups_are_compared_inside_and_small_ones_are_left_out():
    groups = group_figures(SCHEMA, ONE, OTHER)
    inside = [{name: values[side["a"] == 0] for name, values in side.items()} for side in (ONE, OTHER)]
    expected = np.mean(
        [variation(SCHEMA.__class__.from_json(_only(name)), *_kept(inside, name), 1).value for name in "nm"]
    )
    assert groups[0].label == "x"
    assert groups[0].variation.value == pytest.approx(expected)
    assert groups[0].private_rows == inside[0]["a"].size
    few = {name: values[:5] for name, values in ONE.items()}
    assert all(isinstance(group.variation, NotComputable) for group in group_figures(SCHEMA, few, OTHER))


def _only(name):
    document = dict(SCHEMA.to_json())
    return {**document, "columns": [column for column in document["columns"] if column["name"] == name]}


def _kept(sides, name):
    return [{name: side[name]} for side in sides]
