from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.coding import equal_mass_bins, hybrid_coding, is_coded, most_cells
from mechanisms.noisy import NoisyTable
from tests.mechanisms.fakes import categorical, integer, schema_of


def column_of(size: int, *, nullable: bool = False):
    return schema_of(integer("x", 0, size - 1, nullable=nullable)).column("x")


def test_only_ordered_columns_of_many_cells_are_coded():
    schema = schema_of(categorical("c", 500), integer("few", 0, 31), integer("many", 0, 32, nullable=True))
    assert [is_coded(column, 16) for column in schema.columns] == [False, False, True]
    assert [most_cells(column, 16) for column in schema.columns] == [500, 32, 17]


def test_a_heavy_value_has_a_bin_of_its_own():
    """Half the rows work 40 hours: that value must not share a bin with its neighbours."""
    table = np.full(99, 100, dtype=np.int64)
    table[39] = 9900
    bins = equal_mass_bins(column_of(99), table, 19_700.0, 16)
    assert (bins == bins[39]).sum() == 1
    light = [table[bins == number].sum() for number in range(bins.max() + 1) if number != bins[39]]
    assert len(light) == 15
    assert max(light) <= 1.4 * min(light)


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.integers(-50, 5000), min_size=33, max_size=150),
    nullable=st.booleans(),
    bins=st.integers(2, 16),
    total=st.floats(1, 1e7),
)
def test_bins_cover_every_cell_without_gaps_and_null_stands_alone(values, nullable, bins, total):
    column = column_of(len(values) - nullable, nullable=nullable)
    numbers = equal_mass_bins(column, np.array(values, dtype=np.int64), total, bins)
    assert numbers.dtype == np.int32
    assert numbers.size == column.cells
    assert set(numbers.tolist()) == set(range(numbers.max() + 1))
    assert numbers.max() + 1 <= most_cells(column, bins)
    if nullable:
        assert (numbers == numbers[-1]).sum() == 1


def test_light_cells_are_binned_in_order():
    table = np.full(64, 10, dtype=np.int64)
    bins = equal_mass_bins(column_of(64), table, 640.0, 16)
    assert bins.tolist() == sorted(bins.tolist())
    assert np.bincount(bins).tolist() == [4] * 16


@pytest.mark.parametrize("value", [0, -7])
def test_a_marginal_of_noise_only_still_gives_bins(value):
    bins = equal_mass_bins(column_of(200), np.full(200, value, dtype=np.int64), 1.0, 16)
    assert bins.max() + 1 == 16


def test_binned_values_are_sums_and_their_noise_grows_with_the_cells():
    schema = schema_of(integer("x", 0, 63), categorical("c", 3))
    tables = {"x": np.arange(64), "c": np.array([1, 2, 3])}
    hybrid = hybrid_coding(schema, tables, 2000.0, 4)
    binned = hybrid.binned(NoisyTable.measured(("x",), tables["x"], Fraction(9)))
    bins = hybrid.coding.bins["x"]
    assert binned.values.tolist() == [int(tables["x"][bins == number].sum()) for number in range(4)]
    assert binned.draws.tolist() == np.bincount(bins).tolist()
    assert binned.sigma == pytest.approx(3 * (64 / 4) ** 0.5)
    plain = NoisyTable.measured(("c",), tables["c"], Fraction(9))
    assert hybrid.binned(plain) is plain


def test_bins_are_labelled_by_the_cells_they_hold():
    schema = schema_of(integer("x", 1, 40, nullable=True))
    fine = np.full(41, 10, dtype=np.int64)
    fine[14] = 500
    hybrid = hybrid_coding(schema, {"x": fine}, float(fine.sum()), 3)
    assert hybrid.labels("x") == ["1 … 14, 16 … 20", "15", "21 … 40", "(null)"]


def test_decoding_follows_the_fine_marginal_inside_each_bin():
    schema = schema_of(integer("x", 0, 63, nullable=True))
    fine = np.array([(7 * index) % 50 for index in range(64)] + [40], dtype=np.int64)
    hybrid = hybrid_coding(schema, {"x": fine}, float(fine.sum()), 8)
    sums = hybrid.binned(NoisyTable.measured(("x",), fine, Fraction(1))).values
    rows = np.repeat(np.arange(sums.size), sums)
    table = hybrid.decode({"x": rows}, np.random.default_rng(0))
    found = np.bincount(np.where(table.ticks["x"] < 0, 64, table.ticks["x"]), minlength=65)
    assert np.abs(found - fine).max() <= 1


def test_decoding_is_total_where_the_fine_marginal_of_a_bin_is_empty():
    schema = schema_of(integer("x", 0, 63))
    hybrid = hybrid_coding(schema, {"x": np.full(64, -3, dtype=np.int64)}, 1.0, 8)
    table = hybrid.decode({"x": np.zeros(100, dtype=np.int64)}, np.random.default_rng(0))
    assert table.rows == 100
    assert hybrid.decode({"x": np.zeros(0, dtype=np.int64)}, np.random.default_rng(0)).rows == 0
