"""Candidates as cells: how they are drawn, varied, and placed so that distances are exact integers.

Everything here follows from the schema. The values of a column with an order lie on a line, its cells at equal steps,
so that declared edges say where distance matters. Its declared points (a zero that is more than a number) and its null
stand beside the line, each a state of its own. A column without an order has one state a cell.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.queries import Placement
from accounting.schema import Column, Schema

Cells = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

ORDERED_KINDS = frozenset({"integer", "real", "date", "datetime"})
_LONGEST = 2**12
_SHORTEST = 2**6
_DOUBLE = 2**10
_SINGLE = 2**24
_STATE_SHARE = 4
"""A state beside the line changes four times more rarely than a value without an order."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A column with an order: the cells on its line, and those beside it.

    Args:
        cells: the cells on the line, in order, at least two.
        position: for each cell its place on the line; −1 for those beside it.
        beside: the cells beside the line: declared points, then null.
    """

    cells: Ints
    position: Ints
    beside: Ints

    @property
    def last(self) -> int:
        """The last place on the line."""
        return self.cells.size - 1


def line_of(column: Column) -> Line | None:
    """Return a column's line, or None where it has no order or fewer than two cells to order."""
    if column.kind not in ORDERED_KINDS:
        return None
    points: tuple[Any, ...] = getattr(column, "points", ())
    beside = column.cell_of_tick(column.ticks_of_values(list(points))).astype(np.int64)
    if column.null_cell is not None:
        beside = np.append(beside, column.null_cell)
    cells = np.setdiff1d(np.arange(column.cells), beside)
    if cells.size < 2:
        return None
    position = np.full(column.cells, -1)
    position[cells] = np.arange(cells.size)
    return Line(cells, position, beside)


def embedding(schema: Schema, label: str | None, mismatch: Fraction) -> dict[str, Placement]:
    """Place every column but the label, within which votes are cast.

    The length of the lines is the largest power of two for which single precision holds every distance exactly, from
    2^6 to 2^12 units; a table too wide for that is placed at 2^10, which double precision holds.

    Args:
        schema: the public description of the table.
        label: the label's column, or None.
        mismatch: the squared distance of two states, in squared lengths of a line.
    """
    columns = [(column, line_of(column)) for column in schema.columns if column.name != label]
    length = _LONGEST
    while length >= _SHORTEST:
        placed = {column.name: _placement(column, line, length, mismatch) for column, line in columns}
        if sum(placement.reach for placement in placed.values()) < _SINGLE:
            return placed
        length //= 2
    return {column.name: _placement(column, line, _DOUBLE, mismatch) for column, line in columns}


def _placement(column: Column, line: Line | None, length: int, mismatch: Fraction) -> Placement:
    cells = np.arange(column.cells)
    apart = int(mismatch * length * length)
    if line is None:
        return Placement(np.zeros_like(cells), cells, apart)
    coordinates, states = np.zeros_like(cells), np.zeros_like(cells)
    coordinates[line.cells] = (2 * np.arange(line.cells.size) * length + line.last) // (2 * line.last) - length // 2
    states[line.beside] = 1 + np.arange(line.beside.size)
    return Placement(coordinates, states, apart if line.beside.size else 0)


def draw_uniform(schema: Schema, rows: int, rng: np.random.Generator) -> Cells:
    """Draw candidates uniformly over every column's cells, those beside the lines included."""
    return np.column_stack([rng.integers(0, column.cells, rows, dtype=np.int32) for column in schema.columns])


def vary(candidates: Cells, schema: Schema, label: str | None, rate: float, rng: np.random.Generator) -> Cells:
    """Vary candidates; the label stays.

    Args:
        candidates: cells, one row a candidate.
        schema: the public description of the table.
        label: the label's column, or None.
        rate: the mutation rate, from 0 to 1: how far along its line a value moves at most, as a share of the line; and
            the probability that a value without an order is drawn anew.
        rng: public randomness.
    """
    varied = candidates.copy()
    for place, column in enumerate(schema.columns):
        if column.name == label:
            continue
        line = line_of(column)
        if line is None:
            drawn = rng.random(len(varied)) < rate
            varied[drawn, place] = rng.integers(0, column.cells, int(drawn.sum()))
        else:
            varied[:, place] = _changed_state(moved(varied[:, place], line, rate, rng), line, rate, rng)
    return varied


def moved(cells: Cells, line: Line, share: float, rng: np.random.Generator) -> Cells:
    """Move the cells on a line by at most a share of it, uniformly; those beside it stay."""
    shifted = np.rint(line.position[cells] + rng.uniform(-share, share, cells.size) * line.last)
    on_line = line.cells[np.clip(shifted, 0, line.last).astype(np.int64)]
    return np.where(line.position[cells] < 0, cells, on_line).astype(np.int32)


def _changed_state(cells: Cells, line: Line, rate: float, rng: np.random.Generator) -> Cells:
    """Take a few cells from the line to a state beside it, and the other way."""
    if line.beside.size == 0:
        return cells
    turned = rng.random(cells.size) < rate / _STATE_SHARE
    other = np.where(line.position[cells] < 0, rng.choice(line.cells, cells.size), rng.choice(line.beside, cells.size))
    return np.where(turned, other, cells).astype(np.int32)


def mutation_rate(first: Fraction, last: Fraction, decay: Fraction, round_number: int, rounds: int) -> float:
    """Return the mutation rate after a round: from ``first`` to ``last`` by (round/rounds)^decay."""
    gone: float = (round_number / rounds) ** float(decay)
    return float(first) - float(first - last) * gone


def table_bins(column: Column, bins: int) -> npt.NDArray[np.int32] | None:
    """Number the bins of a column in the paid tables: equal parts of its line, and every cell beside it alone.

    Returns:
        int32, one number a cell, or None where every cell is counted on its own.
    """
    line = line_of(column)
    if line is None or line.cells.size <= bins:
        return None
    numbers = np.empty(column.cells, dtype=np.int32)
    numbers[line.cells] = np.arange(line.cells.size) * bins // line.cells.size
    numbers[line.beside] = bins + np.arange(line.beside.size)
    return numbers
