"""Exact kernels on integers: contingency tables, L1 errors, selection scores. No result leaves without noise.

No kernel can wrap, round or raise for any table of at most ``MAX_ROWS`` rows and any question that passed
``check_query``; the bounds stand beside the arithmetic. Each kernel has a naive twin in the tests.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.curator.form import memory_limit
from accounting.curator.rows import CellTable
from accounting.curator.voting import check_vote_size
from accounting.errors import QueryRefused
from accounting.queries import (
    Categories,
    Clique,
    Coding,
    Errors,
    Ints,
    Marginals,
    Quantiles,
    Query,
    Select,
    Total,
    Votes,
)
from accounting.schema import Schema

SATURATION = 2**62
"""Scores and errors are clamped to ±2^62: clamping is 1-Lipschitz, and noise still fits beside it in 64 bits."""

MAX_ANSWER_CELLS = 2**25
"""The most cells that the tables of one Marginals question have together; their text then fits into any store."""

_BYTES_PER_COUNTED_CELL = 32
"""Counts, a block's counts, terms of the L1 error and one temporary."""
_BYTES_PER_ANSWERED_CELL = 80
"""The noisy count as int64, as a Python integer and as text."""
_BLOCK = 2**16
_LOW_BITS = 27
_LOW_MASK = 2**_LOW_BITS - 1


def check_question_size(query: Query, schema: Schema) -> None:
    """Refuse a question whose tables cannot be held while counting, or whose answer cannot be stored.

    Raises:
        QueryRefused: over ``MAX_ANSWER_CELLS`` cells to answer, or half of the machine's memory; nothing spent.
    """
    if isinstance(query, (Total, Quantiles, Categories)):
        return  # at most MAX_INTERVALS counts, or one a row that is held already
    if isinstance(query, Votes):
        check_vote_size(query)
        return
    cliques = query.cliques if isinstance(query, Marginals) else query.candidates
    cells = [math.prod(query.coding.shape(schema, clique)) for clique in cliques]
    answered = sum(cells) if isinstance(query, Marginals) else 0
    if answered > MAX_ANSWER_CELLS:
        raise QueryRefused(
            f"the tables of this question have {answered} cells together; at most {MAX_ANSWER_CELLS} are answered at "
            "once: split the question or use a coarser coding"
        )
    needed = max(cells) * _BYTES_PER_COUNTED_CELL + answered * _BYTES_PER_ANSWERED_CELL
    if needed > memory_limit():
        raise QueryRefused(
            f"this question needs about {needed >> 20} MiB, more than half of this machine's memory: use smaller "
            "cliques or a coarser coding"
        )


def count_tables(cells: CellTable, schema: Schema, cliques: tuple[Clique, ...], coding: Coding) -> Iterator[Ints]:
    """Count the rows in every cell of each clique's table, one table after the other.

    Rows are numbered by their cell in the table and the numbers counted. The numbers by a clique's leading columns are
    kept for the next clique, which often shares them; tables stay with the rows for the next question, as far as
    :class:`KnownTables` has room.

    Yields:
        read-only int64 tables shaped by the coding; each sums to the number of rows.

    Privacy:
        A row adds exactly 1 to one cell of each table, whatever the other rows are.
    """
    coded = _CodedColumns(cells, schema, coding)
    known = cells.known.at(coding)
    leading: Clique | None = None
    numbers: npt.NDArray[np.int32] = np.empty(0, dtype=np.int32)
    for clique in cliques:
        table = known.get(clique)
        if table is None:
            if clique[:-1] != leading:
                leading = clique[:-1]
                numbers = _cell_numbers(coded, leading)
            shape = tuple(coded.widths[name] for name in clique)
            table = _count(numbers, coded.column(clique[-1]), shape[-1], math.prod(shape)).reshape(shape)
            cells.known.keep(clique, table)
        yield table


class _CodedColumns:
    """The columns as a question's coding sees them, each looked up once."""

    def __init__(self, cells: CellTable, schema: Schema, coding: Coding) -> None:
        self._cells = cells
        self._coding = coding
        self.widths = {column.name: coding.cells(schema, column.name) for column in schema.columns}
        self._looked_up: dict[str, npt.NDArray[np.unsignedinteger[Any]]] = {}

    @property
    def rows(self) -> int:
        return self._cells.rows

    def column(self, name: str) -> npt.NDArray[np.unsignedinteger[Any]]:
        column = self._cells.columns[name]
        bins = self._coding.bins.get(name)
        if bins is None:
            return column
        if name not in self._looked_up:
            compact = bins.astype(np.min_scalar_type(int(bins.max())))
            self._looked_up[name] = compact[column]
        return self._looked_up[name]


def _cell_numbers(coded: _CodedColumns, names: Clique) -> npt.NDArray[np.int32]:
    """Number each row by its cell in the table of ``names``; below 2^27 by ``check_query``, so int32 cannot wrap."""
    numbers = np.zeros(coded.rows, dtype=np.int32)
    for name in names:
        numbers *= coded.widths[name]
        numbers += coded.column(name)
    return numbers


def _count(leading: npt.NDArray[np.int32], last: npt.NDArray[np.unsignedinteger[Any]], width: int, size: int) -> Ints:
    """Count rows by cell, in blocks that stay in the processor's cache and are never smaller than the table."""
    step = max(_BLOCK, size)
    counts = np.zeros(size, dtype=np.int64)
    for start in range(0, leading.size, step):
        numbers = leading[start : start + step] * width
        numbers += last[start : start + step]
        counts += np.bincount(numbers, minlength=size)
    return counts


def l1_error(counts: Ints, estimate: Ints, grid: int) -> int:
    """Sum |grid·count − estimate| over all cells, exactly.

    No step wraps: counts stay below 2^31, the grid at most 2^20 and estimates within ±2^53, so that each term is below
    2^54; a table has at most 2^27 cells, so that the sums of the terms' low 27 bits and of their high bits stay below
    2^54 each.

    Privacy:
        A row changes one count by 1, so it moves the sum by at most one grid.
    """
    terms = counts * grid
    terms -= estimate
    np.abs(terms, out=terms)
    high = int((terms >> _LOW_BITS).sum())
    terms &= _LOW_MASK
    return (high << _LOW_BITS) + int(terms.sum())


def l1_errors(query: Errors, cells: CellTable, schema: Schema) -> Ints:
    """Return each candidate's L1 error in grid units, int64, clamped to 2^62.

    Privacy:
        A row moves each error by at most one grid, and clamping moves two errors no farther apart.
    """
    return np.array([min(error, SATURATION) for error in _exact_errors(query, cells, schema)], dtype=np.int64)


def selection_scores(query: Select, cells: CellTable, schema: Schema) -> Ints:
    """Score each candidate weight·(L1 error − penalty), int64, clamped to ±2^62.

    Privacy:
        A row moves a score by at most grid·weight, and clamping moves two scores no farther apart.
    """
    scores = [
        max(-SATURATION, min(SATURATION, weight * (error - penalty)))
        for error, weight, penalty in zip(
            _exact_errors(query, cells, schema), query.weights, query.penalties, strict=True
        )
    ]
    return np.array(scores, dtype=np.int64)


def _exact_errors(query: Select | Errors, cells: CellTable, schema: Schema) -> Iterator[int]:
    tables = count_tables(cells, schema, query.candidates, query.coding)
    for counts, estimate in zip(tables, query.estimates, strict=True):
        yield l1_error(counts, estimate, query.grid)
