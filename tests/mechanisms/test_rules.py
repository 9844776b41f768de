"""Constraints in mechanisms: zeros of the model, bins that respect them, and no synthetic row that breaks one."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from accounting.budget import Law, cap
from accounting.errors import ConfigError
from accounting.schema import Schema
from accounting.unit import RowUnit
from mechanisms.binning import equal_mass_bins
from mechanisms.coding import model_sizes
from mechanisms.registry import config_from_table
from mechanisms.rules import Rules
from tests.mechanisms.fakes import NumpyTable

TEXT = """
[table]
name = "stays"
max_rows = 3000
[[columns]]
name = "age"
kind = "integer"
nullable = false
replacement = 0
min = 0
max = 99
[[columns]]
name = "status"
kind = "categorical"
nullable = true
categories = ["single", "married", "widowed"]
[[columns]]
name = "begin"
kind = "integer"
nullable = false
replacement = 0
min = 0
max = 400
[[columns]]
name = "end"
kind = "integer"
nullable = true
min = -50
max = 400
[[columns]]
name = "ward"
kind = "categorical"
nullable = false
replacement = "a1"
categories = ["a1", "a2", "b1", "b2"]
[[columns]]
name = "house"
kind = "categorical"
nullable = false
replacement = "a"
categories = ["a", "b"]
"""
RULES = """
[[constraints]]
name = "children are not married"
kind = "impossible"
when = [{ column = "age", max = 14 }, { column = "status", null = false }]
[[constraints]]
name = "a stay ends after it begins"
kind = "order"
low = "begin"
high = "end"
strict = true
[[constraints]]
name = "a ward is in one house"
kind = "determines"
fine = "ward"
coarse = "house"
map = { a1 = "a", a2 = "a", b1 = "b", b2 = "b" }
"""
OPTIONS = {
    "independent": {},
    "mst": {},
    "aim": {"degree": 2, "max_rounds": 4},
    "aim-gdp": {"degree": 2, "max_rounds": 4},
    "tab-pe": {"rounds": 2, "population": 300},
}


@pytest.fixture(name="schema", scope="module")
def fixture_schema():
    return Schema.from_text(TEXT + RULES)


def rows(schema: Schema, count: int) -> dict[str, np.ndarray]:
    """Make rows that keep the constraints but for a few that break each."""
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, count)
    begin = rng.integers(0, 400, count)
    ward = rng.integers(0, 4, count)
    ticks = {
        "age": age,
        "status": np.where(age < 15, -1, rng.integers(0, 3, count)),
        "begin": begin,
        "end": np.where(rng.random(count) < 0.1, -1, np.minimum(begin + rng.integers(1, 9, count), 400) + 50),
        "ward": ward,
        "house": ward // 2,
    }
    ticks["status"][:20], ticks["age"][:20] = 1, 3
    ticks["end"][20:40] = 0
    ticks["house"][40:60] = 1 - ticks["ward"][40:60] // 2
    return ticks


def breaking(schema: Schema, ticks) -> dict[str, int]:
    return {name: int(found.sum()) for name, found in schema.broken(ticks).items() if found.any()}


@pytest.mark.parametrize("kind", OPTIONS)
def test_no_synthetic_row_breaks_a_constraint(schema, kind):
    law = Law.GDP if kind in {"aim-gdp", "tab-pe"} else Law.ZCDP
    amount = cap(law, Fraction(1, 2))
    private = rows(schema, 1500)
    assert len(breaking(schema, private)) == 3
    mechanism = config_from_table(kind, OPTIONS[kind]).calibrate(amount, RowUnit(), schema)
    made = mechanism.run(NumpyTable(schema, private, amount), np.random.default_rng(1))
    assert made.synthetic.rows > 1000
    assert breaking(schema, made.synthetic.ticks) == {}
    free = Schema.from_text(TEXT)
    unruled = config_from_table(kind, OPTIONS[kind]).calibrate(amount, RowUnit(), free)
    loose = unruled.run(NumpyTable(free, private, amount), np.random.default_rng(1))
    assert breaking(schema, loose.synthetic.ticks)


JOBS = [f"j{number:03d}" for number in range(150)]
MANY = (
    TEXT
    + f'[[columns]]\nname = "job"\nkind = "categorical"\nnullable = true\ncategories = {JOBS}\n'
    + RULES
    + '[[constraints]]\nname = "a job is in one ward"\nkind = "determines"\nfine = "job"\ncoarse = "ward"\n'
    + 'map = { "" = "a1", '
    + ", ".join(f'{job} = "{("a1", "a2", "b1", "b2")[number % 4]}"' for number, job in enumerate(JOBS))
    + " }\n"
    + '[[constraints]]\nname = "children have no rare job"\nkind = "impossible"\n'
    + 'when = [{ column = "age", max = 14 }, { column = "job", any_of = ["j101", "j102"] }]\n'
)


@pytest.mark.parametrize("kind", ["aim", "aim-gdp", "mst", "independent"])
def test_merged_categories_keep_the_constraints_that_name_them(kind):
    schema = Schema.from_text(MANY)
    amount = cap(Law.ZCDP, Fraction(1, 4))
    private = rows(schema, 1500)
    job = np.minimum(np.random.default_rng(4).geometric(0.08, 1500) * 4 - 4 + private["ward"], 149)
    private["job"] = np.where(job % 4 == private["ward"], job, private["ward"])
    mechanism = config_from_table(kind, OPTIONS[kind]).calibrate(amount, RowUnit(), schema)
    made = mechanism.run(NumpyTable(schema, private, amount), np.random.default_rng(1))
    assert made.synthetic.rows > 1000
    assert breaking(schema, made.synthetic.ticks) == {}
    assert np.unique(made.synthetic.ticks["job"]).size > 40
    if kind != "independent":  # at most 128 cells are not coded there
        assert mechanism.schema.column("job").cells > len(made.notes["bins"]["job"]) > 5


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1, 100)])
@pytest.mark.parametrize("count", [0, 1])
def test_a_table_of_noise_keeps_the_constraints_too(schema, rho, count):
    amount = cap(Law.ZCDP, rho)
    private = {name: ticks[100 : 100 + count] for name, ticks in rows(schema, 200).items()}
    mechanism = config_from_table("mst", {}).calibrate(amount, RowUnit(), schema)
    made = mechanism.run(NumpyTable(schema, private, amount), np.random.default_rng(1), rows=500)
    assert made.synthetic.rows == 500
    assert breaking(schema, made.synthetic.ticks) == {}


def test_zeros_are_exactly_the_pairs_of_bins_without_a_row(schema):
    rules = Rules(schema)
    rng = np.random.default_rng(0)
    bins = {
        column.name: equal_mass_bins(column, rng.integers(0, 50, column.cells), 1000.0, 16, rules.segments(column.name))
        for column in schema.columns
        if column.name in {"age", "begin", "end"}
    }
    for (a, b), table in rules.zeros(bins).items():
        members = [cells_of(schema, bins, name, size) for name, size in zip((a, b), table.shape, strict=True)]
        for (i, left), (j, right) in product(enumerate(members[0]), enumerate(members[1])):
            pairs = np.array(list(product(left, right)))
            ticks = {column.name: np.zeros(len(pairs), dtype=np.int64) for column in schema.columns}
            ticks["status"] -= 1
            ticks["end"] -= 1
            if (a, b) != ("ward", "house"):
                ticks |= {a: pairs[:, 0], b: pairs[:, 1]}
            else:
                ticks |= {"ward": pairs[:, 0], "house": pairs[:, 1]}
            bad = np.zeros(len(pairs), dtype=bool)
            for found in schema.broken(ticks).values():
                bad |= found
            assert bool(bad.all()) == bool(table[i, j])


def cells_of(schema, bins, name, size):
    """Return the ticks of each bin; every cell of these columns is one tick."""
    column = schema.column(name)
    numbers = bins.get(name, np.arange(column.cells))
    ticks = np.array([column.ticks_of_cell(cell)[0] for cell in range(column.cells)])
    return [ticks[numbers == number] for number in range(size)]


def test_bins_never_straddle_a_constraint_and_stay_within_their_ceiling(schema):
    rules, column = Rules(schema), schema.column("age")
    for seed in range(20):
        table = np.random.default_rng(seed).integers(-20, 80, column.cells)
        bins = equal_mass_bins(column, table, 1000.0, 16, rules.segments("age"))
        assert not set(bins[:15]) & set(bins[15:])
        assert bins.max() + 1 <= model_sizes(schema, 16)["age"] == 17


@pytest.mark.parametrize(
    "further",
    [
        """kind = "order"\nlow = "end"\nhigh = "begin"
[[constraints]]\nname = "y"\nkind = "impossible"\nwhen = [{column = "end", null = true}]""",
        """kind = "impossible"\nwhen = [{column = "house", any_of = ["a"]}]
[[constraints]]\nname = "y"\nkind = "impossible"\nwhen = [{column = "ward", any_of = ["b1", "b2"]}]""",
    ],
)
@pytest.mark.parametrize("kind", OPTIONS)
def test_constraints_that_exclude_each_other_are_refused_before_spending(kind, further):
    schema = Schema.from_text(TEXT + RULES + f'[[constraints]]\nname = "x"\n{further}\n')
    amount = cap(Law.GDP if kind in {"aim-gdp", "tab-pe"} else Law.ZCDP, Fraction(1))
    with pytest.raises(ConfigError, match="exclude each other"):
        config_from_table(kind, OPTIONS[kind]).calibrate(amount, RowUnit(), schema)


def test_a_single_possible_row_is_found():
    tight = (
        '[[constraints]]\nname = "x"\nkind = "impossible"\nwhen = [{column = "begin", max = 398}]\n'
        '[[constraints]]\nname = "y"\nkind = "impossible"\nwhen = [{column = "end", null = true}]\n'
    )
    schema = Schema.from_text(TEXT + RULES + tight)
    Rules(schema).check(model_sizes(schema, 16))


def test_constraints_over_the_memory_are_refused_with_the_figure():
    wide = "".join(
        f'[[columns]]\nname = "w{i}"\nkind = "categorical"\nnullable = false\nreplacement = "0"\n'
        f"categories = {[str(j) for j in range(400)]}\n"
        for i in range(3)
    )
    rule = '[[constraints]]\nname = "x"\nkind = "impossible"\nwhen = [' + ", ".join(
        f'{{column = "w{i}", any_of = ["0"]}}' for i in range(3)
    )
    schema = Schema.from_text(f"{TEXT}{wide}{rule}]\n")
    with pytest.raises(ConfigError, match=r"64\d* cells .* over the limit"):
        config_from_table("independent", {}).calibrate(cap(Law.ZCDP, Fraction(1)), RowUnit(), schema)
