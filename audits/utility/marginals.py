"""Marginals: total variation, workload error, the k-marginal score with its yardstick, and correlations."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from accounting.schema import Schema
from audits.pairs import Ticks, row_count
from audits.results import Figure, NotComputable, Result
from audits.utility.intervals import group_count, groups_of, jackknife

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Clique = tuple[str, ...]

FULL_SCORE = 1000.0
ORDERED = frozenset({"integer", "real", "date", "datetime"})
EMPTY = NotComputable("one of the tables is empty")

_DENSE = 2**20
_CODE_LIMIT = 2**62
_LADDER = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Compared:
    """Two tables of one schema, and how far apart the shares of a clique's cells are.

    Every distance comes with those without each group of rows, from which :func:`jackknife` makes an interval.

    Args:
        schema: of both.
        real: ticks of the one; neither table is empty.
        synthetic: ticks of the other.
        intervals: whether distances without each group are wanted.
    """

    def __init__(self, schema: Schema, real: Ticks, synthetic: Ticks, *, intervals: bool = True) -> None:
        self._known: dict[Clique, Floats] = {}
        self._tables: list[dict[str, Ints]] = []
        self._ends: list[Ints] = []
        self._sizes = {column.name: column.cells for column in schema.columns}
        self.groups = group_count(row_count(real), row_count(synthetic)) if intervals else 0
        for table in (real, synthetic):
            groups = groups_of(row_count(table), max(self.groups, 1))
            order = np.argsort(groups, kind="stable")
            self._ends.append(np.cumsum(np.bincount(groups)))
            cells = {column.name: column.cell_of_tick(table[column.name]) for column in schema.columns}
            self._tables.append({name: values[order].astype(np.int64) for name, values in cells.items()})

    def distances(self, clique: Clique) -> Floats:
        """Return the total variation of a clique's shares; then, for each group, that without the group."""
        if clique not in self._known:
            self._known[clique] = self._distances(clique)
        return self._known[clique]

    def _distances(self, clique: Clique) -> Floats:
        codes, size = self._codes(clique)
        sides = np.split(codes, [int(self._ends[0][-1])])
        whole = [np.bincount(side, minlength=size) for side in sides]
        found = [_variation(*whole)]
        for group in range(self.groups):
            parts = [
                side[(ends[group - 1] if group else 0) : ends[group]]
                for side, ends in zip(sides, self._ends, strict=True)
            ]
            found.append(_variation(*(a - np.bincount(b, minlength=size) for a, b in zip(whole, parts, strict=True))))
        return np.array(found)

    def mean(self, cliques: Sequence[Clique], weights: Sequence[int] | None = None) -> Floats:
        """Return the weighted mean of distances over cliques."""
        return np.average([self.distances(clique) for clique in cliques], axis=0, weights=weights)

    def _codes(self, clique: Clique) -> tuple[Ints, int]:
        """Number the rows of both tables, one after the other, by their cell of the clique."""
        codes, size = np.zeros(sum(ends[-1] for ends in self._ends), dtype=np.int64), 1
        for name in clique:
            if size * self._sizes[name] > _CODE_LIMIT:
                codes, size = _renumbered(codes)
            codes = codes * self._sizes[name] + np.concatenate([table[name] for table in self._tables])
            size *= self._sizes[name]
        return (codes, size) if size <= _DENSE else _renumbered(codes)


def variation(schema: Schema, real: Ticks, synthetic: Ticks, ways: int, compared: Compared | None = None) -> Result:
    """Return the mean total variation over all marginals of ``ways`` columns: 0 for equal, 1 for disjoint tables.

    Args:
        schema: of both tables.
        real: ticks of the one.
        synthetic: ticks of the other.
        ways: the number of columns.
        compared: the two tables compared already, whose distances are kept; None compares them here.
    """
    cliques = list(combinations([column.name for column in schema.columns], ways))
    problem = _problem(real, synthetic, cliques, ways)
    if problem is not None:
        return problem
    return bounded((compared or Compared(schema, real, synthetic)).mean(cliques))


def bounded(distances: Floats) -> Figure:
    """Turn a distance from 0 to 1, and those without each group, into a figure."""
    return jackknife(float(distances[0]), distances[1:], high=1.0)


def workload_error(
    schema: Schema,
    real: Ticks,
    synthetic: Ticks,
    workload: Sequence[tuple[Clique, int]],
    compared: Compared | None = None,
) -> Result:
    """Return the weighted mean L1 distance of the workload's shares, from 0 to 2; weights are whole numbers."""
    cliques, weights = [clique for clique, _ in workload], [weight for _, weight in workload]
    problem = _problem(real, synthetic, cliques, 1)
    if problem is not None:
        return problem
    distances = 2 * (compared or Compared(schema, real, synthetic)).mean(cliques, weights)
    return jackknife(float(distances[0]), distances[1:], high=2.0)


def score_of(distance: Result) -> Result:
    """Return the k-marginal score of a mean total variation over all k-way marginals: 1000 for equal tables."""
    if isinstance(distance, NotComputable):
        return distance
    ends = (None if end is None else FULL_SCORE * (1 - end) for end in (distance.high, distance.low))
    return Figure(FULL_SCORE * (1 - distance.value), *ends)


def subsample_yardstick(schema: Schema, real: Ticks, score: float, ways: int, rng: np.random.Generator) -> Result:
    """Return the share of the real rows whose random subsample scores like ``score``.

    Returns:
        The largest share of a ladder that scores no higher; the interval ends at the next share, which does.
    """
    rows = row_count(real)
    best: float | None = None
    for share in (share for share in _LADDER if share * rows >= 1):
        kept = rng.choice(rows, int(share * rows), replace=False)
        part = {name: values[kept] for name, values in real.items()}
        reached = score_of(variation(schema, real, part, ways, Compared(schema, real, part, intervals=False)))
        if isinstance(reached, NotComputable):
            return reached
        if reached.value > score:
            return (
                NotComputable("even the smallest subsample scores higher")
                if best is None
                else Figure(best, best, share)
            )
        best = share
    return NotComputable("the table has no rows to draw from") if best is None else Figure(best, best, 1.0)


def correlation_error(schema: Schema, real: Ticks, synthetic: Ticks) -> Result:
    """Return the mean absolute difference of Pearson correlations over pairs of ordered columns, nulls left out."""
    groups = group_count(row_count(real), row_count(synthetic))
    ordered = [column.name for column in schema.columns if column.kind in ORDERED]
    differences = []
    for first, second in combinations(ordered, 2):
        one, other = (correlations(table[first], table[second], groups) for table in (real, synthetic))
        if one.size and other.size:
            size = min(one.size, other.size)
            differences.append(np.abs(one[:size] - other[:size]))
    if not differences:
        return NotComputable("no two ordered columns vary in both tables")
    size = min(difference.size for difference in differences)
    mean = np.mean([difference[:size] for difference in differences], axis=0)
    return jackknife(float(mean[0]), mean[1:], high=2.0)


def correlations(one: Ints, other: Ints, groups: int) -> Floats:
    """Return the Pearson correlation of two columns of a table, nulls left out; then those without each group of rows.

    Returns:
        Nothing where a column does not vary; the first number alone where it does not vary without some group.
    """
    kept = (one >= 0) & (other >= 0)
    if np.unique(one[kept]).size < 2 or np.unique(other[kept]).size < 2:
        return np.empty(0)
    group = groups_of(one.size, max(groups, 1))[kept]
    x, y = ((column[kept] - column[kept].mean()) / column[kept].std() for column in (one, other))
    sums = np.array([np.bincount(group, part, max(groups, 1)) for part in (np.ones_like(x), x, y, x * x, y * y, x * y)])
    whole = sums.sum(axis=1, keepdims=True)
    n, sx, sy, sxx, syy, sxy = np.concatenate([whole, whole - sums], axis=1) if groups else whole
    spread = (sxx - sx**2 / np.maximum(n, 1)) * (syy - sy**2 / np.maximum(n, 1))
    if (spread[1:] <= 1e-9 * spread[0]).any():
        n, sx, sy, sxy, spread = n[:1], sx[:1], sy[:1], sxy[:1], spread[:1]
    found: Floats = np.clip((sxy - sx * sy / n) / np.sqrt(spread), -1.0, 1.0)
    return found


def _variation(one: Ints, other: Ints) -> float:
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)


def _renumbered(codes: Ints) -> tuple[Ints, int]:
    values, numbers = np.unique(codes, return_inverse=True)
    return numbers.ravel(), values.size


def _problem(real: Ticks, synthetic: Ticks, cliques: Sequence[Clique], ways: int) -> NotComputable | None:
    if not cliques:
        return NotComputable(f"the table has fewer than {ways} columns")
    return None if row_count(real) and row_count(synthetic) else EMPTY
