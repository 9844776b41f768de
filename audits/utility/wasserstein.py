"""Wasserstein distances between two tables, columns scaled to [0, 1] by their declared range.

One column: exact. Several: optimal transport (POT) between seeded samples, where the cost of moving a row is the sum of
its columns' distances. Unordered values that differ are 1 apart, and so are a null and any value.

``euclidean_wasserstein`` is the distance of the papers on Private Evolution, for comparison with their tables: every
column is a line, categories too, in their order; a row moves by its Euclidean distance; rows with a null are left out.
Where the papers scale by the private table's range, the declared one stands here.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from accounting.schema import Column, Schema
from audits.pairs import Ticks
from audits.results import Figure, NotComputable, Result
from audits.utility.marginals import EMPTY, ORDERED

Floats = npt.NDArray[np.float64]

SAMPLE = 500


def wasserstein(
    schema: Schema, real: Ticks, synthetic: Ticks, ways: int, rng: np.random.Generator, *, sample: int = SAMPLE
) -> Result:
    """Return the mean distance over all marginals of ``ways`` columns, from 0 to ``ways``."""
    if not next(iter(real.values())).size or not next(iter(synthetic.values())).size:
        return EMPTY
    groups = list(combinations(schema.columns, ways))
    if not groups:
        return NotComputable(f"the table has fewer than {ways} columns")
    if ways == 1:
        return Figure(float(np.mean([one_way(c, real[c.name], synthetic[c.name]) for (c,) in groups])))
    kept = [_sampled(table, sample, rng) for table in (real, synthetic)]
    return Figure(float(np.mean([_transport(group, *kept) for group in groups])))


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


def one_way(column: Column, real: npt.NDArray[np.int64], synthetic: npt.NDArray[np.int64]) -> float:
    """Return the exact distance of one column; a column with nulls is a mixture whose null share is 1 apart."""
    if column.kind not in ORDERED:
        values = np.union1d(real, synthetic)
        shares = [np.array([(table == value).mean() for value in values]) for table in (real, synthetic)]
        return float(np.abs(shares[0] - shares[1]).sum() / 2)
    scale = max(column.ticks - 1, 1)
    parts = [table[table >= 0] / scale for table in (real, synthetic)]
    nulls = [1 - part.size / table.size for part, table in zip(parts, (real, synthetic), strict=True)]
    if not parts[0].size or not parts[1].size:
        return abs(nulls[0] - nulls[1])
    return abs(nulls[0] - nulls[1]) + (1 - max(nulls)) * line_distance(*parts)


def line_distance(one: Floats, other: Floats) -> float:
    """Return the exact 1-Wasserstein distance of two samples on a line: the area between distribution functions."""
    points = np.sort(np.concatenate([one, other]))
    at = points[:-1]
    first = np.searchsorted(np.sort(one), at, side="right") / one.size
    second = np.searchsorted(np.sort(other), at, side="right") / other.size
    return float((np.abs(first - second) * np.diff(points)).sum())


def cost_matrix(group: tuple[Column, ...], one: Ticks, other: Ticks) -> Floats:
    """Return the cost of moving each row of one table to each row of the other."""
    cost = np.zeros((next(iter(one.values())).size, next(iter(other.values())).size))
    for column in group:
        a, b = one[column.name][:, None], other[column.name][None, :]
        apart = (a != b).astype(np.float64)
        if column.kind in ORDERED:
            apart = np.where((a < 0) | (b < 0), apart, np.abs(a - b) / max(column.ticks - 1, 1))
        cost += apart
    return cost


def _transport(group: tuple[Column, ...], one: Ticks, other: Ticks) -> float:
    import ot

    cost = cost_matrix(group, one, other)
    weights = [np.full(size, 1 / size) for size in cost.shape]
    return float(ot.emd2(weights[0], weights[1], cost, numItermax=1_000_000))


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
