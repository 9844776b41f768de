import numpy as np
import pytest

from mechanisms.decoding import decode_cells, ticks_of_cells
from tests.mechanisms.fakes import categorical, integer, schema_of

EDGED = {
    "name": "x", "kind": "integer", "min": 0, "max": 99, "edges": [10, 50], "points": [0], "nullable": True,
}  # fmt: skip


def test_a_tick_is_drawn_from_every_place_inside_its_cell():
    column = schema_of(EDGED).column("x")
    rng = np.random.default_rng(0)
    for cell in range(column.cells):
        low, high = column.ticks_of_cell(cell)
        drawn = ticks_of_cells(column, np.full(4000, cell), rng)
        assert drawn.dtype == np.int64
        assert set(drawn.tolist()) == set(range(low, high + 1))


def test_the_upper_bound_is_reached():
    """Minimum and maximum are both inclusive; an off-by-one would never write the maximum."""
    column = schema_of(integer("x", -3, 4)).column("x")
    drawn = ticks_of_cells(column, np.arange(8).repeat(3), np.random.default_rng(0))
    assert column.text_of_ticks([drawn.min(), drawn.max()]) == ["-3", "4"]


def test_equal_bounds_and_nulls_decode():
    schema = schema_of(integer("x", 7, 7, nullable=True))
    table = decode_cells(schema, {"x": np.array([0, 1, 0])}, np.random.default_rng(0))
    assert table.ticks["x"].tolist() == [0, -1, 0]


def test_d07_columns_are_decoded_by_name():
    schema = schema_of(categorical("a", 2), categorical("b", 3))
    table = decode_cells(schema, {"b": np.array([2, 2]), "a": np.array([0, 1])}, np.random.default_rng(0))
    assert list(table.ticks) == ["a", "b"]
    assert table.ticks["b"].tolist() == [2, 2]
    with pytest.raises(KeyError):
        decode_cells(schema, {"a": np.array([0])}, np.random.default_rng(0))
