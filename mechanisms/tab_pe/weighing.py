"""Weigh candidates by everything paid for: the votes of all rounds and, where wanted, the noisy tables, in one fit.

A paid answer is a vector of noisy counts y to which each row of the private table adds in a known way: a row adds 1 to
its cell of a table, and 1 to each candidate of a round that it votes for. A weighted candidate w does the same. The
weights minimise

    Σ (counts of w − y)² / (2σ²·p) + Σ (w·log(w/b) − w + b)

over all paid answers: near what was paid for as far as its noise allows, and near equal weights b otherwise. So votes
of noise alone move nothing, and what the rounds say together is used to the end. It is post-processing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from accounting.nearest import nearest
from accounting.nearest_tree import fastest
from accounting.queries import Clique, Votes
from accounting.schema import Schema
from mechanisms.noisy import NoisyTable
from mechanisms.tab_pe.space import Cells

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

VOTES_PRIOR = 0.2
"""p for votes. Measured: 0.1 to 0.3 are alike; 1 trusts four rounds too little, 0.03 fits their noise."""
TABLES_PRIOR = 0.1
"""p for tables, whose cells hold many rows each."""

_PASSES = 100
_FARTHEST = 30.0
"""No weight is more than e^30 times its equal share, in either direction; it keeps the fit finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A paid answer, as counts to which candidates add.

    Args:
        places: the counts to which each candidate adds 1, shape (candidates, additions); −1 for none.
        values: the noisy counts.
        variance: the variance of each count's noise, times p.
    """

    places: Ints
    values: Floats
    variance: Floats


def of_votes(query: Votes, values: Ints, candidates: Cells, schema: Schema) -> Evidence:
    """Say how candidates would have voted in a round that was paid for."""
    columns = {column.name: candidates[:, place] for place, column in enumerate(schema.columns)}
    places = np.full((len(candidates), query.votes), -1)
    rank = np.zeros(len(candidates), dtype=np.int64)
    for rows, found in nearest(query, columns, len(candidates), schema, searcher=fastest):
        places[rows, rank[rows]] = found
        rank[rows] += 1
    variance = np.full(values.size, VOTES_PRIOR * float(query.variance))
    return Evidence(places, values.astype(np.float64), variance)


def of_table(table: NoisyTable, bins: Mapping[str, Ints]) -> Evidence:
    """Say in which cell of a noisy table each candidate lies."""
    places = numbers_in(table.clique, bins, table.values.shape)[:, None]
    variance: Floats = TABLES_PRIOR * float(table.variance) * table.draws.ravel().astype(np.float64)
    return Evidence(places, table.values.ravel().astype(np.float64), variance)


def numbers_in(clique: Clique, columns: Mapping[str, Ints], shape: tuple[int, ...]) -> Ints:
    """Number rows by their cell in a clique's table."""
    return np.ravel_multi_index(tuple(columns[name] for name in clique), shape)


def weigh(size: int, total: float, evidence: Sequence[Evidence]) -> Floats:
    """Weigh candidates by paid answers.

    The dual is smooth and convex in one number θ a count: with w = b·exp(Σ θ over a candidate's counts), minimise
    Σ w − θ·y + Σ p·σ²·θ²/2. It is solved by L-BFGS, preconditioned by its diagonal at the start.

    Args:
        size: the number of candidates.
        total: the estimated number of rows, above 0, which equal weights sum to.
        evidence: the paid answers; without any, the weights are equal.

    Returns:
        Weights in rows, shape (candidates,), none negative.
    """
    base = total / max(size, 1)
    if not evidence or not size:
        return np.full(size, base)
    from scipy.optimize import minimize

    starts = np.cumsum([0, *(item.values.size for item in evidence)])
    values = np.concatenate([item.values for item in evidence])
    variance = np.concatenate([item.variance for item in evidence])
    counts = values.size  # also the number of the spare count, for a candidate that adds to none
    places = np.concatenate(
        [
            np.where(item.places < 0, counts, item.places + start)
            for item, start in zip(evidence, starts[:-1], strict=True)
        ],
        axis=1,
    )
    flat = places.ravel()

    def counted(weights: Floats) -> Floats:
        added = np.bincount(flat, weights=np.repeat(weights, places.shape[1]), minlength=counts + 1)
        return added[:counts].astype(np.float64, copy=False)

    def weights_of(theta: Floats) -> Floats:
        exponent = np.append(theta, 0.0)[places].sum(axis=1)
        weights: Floats = base * np.exp(np.clip(exponent, -_FARTHEST, _FARTHEST))
        return weights

    scale = 1 / np.sqrt(counted(np.full(size, base)) + variance)

    def dual(scaled: Floats) -> tuple[float, Floats]:
        theta = scaled * scale
        weights = weights_of(theta)
        loss = float(weights.sum() - theta @ values + (variance * theta * theta).sum() / 2)
        return loss, (counted(weights) - values + variance * theta) * scale

    found = minimize(dual, np.zeros(counts), jac=True, method="L-BFGS-B", options={"maxiter": _PASSES})
    return weights_of(found.x * scale)
