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
from accounting.curator.persons import KEY_BYTES, kept_rows
from accounting.curator.reading import number_persons
from accounting.curator.rows import CellTable, PrivateRows, TableDigest, cell_dtype
from accounting.curator.table import private_table
from accounting.curator.voting import count_votes
from accounting.errors import ConfigError
from accounting.ledger import Ledger
from accounting.noise import Entropy, OsEntropy, SeededEntropy
from accounting.queries import Errors, Ints, Marginals, PrivateTable, Query, Total, Votes, check_query
from accounting.schema import Schema
from accounting.unit import PersonUnit, PrivacyUnit

__all__ = ["Entropy", "ExactAnswer", "OsEntropy", "SeededEntropy", "exact_answer", "planted_table"]

LABEL = "planted"

ExactAnswer: TypeAlias = int | tuple[Ints, ...] | Ints

_KEY = bytes(KEY_BYTES)
"""Chooses a planted person's kept rows; fixed, so that :func:`exact_answer` replays the same rows."""


def planted_table(
    schema: Schema,
    ticks: Mapping[str, npt.NDArray[np.int64]],
    unit: PrivacyUnit,
    cap: Cap,
    *,
    entropy: Entropy,
    ids: Sequence[str | None] | None = None,
) -> PrivateTable:
    """Open a handle on made-up rows.

    Args:
        schema: the schema.
        ticks: for each modelled column an int64 array of shape (rows,), −1 for null.
        unit: the privacy unit.
        cap: the budget of the one release.
        entropy: the noise source; a seeded one is fine here.
        ids: each row's person, None for a null id; given exactly for a person unit.

    Raises:
        ConfigError: the rows do not fit the schema or the unit.
    """
    ledger = Ledger.in_memory()
    ledger.open_dataset(LABEL, unit=unit, cap=cap)
    account = ledger.allot(LABEL, LABEL, cap, purpose="audit", noise=entropy.source, context={}, commitment=None)
    cells = _kept_cells(schema, ticks, unit, ids)
    digest = TableDigest(schema)
    digest.add(np.column_stack([ticks[column.name] for column in schema.columns]))
    return private_table(PrivateRows(schema, unit, cells, digest.digest()), account, entropy)


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
        Select: int64 scores. Votes: int64 counts.

    Raises:
        QueryRefused: invalid public fields.
        ConfigError: the rows do not fit the schema or the unit.
    """
    check_query(query, schema)
    cells = _kept_cells(schema, ticks, unit, ids)
    if isinstance(query, Total):
        return cells.rows
    if isinstance(query, Marginals):
        return tuple(count_tables(cells, schema, query.cliques, query.coding))
    if isinstance(query, Errors):
        return l1_errors(query, cells, schema)
    if isinstance(query, Votes):
        return count_votes(query, cells, schema)
    return selection_scores(query, cells, schema)


def _kept_cells(
    schema: Schema,
    ticks: Mapping[str, npt.NDArray[np.int64]],
    unit: PrivacyUnit,
    ids: Sequence[str | None] | None,
) -> CellTable:
    if set(ticks) != {column.name for column in schema.columns} or len({len(each) for each in ticks.values()}) != 1:
        raise ConfigError("planted rows need one array of ticks for each modelled column, all of one length")
    columns = {
        column.name: column.cell_of_tick(ticks[column.name]).astype(cell_dtype(column)) for column in schema.columns
    }
    rows = len(next(iter(columns.values())))
    if isinstance(unit, PersonUnit) != (ids is not None) or (ids is not None and len(ids) != rows):
        raise ConfigError("planted rows need one id each for a person unit, and none for a row unit")
    if isinstance(unit, PersonUnit) and ids is not None:
        persons = np.fromiter(number_persons(ids, {}), dtype=np.int64, count=rows)
        kept = kept_rows(list(columns.values()), persons, unit.max_rows, _KEY)
        columns = {name: column[kept] for name, column in columns.items()}
        rows = int(np.count_nonzero(kept))
    return CellTable(columns, rows)
