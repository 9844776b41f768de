"""Planted tables: rows made in memory behind the real handle and a plain in-memory ledger, for audits and benchmarks.

Nothing here can touch a private file or sign a release: the ledger lives in this process, and its one release is
stamped ``audit``. The code that prices, counts and adds noise is the curator's own.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap
from accounting.curator.counting import count_tables, l1_errors, selection_scores
from accounting.curator.measured import MeasuredColumns, NameBook, count_intervals, count_names, keep_rows
from accounting.curator.persons import KEY_BYTES
from accounting.curator.reading import number_persons
from accounting.curator.rows import CellTable, PrivateRows, TableDigest, cell_dtype
from accounting.curator.table import private_table
from accounting.curator.voting import count_votes
from accounting.errors import ConfigError
from accounting.ledger import Ledger
from accounting.ledger.memory import MemoryStore
from accounting.noise import Entropy, OsEntropy, SeededEntropy
from accounting.queries import (
    Categories,
    Errors,
    Ints,
    Marginals,
    PrivateTable,
    Quantiles,
    Query,
    Total,
    Votes,
    check_query,
)
from accounting.schema import CategoricalColumn, Schema
from accounting.unit import PersonUnit, PrivacyUnit

__all__ = [
    "PLANTED_NAMES",
    "Entropy",
    "ExactAnswer",
    "OsEntropy",
    "Planted",
    "SeededEntropy",
    "exact_answer",
    "planted_name",
    "planted_table",
]

LABEL = "planted"

PLANTED_NAMES = 8
"""How many names a planted column whose categories are measured may hold besides the declared ones."""

ExactAnswer: TypeAlias = int | tuple[Ints, ...] | Ints

_KEY = bytes(KEY_BYTES)
"""Chooses a planted person's kept rows; fixed, so that :func:`exact_answer` replays the same rows."""


class Planted:
    """Made-up rows, made ready once; every run gets a ledger and a handle of its own.

    Args:
        schema: the schema.
        ticks: for each modelled column an int64 array of shape (rows,), −1 for null; in a column whose categories are
            measured, ticks beyond the declared ones stand for the names of :func:`planted_name`.
        unit: the privacy unit.
        cap: the budget of the one release of each ledger.
        ids: each row's person, None for a null id; given exactly for a person unit.

    Raises:
        ConfigError: the rows do not fit the schema or the unit.
    """

    def __init__(
        self,
        schema: Schema,
        ticks: Mapping[str, npt.NDArray[np.int64]],
        unit: PrivacyUnit,
        cap: Cap,
        *,
        ids: Sequence[str | None] | None = None,
    ) -> None:
        cells, measured = _kept(schema, ticks, unit, ids)
        digest = TableDigest(schema)
        digest.add(np.column_stack([ticks[column.name] for column in schema.columns]))
        self._rows = PrivateRows(schema, unit, cells, digest.digest(), measured)
        self._unit = unit
        self._cap = cap
        self._allotted: dict[str, MemoryStore] = {}

    def open(self, entropy: Entropy) -> PrivateTable:
        """Open a handle behind a new ledger.

        Args:
            entropy: the noise source; a seeded one is fine here.
        """
        if entropy.source not in self._allotted:
            self._allotted[entropy.source] = self._ledger(entropy.source)
        account = Ledger(self._allotted[entropy.source].copy()).resume(LABEL)
        return private_table(self._rows, account, entropy)

    def _ledger(self, source: str) -> MemoryStore:
        store = MemoryStore()
        ledger = Ledger(store)
        ledger.open_dataset(LABEL, unit=self._unit, cap=self._cap)
        ledger.allot(LABEL, LABEL, self._cap, purpose="audit", noise=source, context={}, commitment=None)
        return store


def planted_table(
    schema: Schema,
    ticks: Mapping[str, npt.NDArray[np.int64]],
    unit: PrivacyUnit,
    cap: Cap,
    *,
    entropy: Entropy,
    ids: Sequence[str | None] | None = None,
) -> PrivateTable:
    """Open one handle on made-up rows; see :class:`Planted`.

    Raises:
        ConfigError: the rows do not fit the schema or the unit.
    """
    return Planted(schema, ticks, unit, cap, ids=ids).open(entropy)


def exact_answer(
    query: Query,
    schema: Schema,
    ticks: Mapping[str, npt.NDArray[np.int64]],
    unit: PrivacyUnit,
    ids: Sequence[str | None] | None = None,
) -> ExactAnswer:
    """Compute what a question asks of made-up rows, without noise: for replay against a neighbour.

    Returns:
        Total: the number of kept rows. Marginals: one int64 table per clique. Errors: int64 L1 errors in grid units.
        Select: int64 scores. Votes, Quantiles: int64 counts. Categories: the number of units of each of the
        ``PLANTED_NAMES`` names, int64.

    Raises:
        QueryRefused: invalid public fields.
        ConfigError: the rows do not fit the schema or the unit.
    """
    check_query(query, schema)
    cells, measured = _kept(schema, ticks, unit, ids)
    if isinstance(query, Total):
        return cells.rows
    if isinstance(query, Marginals):
        return tuple(count_tables(cells, schema, query.cliques, query.coding))
    if isinstance(query, Errors):
        return l1_errors(query, cells, schema)
    if isinstance(query, Votes):
        return count_votes(query, cells, schema)
    if isinstance(query, Quantiles):
        return count_intervals(query, measured)
    if isinstance(query, Categories):
        found = dict(zip(*count_names(query, measured), strict=True))
        return np.array([found.get(planted_name(number), 0) for number in range(PLANTED_NAMES)], dtype=np.int64)
    return selection_scores(query, cells, schema)


def planted_name(number: int) -> str:
    """Return the text of a planted name, from number 0 to ``PLANTED_NAMES`` − 1."""
    return f"name {number}"


def _kept(
    schema: Schema,
    ticks: Mapping[str, npt.NDArray[np.int64]],
    unit: PrivacyUnit,
    ids: Sequence[str | None] | None,
) -> tuple[CellTable, MeasuredColumns]:
    if set(ticks) != {column.name for column in schema.columns} or len({len(each) for each in ticks.values()}) != 1:
        raise ConfigError("planted rows need one array of ticks for each modelled column, all of one length")
    rows = len(next(iter(ticks.values())))
    if isinstance(unit, PersonUnit) != (ids is not None) or (ids is not None and len(ids) != rows):
        raise ConfigError("planted rows need one id each for a person unit, and none for a row unit")
    declared, books = dict(ticks), {}
    for column in schema.measured:
        if isinstance(column, CategoricalColumn):
            assert column.other is not None
            beyond = ticks[column.name] >= column.ticks
            declared[column.name] = np.where(beyond, column.categories.index(column.other), ticks[column.name])
            books[column.name] = NameBook()
            numbers = np.where(beyond, ticks[column.name] - column.ticks, -1).tolist()
            if max(numbers, default=0) >= PLANTED_NAMES:
                raise ConfigError(f"a planted column has at most {PLANTED_NAMES} names that are not declared")
            books[column.name].add(None if number < 0 else planted_name(number) for number in numbers)
    columns = {
        column.name: column.cell_of_tick(declared[column.name]).astype(cell_dtype(column)) for column in schema.columns
    }
    persons = None if ids is None else np.fromiter(number_persons(ids, {}), dtype=np.int64, count=rows)
    measured = MeasuredColumns(
        {column.name: declared[column.name] for column in schema.measured},
        {name: book.names() for name, book in books.items()},
        persons,
    )
    return keep_rows(CellTable(columns, rows), measured, unit, _KEY)
