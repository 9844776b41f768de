"""Parquet and Arrow (Feather) files: read by their types, streamed in chunks of rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.curator.form import match_header
from accounting.errors import InputFileError
from accounting.schema import CategoricalColumn, Column, IdentifierColumn, Problem, Schema
from accounting.unit import PersonUnit, PrivacyUnit

_ROWS_PER_CHUNK = 2**16

ValueChunk = dict[str, Any]
"""Column name → pyarrow DictionaryArray of the chunk's rows."""


class ColumnarFile:
    """A Parquet or Arrow file whose columns are the schema's.

    Args:
        path: the file.
        schema: the schema.
        unit: the privacy unit; of the identifiers only its id column is read.
        parquet: whether it is Parquet; Arrow's file format otherwise.

    Raises:
        InputFileError: in the constructor for the columns and their types; while streaming for damage.
    """

    def __init__(self, path: Path, schema: Schema, unit: PrivacyUnit, *, parquet: bool) -> None:
        self._path = path
        self._parquet = parquet
        id_column = unit.id_column if isinstance(unit, PersonUnit) else None
        with self._reader() as reader:
            types = reader.schema_arrow if parquet else reader.schema
        position = match_header([name.strip() for name in types.names], schema)
        self._position = {
            name: index for name, index in position.items() if name not in schema.identifiers or name == id_column
        }
        for name, index in self._position.items():
            _check_type(name, types.field(index).type, is_id=name == id_column)

    def chunks(self) -> Iterator[ValueChunk]:
        """Yield the rows as column name → dictionary-encoded values."""
        with self._reader() as reader:
            for batch in self._batches(reader):
                for start in range(0, batch.num_rows, _ROWS_PER_CHUNK):
                    rows = batch.slice(start, _ROWS_PER_CHUNK)
                    yield {name: _encoded(rows.column(index)) for name, index in self._position.items()}

    def ticks(self, column: Column, values: Any) -> npt.NDArray[np.int64]:  # noqa: ANN401  # pyarrow ships no types
        """Cast values by the column's policies; never raises for a value."""
        return np.append(column.ticks_of_values(values.dictionary), column.ticks_of_values([None]))[_indices(values)]

    def names(self, column: CategoricalColumn, values: Any) -> list[str | None]:  # noqa: ANN401  # as ticks
        """Return the values' canonical names, None for none."""
        distinct = [*column.names_of_values(values.dictionary), None]
        return [distinct[index] for index in _indices(values).tolist()]

    def ids(self, column: IdentifierColumn, values: Any) -> list[str | None]:  # noqa: ANN401  # pyarrow ships no types
        """Return the values' canonical ids, None for null."""
        distinct = [*column.ids_of_values(values.dictionary), None]
        return [distinct[index] for index in _indices(values).tolist()]

    def problems(self, column: Column, values: Any) -> dict[Problem, int]:  # noqa: ANN401  # pyarrow ships no types
        """Count the values that break each of the column's rules; confidential."""
        return column.problems_of_values(values)

    def _batches(self, reader: Any) -> Iterator[Any]:  # noqa: ANN401  # pyarrow ships no types
        if self._parquet:
            yield from reader.iter_batches(batch_size=_ROWS_PER_CHUNK)
        else:
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index)

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import ipc, parquet

        try:
            with pa.OSFile(str(self._path)) as source:
                yield parquet.ParquetFile(source) if self._parquet else ipc.open_file(source)
        except (pa.ArrowException, OSError):
            pass
        else:
            return
        raise InputFileError(f"{self._path} is damaged, encrypted or cut off: write the table again")


def _check_type(name: str, kind: Any, *, is_id: bool) -> None:  # noqa: ANN401  # pyarrow ships no types
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if kind != pa.uuid() and (pa.types.is_nested(value) or isinstance(value, pa.BaseExtensionType)):
        raise InputFileError(f"column {name!r} holds no plain values: write one text, number or date a row")
    if is_id and pa.types.is_temporal(value):
        raise InputFileError(f"the id column {name!r} holds dates or times: write ids as texts or numbers")


def _encoded(values: Any) -> Any:  # noqa: ANN401  # pyarrow ships no types
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        return values
    if values.type == pa.uuid():
        values = pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())
    return values.dictionary_encode()


def _indices(values: Any) -> npt.NDArray[np.int64]:  # noqa: ANN401  # pyarrow ships no types
    """Return each row's place in the dictionary; the place after its end for null."""
    import pyarrow as pa

    places = values.indices.cast(pa.int64()).fill_null(len(values.dictionary))
    return places.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
