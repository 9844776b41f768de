"""Loading a private file: its form is checked before anything is spent, and every value of a well-formed file is read.

Three kinds of faults, three answers: a fault of form (header, encoding, quoting, uneven rows, size) refuses the file; a
value that breaks a rule of the schema is cast by the schema's declared policy; a row without an id, or beyond a
person's k rows, is left out. Only the first can be seen from outside.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from accounting.curator.columnar import ColumnarFile
from accounting.curator.delimited import DelimitedFile
from accounting.curator.form import FileForm, check_size, check_unit, file_form, without_rows
from accounting.curator.measured import MeasuredColumns, NameBook, keep_rows, ticks_or_hashes
from accounting.curator.persons import KEY_BYTES, NO_PERSON
from accounting.curator.rows import CellTable, PrivateRows, TableDigest, cell_dtype
from accounting.schema import CategoricalColumn, Column, IdentifierColumn, Schema
from accounting.unit import PersonUnit, PrivacyUnit


class TableFile(Protocol):
    """A file whose form fits the schema: streams its columns, and casts them as its kind needs."""

    def chunks(self) -> Iterator[Mapping[str, Any]]:
        """Yield the rows as column name → values."""
        ...

    def ticks(self, column: Column, values: Any) -> npt.NDArray[np.int64]:  # noqa: ANN401  # the file's own kind
        """Cast a chunk's values by the column's policies; never raises for a value."""
        ...

    def names(self, column: CategoricalColumn, values: Any) -> list[str | None]:  # noqa: ANN401  # the file's own kind
        """Return a chunk's canonical names of a column whose categories are measured, None for none."""
        ...

    def ids(self, column: IdentifierColumn, values: Any) -> list[str | None]:  # noqa: ANN401  # the file's own kind
        """Return a chunk's canonical ids, None for null."""
        ...


def check_file(path: str | os.PathLike[str], schema: Schema, unit: PrivacyUnit, *, encoding: str = "utf-8") -> FileForm:
    """Check a private file's form to its end, without casting a value; nothing is spent.

    Args:
        path: a CSV file (also compressed by gzip), Parquet or Arrow (Feather) file, told apart by content.
        schema: its schema.
        unit: the privacy unit.
        encoding: the text encoding of a CSV file; a byte-order mark is dropped.

    Raises:
        InputFileError: the file is refused for its form.
        ConfigError: the unit does not fit the schema.
    """

    def check() -> FileForm:
        form = file_form(Path(path), encoding)
        rows = 0
        for chunk in open_table(Path(path), schema, unit, form).chunks():
            rows += _length(chunk)
            check_size(rows, schema, unit)
        return form

    return without_rows("checking the private file", check)


def load(path: str | os.PathLike[str], schema: Schema, unit: PrivacyUnit, *, encoding: str = "utf-8") -> PrivateRows:
    """Load a private file: check its form, cast every value by the schema, enforce the unit's bound on rows.

    Args and Raises are those of :func:`check_file`; nothing is spent.

    Privacy:
        A row's cells depend on that row and the schema only. With a person unit, rows with a null id are dropped and at
        most ``max_rows`` rows of a person kept, by that person's rows alone (accounting.curator.persons). The order of
        the file's rows and columns has no influence.

    Edge cases:
        No rows, one row, or only nulls make a legal table.
    """

    def read() -> PrivateRows:
        file = open_table(Path(path), schema, unit, file_form(Path(path), encoding))
        return _cast(file, schema, unit)

    return without_rows("loading the private file", read)


def open_table(path: Path, schema: Schema, unit: PrivacyUnit, form: FileForm) -> DelimitedFile | ColumnarFile:
    """Open a file of known form and match its header with the schema.

    Raises:
        InputFileError: the header is not the schema's, or a typed column is not readable.
        ConfigError: the unit does not fit the schema.
    """
    check_unit(schema, unit)
    if form.encoding is None:
        return ColumnarFile(path, schema, unit, parquet=form.kind == "parquet")
    return DelimitedFile(path, schema, form.encoding, compressed=form.kind == "csv.gz")


def number_persons(
    ids: Iterable[str | None], known: dict[str | int, int], null_ids: Literal["drop", "person"] = "drop"
) -> Iterator[int]:
    """Number persons in the order in which they appear; ``known`` grows.

    Args:
        ids: each row's canonical id, or None.
        known: the number of each person so far; rows without an id that are persons stand under their own number.
        null_ids: whether a row without an id gets ``NO_PERSON`` or is a person of its own.
    """
    for identity in ids:
        if identity is None and null_ids == "drop":
            yield NO_PERSON
        else:
            yield known.setdefault(len(known) if identity is None else identity, len(known))


def _cast(file: TableFile, schema: Schema, unit: PrivacyUnit) -> PrivateRows:
    digest = TableDigest(schema)
    parts: dict[str, list[npt.NDArray[np.unsignedinteger[Any]]]] = {column.name: [] for column in schema.columns}
    wide: dict[str, list[npt.NDArray[np.int64]]] = {column.name: [] for column in schema.measured}
    books = {column.name: NameBook() for column in schema.measured if isinstance(column, CategoricalColumn)}
    persons: list[npt.NDArray[np.int64]] = []
    known: dict[str | int, int] = {}
    rows = 0
    for chunk in file.chunks():
        rows += _length(chunk)
        check_size(rows, schema, unit)
        ticks = {column.name: file.ticks(column, chunk[column.name]) for column in schema.columns}
        for column in schema.columns:
            parts[column.name].append(column.cell_of_tick(ticks[column.name]).astype(cell_dtype(column)))
        for column in schema.measured:
            wide[column.name].append(ticks[column.name])
            if isinstance(column, CategoricalColumn):
                names = file.names(column, chunk[column.name])
                books[column.name].add(names)
                ticks[column.name] = ticks_or_hashes(ticks[column.name], names)
        digest.add(np.column_stack(list(ticks.values())))
        if isinstance(unit, PersonUnit):
            identifier = schema.identifier(unit.id_column)
            ids = file.ids(identifier, chunk[unit.id_column])
            numbers = number_persons(ids, known, identifier.null_ids)
            persons.append(np.fromiter(numbers, dtype=np.int64, count=len(ids)))
    columns = {
        column.name: np.concatenate([np.empty(0, cell_dtype(column)), *parts.pop(column.name)])
        for column in schema.columns
    }
    measured = MeasuredColumns(
        {name: np.concatenate([np.empty(0, np.int64), *pieces]) for name, pieces in wide.items()},
        {name: book.names() for name, book in books.items()},
        np.concatenate([np.empty(0, np.int64), *persons]) if isinstance(unit, PersonUnit) else None,
    )
    table, measured = keep_rows(CellTable(columns, rows), measured, unit, os.urandom(KEY_BYTES))
    return PrivateRows(schema, unit, table, digest.digest(), measured)


def _length(chunk: Mapping[str, Any]) -> int:
    return len(next(iter(chunk.values())))
