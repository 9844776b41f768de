"""The released table against the released schema: header, order, spelling, domain, nulls and constraints."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.errors import VerificationFailed
from accounting.schema import Schema

_BLOCK_ROWS = 65_536


def check_csv(path: Path, schema: Schema) -> int:
    """Check that every cell is the schema's own spelling of a value in its column's domain.

    A text is such a spelling exactly when reading it and writing it again gives the same text: reading is total, and
    writing gives only the domain's spellings.

    Returns:
        The number of rows.

    Raises:
        VerificationFailed: names the file and the column.
    """
    rows = 0
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            _check_header(next(reader, []), schema, path.name)
            block: list[list[str]] = []
            for row in reader:
                if len(row) != len(schema.columns):
                    raise VerificationFailed("a row does not have one cell for each column", file=path.name)
                block.append(row)
                if len(block) == _BLOCK_ROWS:
                    _check_block(block, schema, path.name)
                    rows += len(block)
                    block = []
        except (csv.Error, UnicodeDecodeError):
            raise VerificationFailed("this is not a CSV file in UTF-8", file=path.name) from None
    _check_block(block, schema, path.name)
    return rows + len(block)


def check_parquet(path: Path, schema: Schema) -> int:
    """Check a typed file in the same way, by values; returns and raises as :func:`check_csv`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError):
        raise VerificationFailed("this is not a Parquet file", file=path.name) from None
    _check_header(table.column_names, schema, path.name)
    ticks = {}
    for column in schema.columns:
        values: list[Any] = table.column(column.name).to_pylist()
        ticks[column.name] = column.ticks_of_values(values)
        again = column.values_of_ticks(ticks[column.name])
        if any(not _same(one, other) for one, other in zip(values, again, strict=True)):
            raise VerificationFailed(f"column {column.name!r} holds a value outside the schema", file=path.name)
    _check_constraints(ticks, schema, path.name)
    return int(table.num_rows)


def _same(value: Any, declared: Any) -> bool:  # noqa: ANN401 - typed cells
    """Compare a cell with the domain's value; a float stands for the decimal that is nearest to it."""
    if isinstance(value, float) and declared is not None:
        return value == float(declared)
    return value is declared or (type(value) is type(declared) and value == declared)


def _check_header(header: list[str], schema: Schema, file: str) -> None:
    names = [column.name for column in schema.columns]
    if header == names:
        return
    further = ", ".join(repr(name) for name in header if name not in names)
    missing = ", ".join(repr(name) for name in names if name not in header)
    how = [f"it lacks {missing}"] * bool(missing) + [f"it has {further} besides"] * bool(further)
    reason = "; ".join(how) or "its names stand in another order or one of them twice"
    raise VerificationFailed(f"the header is not the schema's: {reason}", file=file)


def _check_block(rows: list[list[str]], schema: Schema, file: str) -> None:
    if not rows:
        return
    ticks = {}
    for column, texts in zip(schema.columns, zip(*rows, strict=True), strict=True):
        ticks[column.name] = column.ticks_of_text(texts)
        if column.text_of_ticks(ticks[column.name]) != list(texts):
            raise VerificationFailed(f"column {column.name!r} holds a value outside the schema", file=file)
    _check_constraints(ticks, schema, file)


def _check_constraints(ticks: Mapping[str, npt.NDArray[np.int64]], schema: Schema, file: str) -> None:
    for name, breaking in schema.broken(ticks).items():
        if breaking.any():
            raise VerificationFailed(f"a row breaks the constraint {name!r} of the schema", file=file)
