"""Wasserstein distances between two tables, as the papers on Private Evolution define them.

Columns are scaled to [0, 1] by their declared range (the papers take the private table's), categories too, in their
order; rows with a null are left out. One column: exact. Several: optimal transport (POT) between seeded samples, where
a row moves by its Euclidean distance.

A distance of samples lies above that of the tables, by no more than the samples lie from their own tables (triangle
inequality), which is less than one half of a sample lies from its other half (Jensen). Its variance is that of the
dual potentials. Both make the interval, whose lower end therefore often is 0.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from accounting.schema import Column, Schema
from audits.pairs import Ticks, row_count
from audits.results import Figure, NotComputable, Result
from audits.utility.intervals import NORMAL_95
from audits.utility.marginals import EMPTY

Floats = npt.NDArray[np.float64]
Group = tuple[Column, ...]


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

    Returns:
        The mean; where a table was sampled, with the large-sample interval of the whole tables' distance at 95 %.

    Source:
        arXiv:2606.08259; the metric of its public reference implementation. Potentials: del Barrio and Loubes 2019,
        Central limit theorems for empirical transportation cost in general dimension.
    """
    groups = list(combinations(schema.columns, ways))
    if not groups:
        return NotComputable(f"the table has fewer than {ways} columns")
    if most is not None:
        groups = [groups[index * len(groups) // most] for index in range(most)] if most < len(groups) else groups
    tables = (real, synthetic) if ways == 1 else [_sampled(table, sample, rng) for table in (real, synthetic)]
    groups = [group for group in groups if all(_complete(group, table).any() for table in tables)]
    if not groups:
        return EMPTY
    if ways == 1:
        return Figure(float(np.mean([line_distance(*(_points(g, t)[:, 0] for t in tables)) for g in groups])))
    distance, potentials = _transport(groups, *tables)
    sampled = [kept is not table for kept, table in zip(tables, (real, synthetic), strict=True)]
    if not any(sampled):
        return Figure(distance)
    excess, variance = 0.0, 0.0
    for table, potential, drawn in zip(tables, potentials, sampled, strict=True):
        if drawn:
            excess += _transport(groups, *_halves(table))[0]
            variance += float(potential.var()) / potential.size
    deviation = NORMAL_95 * math.sqrt(variance)
    return Figure(distance, max(0.0, distance - excess - deviation), distance + deviation)


def line_distance(one: Floats, other: Floats) -> float:
    """Return the exact 1-Wasserstein distance of two samples on a line: the area between distribution functions."""
    points = np.sort(np.concatenate([one, other]))
    at = points[:-1]
    first = np.searchsorted(np.sort(one), at, side="right") / one.size
    second = np.searchsorted(np.sort(other), at, side="right") / other.size
    return float((np.abs(first - second) * np.diff(points)).sum())


def _transport(groups: Sequence[Group], one: Ticks, other: Ticks) -> tuple[float, list[Floats]]:
    """Return the mean distance over marginals, and of each table's rows the potentials' mean over marginals."""
    import ot

    distances, potentials = [], [np.zeros(row_count(table)) for table in (one, other)]
    for group in groups:
        points = [_points(group, table) for table in (one, other)]
        if not all(len(found) for found in points):  # a half of nulls only may be as far away as can be
            distances.append(math.sqrt(len(group)))
            continue
        weights = [np.full(len(found), 1 / len(found)) for found in points]
        distance, log = ot.emd2(*weights, ot.dist(*points, metric="euclidean"), log=True)
        distances.append(float(distance))
        for table, potential, dual in zip((one, other), potentials, (log["u"], log["v"]), strict=True):
            share = potential.size / len(dual) / len(groups)
            potential[_complete(group, table)] += (dual - dual.mean()) * share
    return float(np.mean(distances)), potentials


def _complete(group: Group, table: Ticks) -> npt.NDArray[np.bool_]:
    """Say which rows have no null in a marginal's columns."""
    complete: npt.NDArray[np.bool_] = np.all([table[column.name] >= 0 for column in group], axis=0)
    return complete


def _points(group: Group, table: Ticks) -> Floats:
    """Return the rows without a null as points of the unit cube."""
    kept = np.stack([table[column.name] for column in group], axis=1)[_complete(group, table)]
    scaled: Floats = kept / np.array([max(column.ticks - 1, 1) for column in group], dtype=np.float64)
    return scaled


def _sampled(table: Ticks, most: int, rng: np.random.Generator) -> Ticks:
    if row_count(table) <= most:
        return table
    kept = rng.choice(row_count(table), most, replace=False)
    return {name: values[kept] for name, values in table.items()}


def _halves(table: Ticks) -> tuple[Ticks, Ticks]:
    """Split a sample, whose rows are in random order."""
    half = row_count(table) // 2
    first, second = (
        {name: values[rows] for name, values in table.items()} for rows in (slice(half), slice(half, None))
    )
    return first, second
