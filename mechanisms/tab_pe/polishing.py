"""From the last candidates to rows: reweight them to the paid tables, resample, and spread the copies a little."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from accounting.queries import Clique, Coding
from accounting.schema import Schema
from mechanisms.noisy import NoisyTable
from mechanisms.projection import apportion, to_simplex
from mechanisms.tab_pe.space import Cells, line_of, moved

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_STEP = 0.5
_HEAVIEST = 30.0
"""No candidate gets more than this many times the mean weight."""
_LEAST_SPREAD = 100
"""Lines of fewer cells are not spread: their values may be heaped, and candidates cover them anyway."""


def binned(cells: Cells, schema: Schema, coding: Coding) -> dict[str, Ints]:
    """Return each column's bins under a coding, shape (rows,)."""
    result = {}
    for place, column in enumerate(schema.columns):
        mine = cells[:, place].astype(np.int64)
        result[column.name] = coding.bins[column.name][mine].astype(np.int64) if column.name in coding.bins else mine
    return result


def numbers_in(clique: Clique, columns: dict[str, Ints], shape: tuple[int, ...]) -> Ints:
    """Number rows by their cell in a clique's table."""
    return np.ravel_multi_index(tuple(columns[name] for name in clique), shape)


def reweight(columns: dict[str, Ints], tables: Sequence[NoisyTable], total: float, steps: int) -> Floats:
    """Weigh candidates so that their weighted tables come near the noisy ones: damped proportional fitting.

    A cell's ratio is drawn towards 1 by the noise of the cell, so that cells of pure noise move nothing.

    Args:
        columns: the candidates' bins.
        tables: the noisy tables at these bins.
        total: the estimated number of rows.
        steps: passes over all tables; 0 leaves equal weights.

    Returns:
        Weights, shape (candidates,), of mean 1.
    """
    size = next(iter(columns.values())).size
    weights = np.ones(size)
    prepared = []
    for table in tables:
        goal = to_simplex(table.values, total).ravel() * (size / total)
        blur = table.sigma * (size / total)
        prepared.append((numbers_in(table.clique, columns, table.values.shape), goal, blur))
    for _ in range(steps):
        for numbers, goal, blur in prepared:
            now = np.bincount(numbers, weights=weights, minlength=goal.size)
            ratio = (goal + blur) / (now + blur)
            weights *= ratio[numbers] ** _STEP
        weights *= size / weights.sum()
        np.minimum(weights, _HEAVIEST, out=weights)
    return weights


def resample(weights: Floats, rows: int, rng: np.random.Generator) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Draw rows systematically: each candidate the whole number of times below or above its expectation.

    Returns:
        The candidates' numbers, shape (rows,), in random order, and whether each is a further copy.
    """
    counts = apportion(weights, rows, rng)
    numbers = np.repeat(np.arange(weights.size), counts)
    copies = np.ones(rows, dtype=bool)
    copies[np.cumsum(counts)[counts > 0] - counts[counts > 0]] = False
    order = rng.permutation(rows)
    return numbers[order], copies[order]


def spread(
    cells: Cells, copies: npt.NDArray[np.bool_], schema: Schema, share: float, rng: np.random.Generator
) -> Cells:
    """Move further copies along every long line by at most a share of it; cells beside a line stay."""
    result = cells.copy()
    for place, column in enumerate(schema.columns):
        line = line_of(column)
        if share > 0 and line is not None and line.cells.size >= _LEAST_SPREAD:
            result[copies, place] = moved(cells[copies, place], line, share, rng)
    return result
