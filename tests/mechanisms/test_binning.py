"""How bins are formed from a noisy one-way marginal: equal mass along an order, rare categories together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.schema import Schema
from mechanisms.binning import CATEGORIES_A_BIN, bins_of, equal_mass_bins, is_coded, merged_categories, most_cells
from mechanisms.coding import model_sizes
from mechanisms.rules import Rules
from tests.mechanisms.fakes import categorical, integer, schema_of


def column_of(size: int, *, nullable: bool = False, kind=None):
    declared = categorical("x", size, nullable=nullable) if kind else integer("x", 0, size - 1, nullable=nullable)
    return schema_of(declared).column("x")


def alike(column) -> np.ndarray:
    return np.zeros(column.cells, dtype=np.int32)


def equal_mass(column, table, total, bins):
    return equal_mass_bins(column, np.asarray(table, dtype=np.int64), total, bins, alike(column))


def merged(column, table, sigma, bins=16, segments=None):
    return merged_categories(
        column, np.asarray(table, dtype=np.int64), sigma, bins, alike(column) if segments is None else segments
    )


def test_only_columns_of_many_cells_are_coded():
    schema = schema_of(
        categorical("c", 32, nullable=True),
        categorical("d", 33),
        categorical("e", 300_000, nullable=True),
        integer("few", 0, 31),
        integer("many", 0, 32, nullable=True),
        {"name": "flag", "kind": "boolean", "nullable": True},
    )
    assert [is_coded(column, 16) for column in schema.columns] == [False, True, True, False, True, False]
    assert list(model_sizes(schema, 16).values()) == [33, 33, 16 * CATEGORIES_A_BIN + 2, 32, 17, 3]


def test_a_heavy_value_has_a_bin_of_its_own():
    """Half the rows work 40 hours: that value must not share a bin with its neighbours."""
    table = np.full(99, 100, dtype=np.int64)
    table[39] = 9900
    bins = equal_mass(column_of(99), table, 19_700.0, 16)
    assert (bins == bins[39]).sum() == 1
    light = [table[bins == number].sum() for number in range(bins.max() + 1) if number != bins[39]]
    assert len(light) == 15
    assert max(light) <= 1.4 * min(light)


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from([None, "categorical"]),
    values=st.lists(st.integers(-50, 5000), min_size=33, max_size=150),
    nullable=st.booleans(),
    bins=st.integers(2, 16),
    total=st.floats(1, 1e7),
    sigma=st.floats(0.1, 1e4),
    several=st.integers(1, 7),
)
def test_bins_cover_every_cell_without_gaps_and_null_stands_alone(kind, values, nullable, bins, total, sigma, several):  # noqa: PLR0917 - drawn
    column = column_of(len(values) - nullable, nullable=nullable, kind=kind)
    segments = (np.arange(column.cells) * several // column.cells).astype(np.int32)
    numbers = bins_of(column, np.array(values), total=total, sigma=sigma, bins=bins, segments=segments)
    assert numbers.dtype == np.int32
    assert numbers.size == column.cells
    assert set(numbers.tolist()) == set(range(numbers.max() + 1))
    assert numbers.max() + 1 <= most_cells(column, bins, segments)
    for number in range(numbers.max() + 1):
        assert len(set(segments[numbers == number].tolist())) == 1
    if nullable:
        assert (numbers == numbers[-1]).sum() == 1


def test_light_cells_are_binned_in_order():
    bins = equal_mass(column_of(64), np.full(64, 10), 640.0, 16)
    assert bins.tolist() == sorted(bins.tolist())
    assert np.bincount(bins).tolist() == [4] * 16


@pytest.mark.parametrize("value", [0, -7])
def test_a_marginal_of_noise_only_still_gives_bins(value):
    assert equal_mass(column_of(200), np.full(200, value), 1.0, 16).max() + 1 == 16
    assert merged(column_of(200, kind="categorical"), np.full(200, value), 5.0).tolist() == [0] * 200


def test_rare_categories_share_one_bin_and_the_others_stand_alone():
    column = column_of(40, nullable=True, kind="categorical")
    table = np.zeros(41, dtype=np.int64)
    table[[3, 17, 39]] = 500, 11, 9
    numbers = merged(column, table, 10.0)
    assert np.bincount(numbers).tolist().count(1) == 3  # 3, 17 and null: 9 lies below one σ
    assert [(numbers == numbers[cell]).sum() for cell in (3, 17, 40)] == [1, 1, 1]
    assert numbers[0] == numbers[39]


@pytest.mark.parametrize("size", [200, 20_000])
def test_noise_alone_lifts_few_categories_above_the_bar_however_many_there_are(size):
    noise = np.rint(np.random.default_rng(1).normal(0, 50, size))
    numbers = merged(column_of(size, kind="categorical"), noise, 50.0)
    assert 16 <= numbers.max() <= 48


def test_the_largest_categories_are_kept_where_too_many_stand_out():
    column = column_of(5000, kind="categorical")
    table = np.arange(5000) + 1000
    numbers = merged(column, table, 1.0, bins=4)
    assert numbers.max() == 4 * CATEGORIES_A_BIN
    assert set(numbers[: 5000 - 4 * CATEGORIES_A_BIN].tolist()) == {0}


RULED = """
[table]
name = "jobs"
[[columns]]
name = "job"
kind = "categorical"
nullable = true
categories = [{jobs}]
[[columns]]
name = "sector"
kind = "categorical"
nullable = true
categories = ["s0", "s1", "s2", "s3"]
[[constraints]]
name = "a job is in one sector"
kind = "determines"
fine = "job"
coarse = "sector"
map = {{ {pairs} }}
"""


def test_a_rule_tells_apart_only_categories_that_allow_different_rows():
    jobs = [f"j{number}" for number in range(40)]
    pairs = ", ".join(f'{job} = "s{number % 4}"' for number, job in enumerate(jobs))
    schema = Schema.from_text(RULED.format(jobs=", ".join(f'"{job}"' for job in jobs), pairs=pairs))
    segments = Rules(schema).segments("job")
    assert segments.max() + 1 == 5  # four sectors, and null
    numbers = merged(schema.column("job"), [0] * 41, 10.0, segments=segments)
    assert numbers.tolist() == [0, 1, 2, 3] * 10 + [4]
    assert Rules(schema).zeros({"job": numbers})["job", "sector"].sum() == 25 - 5
