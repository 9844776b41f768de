"""From weighed candidates to rows: resample them, and spread the copies a little."""

import numpy as np
import numpy.typing as npt

from accounting.queries import Coding
from accounting.schema import Schema
from mechanisms.tab_pe.space import Cells, line_of, moved

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LEAST_SPREAD = 100
"""Lines of fewer cells are not spread: their values may be heaped, and candidates cover them anyway."""


def binned(cells: Cells, schema: Schema, coding: Coding) -> dict[str, Ints]:
    """Return each column's bins under a coding, shape (rows,)."""
    result = {}
    for place, column in enumerate(schema.columns):
        mine = cells[:, place].astype(np.int64)
        result[column.name] = coding.bins[column.name][mine].astype(np.int64) if column.name in coding.bins else mine
    return result


def resample(
    candidates: Cells, weights: Floats, rows: int, rng: np.random.Generator
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Draw rows systematically along the candidates' order by cells: what is rounded off goes to a similar candidate.

    Returns:
        The candidates' numbers, shape (rows,), in random order, and whether each is a further copy. Each candidate
        occurs the whole number of times below or above its expectation.
    """
    order = np.lexsort(candidates.T[::-1])
    share = weights[order] if weights.sum() > 0 else np.ones(weights.size)
    edges = np.floor(np.cumsum(share) * (rows / share.sum()) + rng.random()).astype(np.int64)
    edges[np.flatnonzero(share)[-1] :] = rows  # rounding may leave the last edge just below
    counts = np.diff(np.minimum(edges, rows), prepend=0)
    numbers = np.repeat(order, counts)
    copies = np.ones(rows, dtype=bool)
    copies[np.cumsum(counts)[counts > 0] - counts[counts > 0]] = False
    shuffled = rng.permutation(rows)
    return numbers[shuffled], copies[shuffled]


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
