"""The synthetic table as files: CSV and Parquet whose every byte follows from the schema and the synthetic rows."""

import csv
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError, DpReleaseError
from accounting.schema import BooleanColumn, Column, DateColumn, DatetimeColumn, IntegerColumn, RealColumn, Schema
from mechanisms.table import SyntheticTable
from release.config import Format

if TYPE_CHECKING:
    import pyarrow as pa

NAMES: dict[Format, str] = {"csv": "synthetic.csv", "parquet": "synthetic.parquet"}
_FLOAT_DIGITS = 15
_BLOCK_ROWS = 65_536


def write_table(folder: Path, table: SyntheticTable, formats: tuple[Format, ...]) -> tuple[Path, ...]:
    """Write the synthetic rows in each format, durably, and read every file back.

    Args:
        folder: an existing folder; nothing in it is overwritten.
        table: the synthetic rows, in the order of writing.
        formats: ``csv`` (RFC 4180 in UTF-8, the schema's exact text) or ``parquet`` (typed by kind).

    Returns:
        The paths written.

    Raises:
        OSError: a file is there already, or the disk is full.
        DpReleaseError: a row breaks a constraint, or a file does not read back as the same rows: a fault of this
            program, found before the release.
    """
    for constraint, breaking in table.schema.broken(table.ticks).items():
        if breaking.any():
            raise DpReleaseError(f"a synthetic row breaks the constraint {constraint!r}")
    paths = []
    for name in formats:
        path = folder / NAMES[name]
        _WRITERS[name](path, table)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        check_table(path, table)
        paths.append(path)
    return tuple(paths)


def write_rows(path: Path, table: SyntheticTable) -> None:
    """Write rows to one new file, typed where it ends in .parquet and CSV elsewhere, and read it back.

    Raises:
        ConfigError: the file is there already; nothing was overwritten.
        OSError: it cannot be written.
    """
    if path.exists():
        raise ConfigError(f"{path} is there already; nothing was overwritten")
    _WRITERS["parquet" if path.suffix == ".parquet" else "csv"](path, table)
    check_table(path, table)


def check_table(path: Path, table: SyntheticTable) -> None:
    """Check that a written file holds exactly these rows, in the schema's header, order, types, domain and nulls.

    Raises:
        DpReleaseError: it does not; the message names the column.
    """
    kind: Format = "parquet" if path.suffix == ".parquet" else "csv"
    header, columns = _READERS[kind](path, table.schema)
    if header != [column.name for column in table.schema.columns]:
        raise DpReleaseError(f"{path.name}: the header is not the schema's")
    for column, read in zip(table.schema.columns, columns, strict=True):
        if read != _SPELLINGS[kind](column, table.ticks[column.name]):
            raise DpReleaseError(f"{path.name}: column {column.name!r} does not read back as it was written")


def _write_csv(path: Path, table: SyntheticTable) -> None:
    columns = table.schema.columns
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([column.name for column in columns])
        for start in range(0, table.rows, _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            texts = [column.text_of_ticks(table.ticks[column.name][block]) for column in columns]
            writer.writerows(zip(*texts, strict=True))


def _read_csv(path: Path, schema: Schema) -> tuple[list[str], list[list[Any]]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, strict=True)
        header = next(rows)
        columns: list[list[Any]] = [[] for _ in schema.columns]
        for row in rows:
            for values, value in zip(columns, row, strict=True):
                values.append(value)
    return header, columns


def _write_parquet(path: Path, table: SyntheticTable) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = table.schema.columns
    schema = _arrow_schema(table.schema)
    with path.open("xb") as file, pq.ParquetWriter(file, schema) as writer:
        for start in range(0, max(table.rows, 1), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            arrays = [
                pa.array(_values(column, table.ticks[column.name][block]), field.type)
                for column, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(pa.table(arrays, schema=schema))


def _read_parquet(path: Path, schema: Schema) -> tuple[list[str], list[list[Any]]]:
    import pyarrow.parquet as pq

    read = pq.read_table(path)
    if not read.schema.equals(_arrow_schema(schema)):
        raise DpReleaseError(f"{path.name}: the types are not the schema's")
    return list(read.column_names), [column.to_pylist() for column in read.columns]


def _arrow_schema(schema: Schema) -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [pa.field(column.name, _arrow_type(column), nullable=column.nullable) for column in schema.columns]
    )


def _arrow_type(column: Column) -> "pa.DataType":
    """Return the type by kind; reals are float64 where that holds every declared value exactly, else decimals."""
    import pyarrow as pa

    match column:
        case IntegerColumn():
            return pa.int64()
        case BooleanColumn():
            return pa.bool_()
        case RealColumn():
            return pa.float64() if _fits_float(column) else pa.decimal128(38, column.decimals)
        case DateColumn():
            return pa.date32()
        case DatetimeColumn():
            return pa.timestamp("us", tz=column.utc_offset)
        case _:
            return pa.string()


def _values(column: Column, ticks: npt.NDArray[np.int64]) -> list[Any]:
    values = column.values_of_ticks(ticks)
    if isinstance(column, RealColumn) and _fits_float(column):
        return [None if value is None else float(value) for value in values]
    return values


def _fits_float(column: RealColumn) -> bool:
    """Whether every value of the grid has at most 15 significant digits, which float64 keeps."""
    return bool(max(abs(column.min), abs(column.max)) * 10**column.decimals < 10**_FLOAT_DIGITS)


_WRITERS: Mapping[Format, Callable[[Path, SyntheticTable], None]] = {"csv": _write_csv, "parquet": _write_parquet}
_READERS: Mapping[Format, Callable[[Path, Schema], tuple[list[str], list[list[Any]]]]] = {
    "csv": _read_csv,
    "parquet": _read_parquet,
}
_SPELLINGS: Mapping[Format, Callable[[Column, npt.NDArray[np.int64]], list[Any]]] = {
    "csv": lambda column, ticks: column.text_of_ticks(ticks),
    "parquet": _values,
}
