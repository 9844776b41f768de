"""Wasserstein distances between two tables, as the papers on Private Evolution define them.

Columns are scaled to [0, 1] by their declared range (the papers take the private table's), categories too, in their
order; rows with a null are left out. One column: exact. Several: optimal transport (POT) between seeded samples, where
a row moves by its Euclidean distance.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from accounting.schema import Column, Schema
from audits.pairs import Ticks
from audits.results import Figure, NotComputable, Result
from audits.utility.marginals import EMPTY

Floats = npt.NDArray[np.float64]


def euclidean_wasserstein(
    schema: Schema,
    real: Ticks,
    synthetic: Ticks,
    ways: int,
    rng: np.random.Generator,
    *,
    sample: int = 1000,
    most: int | None = None,
) -> Result:
    """Return the papers' mean distance over the marginals of ``ways`` columns, from 0 to √``ways``.

    Args:
        schema: of both tables.
        real: one table.
        synthetic: the other.
        ways: columns of a marginal: 1, 2 and 3 in the papers. One column is exact.
        rng: draws the samples.
        sample: rows of each table that enter a marginal of several columns.
        most: the most marginals, evenly spread over all of them; None for all.

    Source:
        arXiv:2606.08259; the metric of its public reference implementation.
    """
    groups = list(combinations(schema.columns, ways))
    if not groups:
        return NotComputable(f"the table has fewer than {ways} columns")
    if most is not None:
        groups = [groups[index * len(groups) // most] for index in range(most)] if most < len(groups) else groups
    tables = (real, synthetic) if ways == 1 else [_sampled(table, sample, rng) for table in (real, synthetic)]
    distances = []
    for group in groups:
        points = [_points(group, table) for table in tables]
        if all(len(found) for found in points):
            distances.append(line_distance(*(found[:, 0] for found in points)) if ways == 1 else _euclidean(points))
    return Figure(float(np.mean(distances))) if distances else EMPTY


def line_distance(one: Floats, other: Floats) -> float:
    """Return the exact 1-Wasserstein distance of two samples on a line: the area between distribution functions."""
    points = np.sort(np.concatenate([one, other]))
    at = points[:-1]
    first = np.searchsorted(np.sort(one), at, side="right") / one.size
    second = np.searchsorted(np.sort(other), at, side="right") / other.size
    return float((np.abs(first - second) * np.diff(points)).sum())


def _points(group: tuple[Column, ...], table: Ticks) -> Floats:
    """Return the rows without a null as points of the unit cube."""
    ticks = np.stack([table[column.name] for column in group], axis=1)
    kept = ticks[(ticks >= 0).all(axis=1)]
    scaled: Floats = kept / np.array([max(column.ticks - 1, 1) for column in group], dtype=np.float64)
    return scaled


def _euclidean(points: Sequence[Floats]) -> float:
    import ot

    weights = [np.full(len(found), 1 / len(found)) for found in points]
    return float(ot.emd2(weights[0], weights[1], ot.dist(points[0], points[1], metric="euclidean")))


def _sampled(table: Ticks, most: int, rng: np.random.Generator) -> Ticks:
    rows = next(iter(table.values())).size
    if rows <= most:
        return table
    kept = rng.choice(rows, most, replace=False)
    return {name: values[kept] for name, values in table.items()}
