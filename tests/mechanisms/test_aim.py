import os
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

from accounting.budget import Cap, Law, Rho, cap
from accounting.events import price
from accounting.queries import Errors, Marginals, Select, question_event
from accounting.unit import RowUnit
from mechanisms.pgm import model_size_mb
from mechanisms.registry import config_from_table
from tests.mechanisms.fakes import NumpyTable, categorical, integer, schema_of

adaptive = pytest.mark.parametrize("kind", ["aim", "aim-gdp"])


def run(kind, schema, ticks, rho, *, seed=0, law=Law.ZCDP, **options):
    amount = cap(law, Fraction(rho))
    mechanism = config_from_table(kind, options).calibrate(amount, RowUnit(), schema)
    table = NumpyTable(schema, ticks, amount, seed=seed)
    return mechanism.run(table, np.random.default_rng(seed)), table


def table_of(result, *names):
    """The synthetic contingency table of small categorical columns, as shares."""
    sizes = [result.synthetic.schema.column(name).ticks for name in names]
    index = np.ravel_multi_index([result.synthetic.ticks[name] for name in names], sizes)
    return np.bincount(index, minlength=int(np.prod(sizes))).reshape(sizes) / result.synthetic.rows


def tvd(result, ticks, *names):
    sizes = [result.synthetic.schema.column(name).ticks for name in names]
    real = np.bincount(np.ravel_multi_index([ticks[name] for name in names], sizes), minlength=int(np.prod(sizes)))
    return float(np.abs(real.reshape(sizes) / real.sum() - table_of(result, *names)).sum() / 2)


def correlated(rows: int = 4000, seed: int = 1):
    """Two numeric columns and two categorical ones, all moved by one hidden class."""
    schema = schema_of(categorical("a", 4), categorical("b", 4), integer("x", 0, 99), integer("y", 0, 199))
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, rows)
    ticks = {
        "a": hidden,
        "b": np.where(rng.random(rows) < 0.9, hidden, rng.integers(0, 4, rows)),
        "x": np.clip(25 * hidden + rng.integers(0, 25, rows), 0, 99),
        "y": np.clip(50 * hidden + rng.integers(0, 50, rows), 0, 199),
    }
    return schema, ticks


@pytest.mark.parametrize("kind", ["aim", "aim-gdp", "mst"])
def test_dpsynth_3a60972_numeric_columns_do_not_collapse_to_independent(kind):
    schema, ticks = correlated()
    result, _ = run(kind, schema, ticks, "1/2")
    independent, _ = run("independent", schema, ticks, "1/2")
    assert tvd(result, ticks, "a", "b") < 0.1 * tvd(independent, ticks, "a", "b")
    for name, width in (("x", 25), ("y", 50)):
        same, mixed = (
            np.mean(release.synthetic.ticks[name] // width == release.synthetic.ticks["a"])
            for release in (result, independent)
        )
        assert same > 0.85
        assert mixed < 0.3
    correlation = np.corrcoef(result.synthetic.ticks["x"], result.synthetic.ticks["y"])[0, 1]
    assert correlation > 0.9
    assert abs(result.notes["noisy_total"] - 4000) < 40


@adaptive
def test_xor_of_two_columns_is_kept(kind):
    """No pair of the three columns is related; only the 3-way marginal shows it."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 5000), rng.integers(0, 2, 5000)
    schema = schema_of(categorical("a", 2), categorical("b", 2), categorical("c", 2), categorical("d", 3))
    ticks = {"a": a, "b": b, "c": a ^ b, "d": rng.integers(0, 3, 5000)}
    result, _ = run(kind, schema, ticks, "1/10")
    found = table_of(result, "a", "b", "c")
    assert sum(found[i, j, i ^ j] for i in (0, 1) for j in (0, 1)) > 0.97


def test_mst_keeps_the_pairs_of_its_tree():
    schema, ticks = correlated()
    result, table = run("mst", schema, ticks, "1/2")
    assert len(result.notes["tree"]) == 3
    widths = {"a": 1, "b": 1, "x": 25, "y": 50}
    for first, second in result.notes["tree"]:
        private, made = (
            np.mean(rows[first] // widths[first] == rows[second] // widths[second])
            for rows in (ticks, result.synthetic.ticks)
        )
        assert private > 0.85
        assert made == pytest.approx(private, abs=0.08)
    assert [asked.question for asked in result.transcript[1:4]] == ["select"] * 3
    assert [len(query.cliques) for query in table.asked if isinstance(query, Marginals)] == [4, 3]


@adaptive
@pytest.mark.parametrize("rounds", [1, 2, 9, 10, 11])
def test_p05_rounds_at_and_below_the_number_of_columns_never_overspend(kind, rounds):
    schema = schema_of(*(categorical(f"c{index}", 2) for index in range(10)))
    rng = np.random.default_rng(0)
    ticks = {column.name: rng.integers(0, 2, 200) for column in schema.columns}
    for law in Law:
        result, table = run(kind, schema, ticks, "1/3", law=law, max_rounds=rounds)
        spent = sum(price(question_event(query, table.unit), law) for query in table.asked)
        assert Fraction(1, 3) * (1 - Fraction(1, 2**30)) < spent <= Fraction(1, 3)
        assert 1 <= len(result.notes["rounds"]) <= rounds


@adaptive
def test_dpsynth_5707751_one_way_marginals_are_measured_once_at_the_start(kind):
    schema, ticks = correlated()
    _, table = run(kind, schema, ticks, "1/2", max_rounds=8)
    first, *later = table.asked
    assert isinstance(first, Marginals)
    assert first.cliques == (("a",), ("b",), ("x",), ("y",))
    assert all(len(query.cliques) == 1 for query in later if isinstance(query, Marginals))


@adaptive
def test_smartnoise_aim_py_tables_with_nothing_to_select(kind):
    for schema in (
        schema_of(categorical("x", 101), categorical("y", 101)),
        schema_of(categorical("x", 101)),
    ):
        ticks = {column.name: np.zeros(50, dtype=np.int64) for column in schema.columns}
        result, table = run(kind, schema, ticks, "2", max_marginal_cells=10_000)
        assert len(table.asked) == 1
        assert table.remaining == 0
        assert result.notes["rounds"] == []
        assert np.mean(result.synthetic.ticks["x"] == 0) > 0.8


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_d08_any_order_of_overlapping_cliques_gives_the_same_release(order):
    schema, ticks = correlated(rows=500)
    cliques = [["a", "b"], ["b", "x"], ["y", "a"]]
    expected, _ = run("aim", schema, ticks, "1/2", max_rounds=4, workload=tuple(tuple(c) for c in cliques))
    shuffled = tuple(tuple(reversed(cliques[index])) for index in order)
    result, _ = run("aim", schema, ticks, "1/2", max_rounds=4, workload=shuffled)
    assert all(np.array_equal(result.synthetic.ticks[name], expected.synthetic.ticks[name]) for name in ticks)


def test_p24_no_label_or_share_comes_from_anywhere_but_paid_answers():
    """The mechanism reads nothing of the handle but schema and ask, so label shares are paid marginals."""
    schema, ticks = correlated(rows=200)
    amount = Cap(Rho("1/2"))
    inner = NumpyTable(schema, ticks, amount)

    class Watched:
        def __getattribute__(self, name):
            assert name in {"schema", "ask"}, name
            return getattr(inner, name)

    for kind in ("independent", "aim", "mst"):
        inner.remaining = amount.value
        config_from_table(kind, {}).calibrate(amount, RowUnit(), schema).run(Watched(), np.random.default_rng(0))


@adaptive
def test_a_round_that_teaches_nothing_makes_the_next_ones_spend_four_times_more(kind):
    rng = np.random.default_rng(0)
    schema = schema_of(categorical("a", 6), categorical("b", 6), categorical("c", 6))
    ticks = {name: rng.integers(0, 6, 3000) for name in "abc"}
    result, _ = run(kind, schema, ticks, "1/2", max_rounds=60)
    rounds = result.notes["rounds"]
    assert not rounds[0]["learnt"]
    for now, after in pairwise(rounds[:-1]):
        assert after["sigma"] == pytest.approx(now["sigma"] / (1 if now["learnt"] else 2), rel=1e-6)
    assert len(rounds) < 10


def test_annealing_doubles_epsilon_and_halves_sigma():
    rng = np.random.default_rng(0)
    schema = schema_of(categorical("a", 6), categorical("b", 6), categorical("c", 6))
    ticks = {name: rng.integers(0, 6, 3000) for name in "abc"}
    _, table = run("aim", schema, ticks, "1/2", max_rounds=60)
    selections = [query for query in table.asked if isinstance(query, Select)]
    assert float(selections[1].epsilon / selections[0].epsilon) == pytest.approx(2, rel=1e-9)


@adaptive
@pytest.mark.parametrize("megabytes", ["0.0002", "0.001"])
def test_the_model_stays_within_its_memory(kind, megabytes):
    schema, ticks = correlated(rows=2000)
    result, _ = run(kind, schema, ticks, "5", max_model_size_mb=megabytes, max_rounds=12, bins=4)
    one_ways = model_size_mb(result.model.domain, [(name,) for name in ticks])
    assert result.notes["model_size_mb"] <= max(float(megabytes), one_ways)


def test_the_size_limit_grows_with_the_share_of_the_budget_used():
    schema, ticks = correlated(rows=2000)
    _, table = run("aim", schema, ticks, "5", max_model_size_mb="0.002", max_rounds=12)
    offered = [set(query.candidates) for query in table.asked if isinstance(query, Select)]
    assert len(offered[0]) < len(offered[-1])


def test_aim_gdp_asks_about_all_candidates_once_and_then_about_the_most_promising():
    schema, ticks = correlated(rows=2000)
    _, table = run("aim-gdp", schema, ticks, "1/2", max_rounds=6, max_candidates=3)
    asked = [len(query.candidates) for query in table.asked if isinstance(query, Errors)]
    assert asked[0] == 14
    assert set(asked[1:]) == {3}


DATA = Path(os.environ.get("DPRELEASE_DATA", "../shared/data"))


@pytest.mark.skipif(not (DATA / "adult.csv").exists(), reason="adult.csv is not in DPRELEASE_DATA")
def test_adult_marital_status_by_income_at_epsilon_one():
    import pandas as pd

    names = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "hours-per-week", "Salary"]
    frame = pd.read_csv(DATA / "adult.csv", skipinitialspace=True)
    frame.columns = frame.columns.str.strip()
    private = frame[names].sample(20_000, random_state=42)
    columns, ticks = [], {}
    for name in names:
        if name in {"age", "hours-per-week"}:
            low, high = (17, 90) if name == "age" else (1, 99)
            columns.append(integer(name, low, high))
            ticks[name] = private[name].to_numpy() - low
        else:
            codes = pd.Categorical(private[name], sorted(frame[name].unique()))
            columns.append(categorical(name, len(codes.categories)))
            ticks[name] = codes.codes.astype(np.int64)
    schema = schema_of(*columns)
    rho_of_epsilon_one = "61/2000"  # at δ = 1e-5, rounded down
    distances = [
        tvd(run("aim", schema, ticks, rho_of_epsilon_one, seed=seed)[0], ticks, "marital-status", "Salary")
        for seed in range(3)
    ]
    assert np.mean(distances) < 0.02
