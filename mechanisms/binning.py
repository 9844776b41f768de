"""Form the bins of a column of many cells from its noisy one-way marginal, which is paid for: they cost nothing more.

Values with an order are cut at equal noisy mass; a heavy one (40 hours a week for half the rows) has a bin of its own.
Categories have no order: those too rare to stand out from the noise are merged into one bin. The null cell always has
a bin of its own, and no bin holds cells that the schema's constraints tell apart.
"""

import numpy as np
import numpy.typing as npt

from accounting.schema import Column
from mechanisms.concentration import upper_quantile
from mechanisms.projection import to_simplex

Ints = npt.NDArray[np.int64]
Bins = npt.NDArray[np.int32]

CATEGORIES_A_BIN = 16
"""How many categories may keep a bin of their own for each bin that an ordered column may have."""

_CELLS_A_BIN = 2
"""A column of no more cells than this for each bin is modelled as it is."""

_ORDERED_KINDS = frozenset({"integer", "real", "date", "datetime"})


def is_coded(column: Column, bins: int) -> bool:
    """Say whether a column is modelled in bins: it has more than two cells for each bin, and null."""
    return column.kind in {*_ORDERED_KINDS, "categorical"} and _value_cells(column) > _CELLS_A_BIN * bins


def most_cells(column: Column, bins: int, segments: Bins) -> int:
    """Return the most cells that a column has in the model, known without data.

    Args:
        column: the column.
        bins: as for :func:`bins_of`.
        segments: as for :func:`bins_of`.
    """
    if not is_coded(column, bins):
        return column.cells
    if column.kind in _ORDERED_KINDS:
        return bins + int(np.count_nonzero(np.diff(segments))) + int(column.nullable)
    kept = CATEGORIES_A_BIN * bins + int(segments.max()) + 1
    return min(kept, _value_cells(column)) + int(column.nullable)


def bins_of(column: Column, table: Ints, *, total: float, sigma: float, bins: int, segments: Bins) -> Bins:
    """Number the bin of each cell of a coded column.

    Args:
        column: the column.
        table: its noisy one-way marginal.
        total: the estimated number of rows, above 0.
        sigma: the standard deviation of the noise on each cell, in rows.
        bins: the most bins for the values of an ordered column; a categorical one keeps ``CATEGORIES_A_BIN`` times as
            many at most.
        segments: the number of each cell's segment: constraints tell cells of different segments apart, and a bin holds
            cells of one segment only.

    Returns:
        int32, one number a cell, in the order in which the bins first occur.
    """
    if column.kind in _ORDERED_KINDS:
        return equal_mass_bins(column, table, total, bins, segments)
    return merged_categories(column, table, sigma, bins, segments)


def equal_mass_bins(column: Column, table: Ints, total: float, bins: int, segments: Bins) -> Bins:
    """Number the bin of each cell: heavy cells alone, the others cut in order at equal mass, null alone.

    A bin that would hold cells of several segments is split.
    """
    ordered = _value_cells(column)
    mass = to_simplex(table, total)[:ordered] + total * 1e-6 / ordered  # empty cells are cut by their number
    heavy = np.zeros(ordered, dtype=bool)
    while True:
        free = bins - int(heavy.sum())
        target = mass[~heavy].sum() / max(free, 1)
        more = ~heavy & (mass >= target)
        if free <= 1 or not more.any():
            break
        heavy |= _largest(mass, more, free - 1)
    light = np.flatnonzero(~heavy)
    middle = np.cumsum(mass[light]) - mass[light] / 2
    labels = np.empty(ordered, dtype=np.int64)
    labels[light] = np.minimum((middle / target).astype(np.int64), free - 1)
    labels[heavy] = bins + np.arange(int(heavy.sum()))
    return _numbered(labels * (int(segments.max()) + 1) + segments[:ordered], column)


def merged_categories(column: Column, table: Ints, sigma: float, bins: int, segments: Bins) -> Bins:
    """Number the bin of each cell: the largest categories that stand out from the noise alone, the others together.

    The others of each segment share a bin. The bar is one σ, and for many categories so high that of empty ones noise
    would lift only as many above it as a column may have without being coded.
    """
    counts = table[: _value_cells(column)]
    bar = sigma * max(1.0, upper_quantile(_CELLS_A_BIN * bins / counts.size))
    alone = _largest(counts, counts >= bar, CATEGORIES_A_BIN * bins)
    labels = segments[: counts.size].astype(np.int64)
    labels[alone] = labels.max() + 1 + np.arange(int(alone.sum()))
    return _numbered(labels, column)


def _numbered(labels: Ints, column: Column) -> Bins:
    """Number labels of cells from 0 in the order in which they first occur; null comes last, alone."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))[inverse]
    if column.null_cell is not None:
        numbers = np.append(numbers, numbers.max() + 1)
    return numbers.astype(np.int32)


def _largest(
    mass: npt.NDArray[np.integer] | npt.NDArray[np.float64], among: npt.NDArray[np.bool_], most: int
) -> npt.NDArray[np.bool_]:
    chosen = np.flatnonzero(among)
    chosen = chosen[np.argsort(-mass[chosen], kind="stable")[:most]]
    result = np.zeros(mass.size, dtype=bool)
    result[chosen] = True
    return result


def _value_cells(column: Column) -> int:
    return column.cells - int(column.nullable)
