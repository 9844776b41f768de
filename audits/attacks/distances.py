"""Nearest synthetic rows: the mean over columns of scaled differences, 1 for unequal categories and for nulls."""

import numpy as np
import numpy.typing as npt

from accounting.schema import Column, Schema
from audits.pairs import Ticks
from audits.utility.marginals import ORDERED

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_BLOCK = 2**22


def nearest(schema: Schema, rows: Ticks, synthetic: Ticks, names: tuple[str, ...]) -> tuple[Floats, Ints]:
    """Return for each row the distance to its nearest synthetic row over some columns, and that row's number."""
    columns = tuple(schema.column(name) for name in names)
    count = next(iter(rows.values())).size
    step = max(1, _BLOCK // max(1, next(iter(synthetic.values())).size))
    distances, places = np.empty(count), np.empty(count, dtype=np.int64)
    for start in range(0, count, step):
        block = {name: rows[name][start : start + step] for name in names}
        cost = cost_matrix(columns, block, synthetic) / len(columns)
        places[start : start + step] = cost.argmin(axis=1)
        distances[start : start + step] = cost.min(axis=1)
    return distances, places


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


def sampled(table: Ticks, most: int, rng: np.random.Generator) -> Ticks:
    """Return at most some rows, without repetition."""
    count = next(iter(table.values())).size
    kept = rng.permutation(count)[:most]
    return {name: values[kept] for name, values in table.items()}


def row_count(table: Ticks) -> int:
    """Return the number of rows."""
    return int(next(iter(table.values())).size)
