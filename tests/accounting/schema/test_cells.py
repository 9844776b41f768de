"""Cells: contiguous intervals of ticks, points of their own, the null cell last."""

import numpy as np
import pytest

from accounting.errors import ConfigError, SchemaError
from accounting.schema import NULL
from accounting.schema.layout import check_size
from tests.accounting.schema.building import column


def intervals(known):
    return [known.ticks_of_cell(cell) for cell in range(known.cells)]


def test_one_cell_a_value():
    known = column("integer", min=10, max=13)
    assert intervals(known) == [(0, 0), (1, 1), (2, 2), (3, 3), (NULL, NULL)]
    assert known.cell_starts.tolist() == [0, 1, 2, 3]
    assert known.labels() == ["10", "11", "12", "13", "(null)"]
    assert known.cell_of_tick(np.array([3, NULL, 0])).tolist() == [3, 4, 0]


def test_edges_begin_new_cells():
    known = column("integer", min=0, max=99, edges=[18, 65, 99])
    assert intervals(known) == [(0, 17), (18, 64), (65, 98), (99, 99), (NULL, NULL)]
    assert known.labels() == ["0 to 17", "18 to 64", "65 to 98", "99", "(null)"]
    assert known.cell_of_tick([0, 17, 18, 64, 65, 98, 99, NULL]).tolist() == [0, 0, 1, 1, 2, 2, 3, 4]
    assert column("real", bins=None, edges=[]).labels() == ["0.00 to 10.00", "(null)"]


def test_bins_are_as_equal_as_whole_ticks_allow():
    known = column("integer", min=0, max=9, bins=4)
    sizes = [high - low + 1 for low, high in intervals(known)[:-1]]
    assert sizes == [2, 3, 2, 3]
    assert sum(sizes) == 10
    assert column("integer", min=0, max=9, bins=10).cell_starts.tolist() == list(range(10))


def test_points_split_the_cells_around_them():
    known = column("integer", min=0, max=99, bins=2, points=[0, 40, 99])
    assert intervals(known)[:-1] == [(0, 0), (1, 39), (40, 40), (41, 49), (50, 98), (99, 99)]
    beside = column("integer", min=0, max=9, edges=[5], points=[4, 5])
    assert intervals(beside)[:-1] == [(0, 3), (4, 4), (5, 5), (6, 9)]
    spending = column("real", min=0, max=10, decimals=1, bins=2, points=[0])
    assert spending.labels() == ["0.0", "0.1 to 4.9", "5.0 to 10.0", "(null)"]


def test_cells_have_the_promised_types_and_are_read_only():
    known = column("integer", bins=5)
    assert known.cell_of_tick([0]).dtype == np.int32
    assert known.cell_of_tick([]).dtype == np.int32
    assert known.cell_of_tick(np.zeros((2, 3), dtype=np.int16)).shape == (2, 3)
    assert known.cell_starts.dtype == np.int64
    for other in (known, column("integer"), column("categorical")):
        with pytest.raises(ValueError, match="read-only"):
            other.cell_starts[0] = 1


@pytest.mark.parametrize("tick", [100, -2, 2**40])
def test_ticks_outside_the_grid_are_refused(tick):
    known = column("integer")
    for use in (known.cell_of_tick, known.text_of_ticks, known.values_of_ticks):
        with pytest.raises(ConfigError, match="column 'x': a tick lies outside the declared domain"):
            use([0, tick])


def test_null_is_refused_where_the_column_is_not_nullable():
    known = column("integer", nullable=False, replacement=0)
    assert known.null_cell is None
    assert known.cells == known.ticks == 100
    for use in (known.cell_of_tick, known.text_of_ticks, known.values_of_ticks):
        with pytest.raises(ConfigError, match="outside the declared domain"):
            use([NULL])


@pytest.mark.parametrize("ticks", [[1.0], [True], ["1"], np.array([1], dtype=np.uint64)])
def test_only_signed_whole_numbers_are_ticks(ticks):
    with pytest.raises(ConfigError, match="ticks are whole numbers"):
        column("integer").cell_of_tick(ticks)


@pytest.mark.parametrize("cell", [-1, 101])
def test_cells_that_do_not_exist_are_refused(cell):
    with pytest.raises(ConfigError, match="cells 0 to 100"):
        column("integer").ticks_of_cell(cell)


def test_sizes_are_refused_with_the_figure_before_anything_is_allocated():
    with pytest.raises(SchemaError, match=r"16777217 cells \(128 MiB for one table of counts\)") as caught:
        check_size(2**24 + 1, 2**24 + 1, "x")
    assert caught.value.column == "x"
    with pytest.raises(SchemaError, match="9007199254740992 distinct values are over the limit"):
        check_size(2, 2**53, "x")
    check_size(2**24, 2**53 - 1, "x")
