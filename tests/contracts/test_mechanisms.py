"""What every mechanism promises, whatever the table, the schema and the cap."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounting.budget import Cap, Law, Mu, Rho, cap
from accounting.errors import BudgetRefused, ConfigError
from accounting.events import price
from accounting.noise import SeededEntropy
from accounting.planted import planted_table
from accounting.queries import Errors, Marginals, Select, Votes, query_digest, question_event
from accounting.schema import Schema
from accounting.unit import PersonUnit, RowUnit
from mechanisms.registry import KINDS, config_from_table
from tests.mechanisms.fakes import NumpyTable, Refusing, Replay, categorical, integer, schema_of

OPTIONS = {
    "independent": {},
    "mst": {},
    "aim": {"max_rounds": 5},
    "aim-gdp": {"max_rounds": 5, "max_candidates": 4},
    "tab-pe": {"rounds": 3, "population": 40},
}
NAMES = {Marginals: "marginals", Select: "select", Errors: "errors", Votes: "votes"}
every_kind = pytest.mark.parametrize("kind", sorted(OPTIONS))
every_law = pytest.mark.parametrize("law", list(Law))


def toy_table(rows: int = 300, seed: int = 5):
    schema = schema_of(categorical("a", 3), integer("b", 0, 60, nullable=True), categorical("c", 2), integer("d", 1, 4))
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, rows)
    ticks = {
        "a": a,
        "b": rng.integers(-1, 61, rows),
        "c": (a == 1).astype(np.int64),
        "d": (a + rng.integers(0, 2, rows)) % 4,
    }
    return schema, ticks


def calibrated(kind: str, law: Law, schema, amount="1/4", *, unit=None, options=()):
    config = config_from_table(kind, OPTIONS[kind] | dict(options))
    return config.calibrate(cap(law, Fraction(amount)), RowUnit() if unit is None else unit, schema)


def run(kind: str, law: Law, schema, ticks, *, amount="1/4", rows=None, seed=0, unit=None, options=()):
    mechanism = calibrated(kind, law, schema, amount, unit=unit, options=options)
    table = NumpyTable(schema, ticks, cap(law, Fraction(amount)), unit=unit, seed=seed)
    result = mechanism.run(table, np.random.default_rng(seed), rows=rows)
    return mechanism, table, result


def check_within_plan(mechanism, table, law: Law, total: Fraction) -> None:
    costs = [price(question_event(query, table.unit), law) for query in table.asked]
    asked = Counter(NAMES[type(query)] for query in table.asked)
    allowed = Counter()
    ceiling = Counter()
    spent = Counter()
    for line in mechanism.plan.lines:
        allowed[line.question] += line.at_most
        ceiling[line.question] += line.ceiling
    for query, cost in zip(table.asked, costs, strict=True):
        spent[NAMES[type(query)]] += cost
    assert asked <= allowed
    assert all(spent[kind] <= ceiling[kind] for kind in spent)
    assert sum(costs) <= mechanism.plan.total <= total
    assert mechanism.plan.law is law


def test_the_suite_covers_every_registered_mechanism():
    assert set(OPTIONS) == set(KINDS)


columns = st.lists(
    st.one_of(
        st.builds(lambda size, nullable: ("categorical", size, nullable), st.integers(1, 5), st.booleans()),
        st.builds(lambda size, nullable: ("integer", size, nullable), st.integers(1, 80), st.booleans()),
    ),
    min_size=1,
    max_size=4,
)


@every_kind
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(
    declared=columns,
    rows=st.integers(0, 60),
    law=st.sampled_from(list(Law)),
    amount=st.fractions(Fraction(1, 10**9), 100),
    max_rows=st.integers(1, 5),
    seed=st.integers(0, 2**16),
)
def test_asks_nothing_beyond_its_plan(kind, declared, rows, law, amount, max_rows, seed):  # noqa: PLR0917 - drawn
    build = {"categorical": lambda name, size, null: categorical(name, size, nullable=null)}
    build["integer"] = lambda name, size, null: integer(name, 0, size - 1, nullable=null)
    schema = schema_of(
        {"name": "id", "kind": "identifier"},
        *(build[form](f"x{index}", size, null) for index, (form, size, null) in enumerate(declared)),
    )
    rng = np.random.default_rng(seed)
    ticks = {column.name: rng.integers(-int(column.nullable), column.ticks, rows) for column in schema.columns}
    unit = PersonUnit("id", max_rows)
    mechanism, table, result = run(kind, law, schema, ticks, amount=amount, unit=unit, seed=seed)
    check_within_plan(mechanism, table, law, amount)
    assert sum(asked.cost for asked in result.transcript) == amount - table.remaining
    assert table.remaining <= amount / 2**30
    assert [asked.answer for asked in result.transcript] == table.answers


@every_kind
@every_law
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_refusal_ends_the_questions(kind, law, after):
    schema, ticks = toy_table()
    mechanism = calibrated(kind, law, schema)
    table = NumpyTable(schema, ticks, cap(law, Fraction(1, 4)))
    if after >= sum(line.at_most for line in mechanism.plan.lines):
        pytest.skip("the mechanism asks fewer questions")
    refusing = Refusing(table, after)
    with pytest.raises(BudgetRefused):
        mechanism.run(refusing, np.random.default_rng(0))
    assert refusing.refusals == 1
    assert len(table.asked) == after


@every_kind
@every_law
def test_same_answers_give_the_same_questions_and_rows(kind, law):
    schema, ticks = toy_table()
    mechanism, table, first = run(kind, law, schema, ticks, seed=3)
    replay = Replay(schema, [query_digest(query) for query in table.asked], table.answers)
    steps_again: list[object] = []
    again = mechanism.run(replay, np.random.default_rng(3), steps_again.append)
    assert replay.position == len(table.asked)
    assert again.notes == first.notes
    assert all(np.array_equal(again.synthetic.ticks[name], first.synthetic.ticks[name]) for name in ticks)
    assert steps_again


@every_kind
@every_law
def test_the_curators_own_handle_charges_what_the_plan_says(kind, law):
    schema, ticks = toy_table()
    amount = cap(law, Fraction(1, 3))
    mechanism = config_from_table(kind, OPTIONS[kind]).calibrate(amount, RowUnit(), schema)
    handle = planted_table(schema, ticks, RowUnit(), amount, entropy=SeededEntropy(1))
    result = mechanism.run(handle, np.random.default_rng(0))
    assert sum(asked.cost for asked in result.transcript) == amount.value - handle.remaining
    assert handle.remaining <= amount.value / 2**30
    entries = [asked.answer.entry for asked in result.transcript]
    assert entries == sorted(set(entries))
    assert 250 < result.synthetic.rows < 350


@every_kind
def test_another_seed_gives_other_rows(kind):
    schema, ticks = toy_table()
    mechanism, table, first = run(kind, Law.ZCDP, schema, ticks, seed=3)
    replay = Replay(schema, [query_digest(query) for query in table.asked], table.answers)
    if kind == "tab-pe":  # its candidates, and so its questions, come from the public randomness
        replay = NumpyTable(schema, ticks, Cap(Rho("1/4")), seed=3)
    again = mechanism.run(replay, np.random.default_rng(4))
    assert any(not np.array_equal(again.synthetic.ticks[name], first.synthetic.ticks[name]) for name in ticks)


@every_kind
def test_progress_is_told_in_order_and_ends_with_everything_spent(kind):
    schema, ticks = toy_table()
    mechanism = calibrated(kind, Law.ZCDP, schema)
    steps = []
    mechanism.run(NumpyTable(schema, ticks, Cap(Rho("1/4"))), np.random.default_rng(0), steps.append)
    assert [step.step for step in steps] == sorted({step.step for step in steps})
    assert all(step.step <= step.steps for step in steps)
    shares = [step.share for step in steps]
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0, abs=1e-9)


@every_kind
@every_law
def test_one_column(kind, law):
    schema = schema_of(categorical("only", 4))
    mechanism, table, result = run(kind, law, schema, {"only": np.array([0, 0, 0, 1] * 100)}, amount="2")
    check_within_plan(mechanism, table, law, Fraction(2))
    assert table.remaining == 0
    assert len(table.asked) == 1
    counts = np.bincount(result.synthetic.ticks["only"], minlength=4)
    assert np.abs(counts - [300, 100, 0, 0]).max() < 8


@every_kind
def test_columns_of_one_cell(kind):
    schema = schema_of(categorical("a", 1), integer("b", 7, 7), categorical("c", 1))
    ticks = {name: np.zeros(50, dtype=np.int64) for name in "abc"}
    _, _, result = run(kind, Law.ZCDP, schema, ticks, amount="2")
    assert all(set(values.tolist()) <= {0} for values in result.synthetic.ticks.values())
    assert 40 <= result.synthetic.rows <= 60


@every_kind
def test_two_hundred_columns(kind):
    schema = schema_of(*(categorical(f"c{index}", 2 + index % 2) for index in range(200)))
    rng = np.random.default_rng(1)
    ticks = {column.name: rng.integers(0, column.ticks, 100) for column in schema.columns}
    options = {**OPTIONS[kind], **({"max_rounds": 1} if kind.startswith("aim") else {})}
    if kind == "mst":
        pytest.skip("its 199 selections among 19,900 pairs are run by the slow twin below")
    amount = cap(Law.ZCDP, Fraction(1))
    mechanism = config_from_table(kind, options).calibrate(amount, RowUnit(), schema)
    table = NumpyTable(schema, ticks, amount)
    result = mechanism.run(table, rng)
    check_within_plan(mechanism, table, Law.ZCDP, Fraction(1))
    assert set(result.synthetic.ticks) == set(ticks)


@pytest.mark.slow
def test_two_hundred_columns_mst():
    schema = schema_of(*(categorical(f"c{index}", 2 + index % 2) for index in range(200)))
    rng = np.random.default_rng(1)
    ticks = {column.name: rng.integers(0, column.ticks, 100) for column in schema.columns}
    mechanism, table, result = run("mst", Law.ZCDP, schema, ticks, amount="1")
    check_within_plan(mechanism, table, Law.ZCDP, Fraction(1))
    assert len(result.notes["tree"]) == 199


@every_kind
@every_law
@pytest.mark.parametrize("amount", ["1/4", "1/1000000000000"])
def test_empty_table(kind, law, amount):
    schema, ticks = toy_table(rows=0)
    mechanism, table, result = run(kind, law, schema, ticks, amount=amount, rows=7)
    check_within_plan(mechanism, table, law, Fraction(amount))
    assert result.synthetic.rows == 7


@every_kind
def test_all_noisy_counts_negative(kind):
    """The noisy total is negative: the release is legal and empty."""
    schema, ticks = toy_table(rows=0)

    class Low(NumpyTable):
        def _noise(self, variance, shape=()):
            return -np.abs(super()._noise(variance, shape)) - 1

    table = Low(schema, ticks, cap(Law.ZCDP, Fraction(1, 100)))
    result = calibrated(kind, Law.ZCDP, schema, "1/100").run(table, np.random.default_rng(0))
    assert result.synthetic.rows == 0
    assert result.notes["noisy_total"] < 0
    assert all((answer_table < 0).all() for answer_table in table.answers[0].tables)


@every_kind
def test_only_nulls(kind):
    schema = schema_of(categorical("a", 3, nullable=True), integer("b", 0, 99, nullable=True))
    ticks = {"a": np.full(400, -1), "b": np.full(400, -1)}
    _, _, result = run(kind, Law.ZCDP, schema, ticks, amount="10")
    for name in ticks:
        assert np.mean(result.synthetic.ticks[name] == -1) > 0.95


@every_kind
def test_output_is_capped_at_the_schemas_max_rows(kind):
    schema = schema_of(categorical("a", 3), categorical("b", 2), max_rows=10)
    ticks = {"a": np.zeros(500, dtype=np.int64), "b": np.zeros(500, dtype=np.int64)}
    _, _, result = run(kind, Law.ZCDP, schema, ticks)
    assert result.synthetic.rows == 10
    with pytest.raises(ConfigError, match="at most 10"):
        run(kind, Law.ZCDP, schema, ticks, rows=11)


@every_kind
@pytest.mark.parametrize("rows", [-1, True, 2.0, 2**40])
def test_a_wrong_number_of_rows_is_refused_before_spending(kind, rows):
    schema, ticks = toy_table()
    mechanism = calibrated(kind, Law.ZCDP, schema)
    table = NumpyTable(schema, ticks, Cap(Rho("1/4")))
    with pytest.raises(ConfigError, match="synthetic rows"):
        mechanism.run(table, np.random.default_rng(0), rows=rows)
    assert table.asked == []


@every_kind
def test_another_tables_schema_is_refused_before_spending(kind):
    schema, _ = toy_table()
    other = schema_of(categorical("a", 2))
    table = NumpyTable(other, {"a": np.zeros(3, dtype=np.int64)}, Cap(Rho("1/4")))
    with pytest.raises(ConfigError, match="schema"):
        calibrated(kind, Law.ZCDP, schema).run(table, np.random.default_rng(0))
    assert table.asked == []


@every_kind
def test_e01_every_output_value_lies_in_the_declared_domain(kind):
    schema = schema_of(*(categorical(f"c{index}", size) for index, size in enumerate((15, 2, 7, 3, 1, 9, 4, 11))))
    rng = np.random.default_rng(2)
    ticks = {column.name: rng.integers(0, column.ticks, 50) for column in schema.columns}
    _, _, result = run(kind, Law.ZCDP, schema, ticks, amount="1/1000", rows=2000)
    for column in schema.columns:
        values = result.synthetic.ticks[column.name]
        assert values.min() >= 0
        assert values.max() < column.ticks
        column.text_of_ticks(values)


@every_kind
def test_p01_noise_has_the_scale_that_the_price_says(kind):
    """The cost is recomputed from the σ that the answers really have: ρ = Δ²/(2σ²) per question."""
    schema = schema_of(integer("a", 0, 3999), integer("b", 0, 3999))
    ticks = {"a": np.zeros(0, dtype=np.int64), "b": np.zeros(0, dtype=np.int64)}
    fine = {"bins": 4000} if kind == "tab-pe" else {}
    _, table, result = run(kind, Law.ZCDP, schema, ticks, amount="1/50", options=fine)
    query, answer = table.asked[0], table.answers[0]
    measured = np.concatenate([noisy.ravel() for noisy in answer.tables])
    rho = len(query.cliques) / (2 * measured.var())
    assert float(result.transcript[0].cost) == pytest.approx(rho, rel=0.15)


KINDS_OF_COLUMN = """
[table]
name = "kinds"
[[columns]]
name = "flag"
kind = "boolean"
nullable = true
[[columns]]
name = "cost"
kind = "real"
nullable = true
min = 0
max = 50000
decimals = 2
bins = 100
points = [0]
[[columns]]
name = "day"
kind = "date"
nullable = true
format = "%Y-%m-%d"
min = 2020-01-01
max = 2020-12-31
resolution = "day"
[[columns]]
name = "hour"
kind = "datetime"
nullable = true
format = "%Y-%m-%dT%H"
min = 2020-01-01T00:00:00
max = 2020-12-31T23:00:00
resolution = "hour"
bins = 52
[[columns]]
name = "group"
kind = "categorical"
nullable = true
categories = ["x", "y"]
"""


@every_kind
def test_every_kind_of_column_with_zeros_and_nulls(kind):
    schema = Schema.from_text(KINDS_OF_COLUMN)
    rng = np.random.default_rng(1)
    rows = 2000
    group = rng.integers(0, 2, rows)
    zero = rng.random(rows) < 0.6
    ticks = {
        "flag": np.where(rng.random(rows) < 0.1, -1, group),
        "cost": np.where(zero, 0, np.where(rng.random(rows) < 0.1, -1, rng.integers(1, 5_000_001, rows))),
        "day": np.where(group == 1, rng.integers(0, 100, rows), rng.integers(100, 366, rows)),
        "hour": np.full(rows, -1),
        "group": group,
    }
    grouped = {"label": "group", "population": 2000} if kind == "tab-pe" else {}
    _, _, result = run(kind, Law.ZCDP, schema, ticks, amount="2", options=grouped)
    made = result.synthetic.ticks
    for column in schema.columns:
        column.text_of_ticks(made[column.name])
    assert np.mean(made["cost"] == 0) == pytest.approx(0.6, abs=0.05)
    assert np.mean(made["cost"] == -1) == pytest.approx(0.04, abs=0.02)
    assert np.mean(made["flag"] == -1) == pytest.approx(0.1, abs=0.03)
    assert np.mean(made["hour"] == -1) > 0.9
    if kind != "independent":
        assert np.mean((made["day"] < 100) == (made["group"] == 1)) > 0.9


@every_kind
def test_parameters_from_toml_may_be_decimal_or_whole(kind):
    given_options = {
        "mst": {"one_way_share": Decimal("0.25")},
        "independent": {},
        "tab-pe": {"opening_share": Decimal("0.25"), "mutation_decay": 1, "rounds": 3},
    }.get(kind, {"select_fraction": Decimal("0.2"), "max_model_size_mb": 40, "max_rounds": 3})
    config = config_from_table(kind, given_options)
    written = config.to_json()
    assert all(not isinstance(value, float) for value in written.values())
    if kind == "mst":
        assert written["one_way_share"] == "1/4"


def test_gdp_caps_are_mu_squared():
    schema, _ = toy_table()
    mechanism = config_from_table("aim", OPTIONS["aim"]).calibrate(Cap(Mu("1/4")), RowUnit(), schema)
    assert mechanism.plan.law is Law.GDP
    assert mechanism.plan.total == Fraction(1, 4)
