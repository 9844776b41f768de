"""Column by column and pair by pair: what the figures of a whole table are made of."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from accounting.schema import Column, Schema
from audits.pairs import Ticks, row_count
from audits.results import Figure, NotComputable, Result
from audits.utility.intervals import jackknife
from audits.utility.marginals import EMPTY, ORDERED, Compared, bounded, correlations

Ints = npt.NDArray[np.int64]

MOST_BARS = 24
"""The most bars of a column: neighbouring cells of an ordered column share one, else the rarest cells do."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The share of rows in some cells of a column, from 0 to 1 in each table; ``null`` for the null cell."""

    label: str
    private: float
    synthetic: float
    null: bool


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """One column.

    Args:
        name: the column.
        kind: its kind, as the schema names it.
        variation: the total variation of its cells' shares.
        mean_private: the mean as a share of the declared range, nulls left out; ordered columns only.
        mean_synthetic: the same of the synthetic rows.
        bars: the shares, in the order of the cells; together 1 in each table.
    """

    name: str
    kind: str
    variation: Result
    mean_private: Result
    mean_synthetic: Result
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Two columns, in schema order.

    Args:
        first: one column.
        second: the other.
        variation: the total variation of the shares of their cells.
        correlation_private: Pearson's, nulls left out; ordered columns only.
        correlation_synthetic: the same of the synthetic rows.
        correlation_difference: synthetic minus private, from −2 to 2.
    """

    first: str
    second: str
    variation: Result
    correlation_private: Result
    correlation_synthetic: Result
    correlation_difference: Result


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The rows in one cell of a column.

    Args:
        column: the column.
        label: the cell.
        private_rows: how many private rows are in it.
        synthetic_rows: how many synthetic rows are.
        variation: the mean total variation of all other columns among these rows.
    """

    column: str
    label: str
    private_rows: int
    synthetic_rows: int
    variation: Result


MOST_GROUPS = 12
"""Columns with more cells than this do not divide the table into groups."""

LEAST_ROWS = 20
"""Fewer rows of a group, in either table, say nothing about it."""


def column_figures(schema: Schema, private: Ticks, synthetic: Ticks) -> tuple[ColumnFigures, ...]:
    """Compare every column on its own."""
    if not row_count(private) or not row_count(synthetic):
        return tuple(ColumnFigures(c.name, c.kind, EMPTY, EMPTY, EMPTY, ()) for c in schema.columns)
    compared = Compared(schema, private, synthetic)
    return tuple(
        ColumnFigures(
            column.name,
            column.kind,
            bounded(compared.distances((column.name,))),
            _mean(column, private[column.name]),
            _mean(column, synthetic[column.name]),
            bars(column, private[column.name], synthetic[column.name]),
        )
        for column in schema.columns
    )


def pair_figures(schema: Schema, private: Ticks, synthetic: Ticks) -> tuple[PairFigures, ...]:
    """Compare every pair of columns: the matrices of total variation and of correlations."""
    pairs = list(combinations(schema.columns, 2))
    if not row_count(private) or not row_count(synthetic):
        return tuple(PairFigures(a.name, b.name, EMPTY, EMPTY, EMPTY, EMPTY) for a, b in pairs)
    compared = Compared(schema, private, synthetic)
    return tuple(
        PairFigures(
            one.name,
            other.name,
            bounded(compared.distances((one.name, other.name))),
            *_correlations(one, other, private, synthetic, compared.groups),
        )
        for one, other in pairs
    )


def group_figures(schema: Schema, private: Ticks, synthetic: Ticks) -> tuple[GroupFigures, ...]:
    """Compare the tables inside each cell of every column with few cells: who is represented worse than others."""
    found = []
    for column in schema.columns:
        others = [other.name for other in schema.columns if other is not column]
        if not 2 <= column.cells <= MOST_GROUPS:
            continue
        for cell, label in enumerate(column.labels()):
            inside = [_inside(column, cell, table) for table in (private, synthetic)]
            sizes = [row_count(table) for table in inside]
            variation: Result = NotComputable(f"one of the tables has fewer than {LEAST_ROWS} such rows")
            if not others:
                variation = NotComputable("there is no other column")
            elif min(sizes) >= LEAST_ROWS:
                variation = bounded(Compared(schema, *inside).mean([(name,) for name in others]))
            found.append(GroupFigures(column.name, label, sizes[0], sizes[1], variation))
    return tuple(found)


def bars(column: Column, private: Ints, synthetic: Ints) -> tuple[Bar, ...]:
    """Return the shares of a column's cells in both tables, as at most ``MOST_BARS`` bars beside the null cell's."""
    counts = np.array(
        [np.bincount(column.cell_of_tick(ticks), minlength=column.cells) for ticks in (private, synthetic)]
    )
    shares = counts / counts.sum(axis=1, keepdims=True)
    labels = column.labels()
    cells = column.cells - (column.null_cell is not None)
    parts = _neighbours(cells) if column.kind in ORDERED else _rarest_together(shares[:, :cells].sum(axis=0))
    made = []
    for part in parts:
        low, high = labels[int(part[0])], labels[int(part[-1])]
        together = f"{_ends(low)[0]} to {_ends(high)[-1]}" if column.kind in ORDERED else f"{part.size} others"
        made.append(Bar(low if part.size == 1 else together, *_sums(shares, part), null=False))
    if column.null_cell is not None:
        made.append(Bar(labels[column.null_cell], *_sums(shares, np.array([column.null_cell])), null=True))
    return tuple(made)


def _ends(label: str) -> list[str]:
    """Return the first and the last value that a cell's label names."""
    return label.split(" to ")


def _neighbours(cells: int) -> list[Ints]:
    return list(np.array_split(np.arange(cells), min(cells, MOST_BARS)))


def _rarest_together(weight: npt.NDArray[np.float64]) -> list[Ints]:
    if weight.size <= MOST_BARS:
        return [np.array([cell]) for cell in range(weight.size)]
    often = np.argsort(-weight, kind="stable")
    kept = np.sort(often[: MOST_BARS - 1])
    return [*(np.array([cell]) for cell in kept), np.sort(often[MOST_BARS - 1 :])]


def _sums(shares: npt.NDArray[np.float64], part: Ints) -> tuple[float, float]:
    one, other = shares[:, part].sum(axis=1).tolist()
    return one, other


def _mean(column: Column, ticks: Ints) -> Result:
    if column.kind not in ORDERED:
        return NotComputable("the column has no order")
    values = ticks[ticks >= 0] / max(column.ticks - 1, 1)
    if not values.size:
        return NotComputable("every value is null")
    half = 1.959964 * float(values.std(ddof=1)) / values.size**0.5 if values.size > 1 else None
    mean = float(values.mean())
    return Figure(mean) if half is None else Figure(mean, max(0.0, mean - half), min(1.0, mean + half))


def _correlations(
    one: Column, other: Column, private: Ticks, synthetic: Ticks, groups: int
) -> tuple[Result, Result, Result]:
    if one.kind not in ORDERED or other.kind not in ORDERED:
        reason = NotComputable("one of the columns has no order")
        return reason, reason, reason
    both = [correlations(table[one.name], table[other.name], groups) for table in (private, synthetic)]
    each: list[Result] = [
        jackknife(float(found[0]), found[1:], low=-1.0, high=1.0)
        if found.size
        else NotComputable(f"a column does not vary in the {name} rows")
        for found, name in zip(both, ("private", "synthetic"), strict=True)
    ]
    size = min(found.size for found in both)
    if not size:
        return each[0], each[1], NotComputable("a column does not vary in one of the tables")
    moved = both[1][:size] - both[0][:size]
    return each[0], each[1], jackknife(float(moved[0]), moved[1:], low=-2.0, high=2.0)


def _inside(column: Column, cell: int, table: Ticks) -> Ticks:
    kept = column.cell_of_tick(table[column.name]) == cell
    return {name: values[kept] for name, values in table.items()}
