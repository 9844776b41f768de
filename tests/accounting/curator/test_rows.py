"""What holds private values shows nothing of them and cannot be multiplied."""

import copy
import gc
import pickle

import numpy as np
import pytest

from accounting.curator.measured import MeasuredColumns
from accounting.curator.rows import MAX_ROWS, CellTable, PrivateRows, TableDigest, cell_dtype
from accounting.errors import ConfigError
from accounting.unit import RowUnit
from tests.accounting.curator.tables import categorical, schema_of

SCHEMA = schema_of(categorical("letter"))


def private_rows() -> PrivateRows:
    cells = CellTable({"letter": np.array([0, 1, 3], dtype=np.uint8)}, 3)
    return PrivateRows(SCHEMA, RowUnit(), cells, b"d" * 32, MeasuredColumns.none())


@pytest.mark.parametrize("make", [private_rows, lambda: private_rows().cells_for_curator()], ids=["rows", "cells"])
def test_no_representation_no_copy_no_pickle(make):
    value = make()
    assert repr(value) == str(value) == f"{value}" == f"<{type(value).__name__}: contents withheld>"
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ConfigError, match="neither be copied nor pickled"):
            attempt(value)
    with pytest.raises(TypeError):
        vars(value)


def test_p19_no_attribute_of_private_rows_is_data():
    rows = private_rows()
    for name in ("_open", "_commit"):
        assert callable(getattr(rows, name))
    found = {type(getattr(rows, name)).__name__ for name in rows.__slots__}
    assert found == {"function", "Schema", "RowUnit"}


def test_the_known_limit_code_in_the_same_process_can_open_the_closure():
    """Said in docs/guarantees.md, so that nobody takes the wrapper for a wall: only another process would be one."""
    rows = private_rows()
    assert any(isinstance(value, CellTable) for cell in gc.get_referents(rows._open) for value in _contents(cell))


def _contents(value: object) -> list[object]:
    cells = value if isinstance(value, tuple) else (value,)
    return [cell.cell_contents for cell in cells if type(cell).__name__ == "cell"]


def test_too_many_rows_are_refused():
    with pytest.raises(ConfigError, match="more than"):
        CellTable({}, MAX_ROWS + 1)


def test_cells_take_the_smallest_unsigned_dtype():
    sizes = {1: "uint8", 256: "uint8", 257: "uint16", 65536: "uint16", 65537: "uint32"}
    for cells, name in sizes.items():
        column = {"name": "n", "kind": "integer", "min": 1, "max": cells, "nullable": False, "replacement": 1}
        assert cell_dtype(schema_of(column).column("n")) == name


def test_the_digest_of_rows_is_free_of_order_and_of_chunks():
    ticks = np.array([[0], [2], [-1], [2]], dtype=np.int64)

    def digest(*parts) -> bytes:
        found = TableDigest(SCHEMA)
        for part in parts:
            found.add(part)
        return found.digest()

    assert digest(ticks) == digest(ticks[::-1]) == digest(ticks[1:2], ticks[:1], ticks[2:])
    assert digest(ticks) != digest(ticks[:3])
    assert digest() != digest(ticks[:1])
