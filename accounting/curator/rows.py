"""The private rows as the curator holds them: compact cell codes behind a wrapper that shows nothing of them."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError
from accounting.queries import Clique, Coding
from accounting.schema import Column, Schema
from accounting.unit import PrivacyUnit

if TYPE_CHECKING:
    from accounting.curator.measured import MeasuredColumns

MAX_ROWS = 2**31 - 1
KNOWN_CELLS = 2**23
"""The most cells of exact tables kept beside the rows: 64 MiB."""

SALT_BYTES = 32

_COMMITMENT_TAG = b"dprelease/commitment/1"
_ROW_DIGEST_BYTES = 32


def cell_dtype(column: Column) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the smallest unsigned dtype that holds a column's cells."""
    return np.min_scalar_type(column.cells - 1)


class Opaque:
    """Base of what holds private values: no representation, no copy, no pickle."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: contents withheld>"

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise ConfigError("what holds private rows can neither be copied nor pickled")


class KnownTables(Opaque):
    """Exact tables of some rows at one coding, kept beside the rows: a mechanism asks about the same ones every round.

    Which tables are kept depends on the questions alone, never on the rows.
    """

    __slots__ = ("_coding", "_room", "_tables")

    def __init__(self) -> None:
        self._coding = Coding()
        self._tables: dict[Clique, npt.NDArray[np.int64]] = {}
        self._room = KNOWN_CELLS

    def at(self, coding: Coding) -> Mapping[Clique, npt.NDArray[np.int64]]:
        """Return what is known at a coding; tables of another one are forgotten."""
        if coding is not self._coding:
            self._coding, self._tables, self._room = coding, {}, KNOWN_CELLS
        return self._tables

    def keep(self, clique: Clique, table: npt.NDArray[np.int64]) -> None:
        """Keep a table of the coding that was asked for last, if there is room."""
        table.setflags(write=False)
        if table.size <= self._room:
            self._tables[clique] = table
            self._room -= table.size


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellTable(Opaque):
    """The rows that count, as one array of cells per modelled column, in the smallest unsigned dtype.

    Args:
        columns: column name → array of shape (rows,), each value below the column's number of cells.
        rows: the number of rows, at most ``MAX_ROWS``.
        known: exact tables of these rows.
    """

    columns: Mapping[str, npt.NDArray[np.unsignedinteger[Any]]]
    rows: int
    known: KnownTables = field(default_factory=KnownTables, init=False)

    def __post_init__(self) -> None:
        if self.rows > MAX_ROWS:
            raise ConfigError(f"a table of more than {MAX_ROWS} rows is not supported")


class PrivateRows(Opaque):
    """A loaded private table: only the curator's handle counts in it.

    The rows stand in a closure, so no attribute holds them. That keeps them out of logs, reprs, debuggers' dumps and
    careless code; it is no wall against code in the same process that is determined to read them
    (docs/guarantees.md, Isolation).

    Args:
        schema: the schema by which the file was cast.
        unit: the privacy unit whose bound on rows is already enforced.
        cells: the rows that count.
        digest: the digest of the whole cast table, from :class:`TableDigest`.
        measured: the values of the columns whose domains are measured.
    """

    __slots__ = ("_commit", "_open", "_resolve", "_schema", "_unit")

    def __init__(
        self, schema: Schema, unit: PrivacyUnit, cells: CellTable, digest: bytes, measured: "MeasuredColumns"
    ) -> None:
        def open_cells() -> "tuple[CellTable, MeasuredColumns]":
            return cells, measured

        def resolve(known: Schema) -> PrivateRows:
            return PrivateRows(known, unit, measured.cells(cells, schema, known), digest, measured.none())

        def commit(salt: bytes) -> str:
            return hashlib.sha256(_COMMITMENT_TAG + salt + digest).hexdigest()

        self._schema = schema
        self._unit = unit
        self._open: Callable[[], tuple[CellTable, MeasuredColumns]] = open_cells
        self._resolve: Callable[[Schema], PrivateRows] = resolve
        self._commit: Callable[[bytes], str] = commit

    @property
    def schema(self) -> Schema:
        """The schema by which the file was cast."""
        return self._schema

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit whose bound on rows is enforced."""
        return self._unit

    def cells_for_curator(self) -> CellTable:
        """Return the rows that count: for the curator's handle only, never for code outside ``accounting.curator``."""
        return self._open()[0]

    def measured_for_curator(self) -> "MeasuredColumns":
        """Return the values of the columns whose domains are measured, of the rows that count: for the handle only."""
        return self._open()[1]

    def resolved(self, schema: Schema) -> "PrivateRows":
        """Cast the same rows by the schema in which the measured domains are known; nothing leaves and nothing is read.

        Args:
            schema: equal to this one but for the columns whose domains are measured, which it declares.

        Raises:
            ConfigError: it differs elsewhere, or leaves a domain open; nothing was spent.
        """
        columns = {column.name: schema.column(column.name) for column in self._schema.measured}
        if schema.measured or self._schema.with_columns(columns).digest != schema.digest:
            raise ConfigError("the rows are cast anew for the columns whose domains were measured, and for no other")
        return self._resolve(schema)

    def commit(self, salt: bytes) -> str:
        """Commit to the cast table: lower-case hexadecimal SHA-256 over the salt and the table's canonical digest.

        The commitment is to all rows of the file and all modelled columns, under the schema's value grids, so that the
        same rows are recognised under another unit. Permuting the file does not change it.

        Args:
            salt: 32 fresh random bytes, kept by the curator: without it the commitment could be guessed.

        Raises:
            ConfigError: for a salt of another length.
        """
        if len(salt) != SALT_BYTES:
            raise ConfigError(f"a commitment needs a salt of {SALT_BYTES} random bytes")
        return self._commit(salt)


class TableDigest:
    """The canonical digest of a cast table, built chunk by chunk and free of the rows' order.

    Each row is hashed as its ticks (big-endian int64, in schema order); the sorted row digests are hashed together with
    the table's column names.
    """

    def __init__(self, schema: Schema) -> None:
        self._head = "\n".join(column.name for column in schema.columns).encode() + b"\0"
        self._rows = bytearray()

    def add(self, ticks: npt.NDArray[np.int64]) -> None:
        """Add rows, shape (rows, columns)."""
        data = memoryview(np.ascontiguousarray(ticks, dtype=">i8").tobytes())
        width = ticks.shape[1] * 8
        self._rows += b"".join(
            hashlib.sha256(data[start : start + width]).digest() for start in range(0, len(data), width)
        )

    def digest(self) -> bytes:
        """Return the digest of all rows added."""
        ordered = np.sort(np.frombuffer(self._rows, dtype=f"S{_ROW_DIGEST_BYTES}"))
        return hashlib.sha256(hashlib.sha256(self._head).digest() + ordered.tobytes()).digest()
