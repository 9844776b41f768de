"""Marginals: total variation, workload error, the k-marginal score with its yardstick, and correlations."""

from itertools import combinations

import numpy as np
import numpy.typing as npt

from accounting.schema import Schema
from audits.pairs import Ticks
from audits.results import Figure, NotComputable, Result

Ints = npt.NDArray[np.int64]
Clique = tuple[str, ...]

FULL_SCORE = 1000.0
EMPTY = NotComputable("one of the tables is empty")


def cells_of(schema: Schema, ticks: Ticks) -> dict[str, Ints]:
    """Return each column's cells."""
    return {column.name: column.cell_of_tick(ticks[column.name]).astype(np.int64) for column in schema.columns}


def marginal_distance(one: dict[str, Ints], other: dict[str, Ints], clique: Clique) -> float:
    """Return the total variation between two tables' shares over the cells of a clique; only cells that occur count."""
    rows = np.concatenate([np.stack([table[name] for name in clique], axis=1) for table in (one, other)])
    _, codes = np.unique(rows, axis=0, return_inverse=True)
    size = one[clique[0]].size
    first = np.bincount(codes.ravel()[:size], minlength=codes.max() + 1) / size
    second = np.bincount(codes.ravel()[size:], minlength=codes.max() + 1) / (rows.shape[0] - size)
    return float(np.abs(first - second).sum() / 2)


def variation(schema: Schema, real: Ticks, synthetic: Ticks, ways: int) -> Result:
    """Return the mean total variation over all marginals of ``ways`` columns: 0 for equal, 1 for disjoint tables."""
    one, other = cells_of(schema, real), cells_of(schema, synthetic)
    cliques = list(combinations(one, ways))
    problem = _problem(one, other, cliques, ways)
    if problem is not None:
        return problem
    return Figure(float(np.mean([marginal_distance(one, other, clique) for clique in cliques])))


def workload_error(schema: Schema, real: Ticks, synthetic: Ticks, workload: list[tuple[Clique, int]]) -> Result:
    """Return the weighted mean L1 distance of the workload's shares, from 0 to 2; weights are whole numbers."""
    one, other = cells_of(schema, real), cells_of(schema, synthetic)
    problem = _problem(one, other, [clique for clique, _ in workload], 1)
    if problem is not None:
        return problem
    total = sum(weight for _, weight in workload)
    return Figure(sum(2 * weight * marginal_distance(one, other, clique) for clique, weight in workload) / total)


def k_marginal_score(schema: Schema, real: Ticks, synthetic: Ticks, ways: int) -> Result:
    """Return 1000·(1 − mean total variation over all marginals of ``ways`` columns): 1000 for equal tables."""
    distance = variation(schema, real, synthetic, ways)
    return distance if isinstance(distance, NotComputable) else Figure(FULL_SCORE * (1 - distance.value))


def subsample_yardstick(schema: Schema, real: Ticks, score: float, ways: int, rng: np.random.Generator) -> Result:
    """Return the share of the real rows whose random subsample scores like ``score``, from a ladder of shares."""
    rows = next(iter(real.values())).size
    ladder = [share for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9) if share * rows >= 1]
    best: float | None = None
    for share in ladder:
        kept = rng.choice(rows, int(share * rows), replace=False)
        reached = k_marginal_score(schema, real, {name: values[kept] for name, values in real.items()}, ways)
        if isinstance(reached, NotComputable):
            return reached
        if reached.value <= score:
            best = share
    return NotComputable("even the smallest subsample scores higher") if best is None else Figure(best)


def correlation_error(schema: Schema, real: Ticks, synthetic: Ticks) -> Result:
    """Return the mean absolute difference of Pearson correlations over pairs of ordered columns, nulls left out."""
    ordered = [column.name for column in schema.columns if column.kind in {"integer", "real", "date", "datetime"}]
    differences = []
    for first, second in combinations(ordered, 2):
        both = [_correlation(table[first], table[second]) for table in (real, synthetic)]
        if both[0] is not None and both[1] is not None:
            differences.append(abs(both[0] - both[1]))
    if not differences:
        return NotComputable("no two ordered columns vary in both tables")
    return Figure(float(np.mean(differences)))


def _correlation(one: Ints, other: Ints) -> float | None:
    kept = (one >= 0) & (other >= 0)
    if np.unique(one[kept]).size < 2 or np.unique(other[kept]).size < 2:
        return None
    return float(np.corrcoef(one[kept], other[kept])[0, 1])


def _problem(one: dict[str, Ints], other: dict[str, Ints], cliques: list[Clique], ways: int) -> NotComputable | None:
    if not cliques:
        return NotComputable(f"the table has fewer than {ways} columns")
    if not next(iter(one.values())).size or not next(iter(other.values())).size:
        return EMPTY
    return None
