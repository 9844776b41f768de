"""Error bounds at no cost: how far the released rows may be from the private table, marginal by marginal.

The bounds follow from paid answers and the released rows alone. They hold for the private table as the schema and the
unit leave it (truncated, cast), counted at the model's bins.

Source: McKenna, Mullins, Sheldon and Miklau 2022 (arXiv:2201.12677), section 6; sharper concentration here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from accounting.canonical import Json
from accounting.queries import Clique
from mechanisms.concentration import noise_norm, sum_above
from mechanisms.noisy import NoisyTable
from mechanisms.offers import Offer, Offers

Floats = npt.NDArray[np.float64]
Basis = Literal["measured", "offered", "total"]

CONFIDENCE = 0.95
_TOTAL_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class MarginalBound:
    """A bound on Σ |private count − scale · released count| over a marginal's cells, in rows.

    Args:
        columns: the marginal.
        cells: its number of cells.
        basis: what gives the bound: "measured" marginals that hold this one, the choices that it was "offered" in, or
            the "total" alone, which holds for any table.
        l1: holds for this marginal with the stated confidence.
        l1_simultaneous: all of these hold together with the stated confidence.
    """

    columns: Clique
    cells: int
    basis: Basis
    l1: float
    l1_simultaneous: float


@dataclass(frozen=True, slots=True)
class ErrorBounds:
    """Bounds for every marginal of the workload and its parts.

    Args:
        confidence: the probability, over the noise, that a bound holds.
        scale: what a released count is multiplied by; 1 unless another number of rows was declared.
        total: the noisy number of rows, at least 1.
        marginals: one bound each.
    """

    confidence: float
    scale: float
    total: float
    marginals: tuple[MarginalBound, ...]

    def rows(self) -> list[dict[str, Json]]:
        """Return one record a marginal for a table; shares are total variation distances, L1/(2·total)."""
        return [
            {
                "columns": " × ".join(bound.columns),
                "cells": bound.cells,
                "basis": bound.basis,
                "l1": round(bound.l1, 3),
                "l1_simultaneous": round(bound.l1_simultaneous, 3),
                "share": round(bound.l1 / (2 * self.total), 6),
                "share_simultaneous": round(bound.l1_simultaneous / (2 * self.total), 6),
            }
            for bound in self.marginals
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Released:
    """The released rows at the model's bins.

    Args:
        columns: for each column its bins, shape (rows,).
        sizes: the number of bins of each column.
        scale: what a released count is multiplied by before it is compared.
    """

    columns: Mapping[str, npt.NDArray[np.integer]]
    sizes: Mapping[str, int]
    scale: float

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(next(iter(self.columns.values())).size)

    def counted(self, cliques: Sequence[Clique]) -> Iterator[tuple[Clique, npt.NDArray[np.int64]]]:
        """Count the rows in every clique's table; neighbours in the list share the numbers of leading columns."""
        for leading, group in groupby(cliques, key=lambda clique: clique[:-1]):
            numbers = np.zeros(self.rows, dtype=np.int64)
            for name in leading:
                numbers = numbers * self.sizes[name] + self.columns[name]
            for clique in group:
                shape = tuple(self.sizes[name] for name in clique)
                index = numbers * shape[-1] + self.columns[clique[-1]]
                yield clique, np.bincount(index, minlength=prod(shape)).reshape(shape)


def error_bounds(
    cliques: Sequence[Clique],
    one_ways: Sequence[NoisyTable],
    later: Sequence[NoisyTable],
    offers: Offers,
    released: Released,
    *,
    total: float,
) -> ErrorBounds:
    """Bound the error of the released rows on every clique.

    Args:
        cliques: the marginals wanted, each in schema order.
        one_ways: the one-way marginals of the first question.
        later: the tables measured since, in order.
        offers: what the run's choices say of their candidates.
        released: the released rows.
        total: the noisy number of rows, at least 1.
    """
    failure = 1 - CONFIDENCE
    surest = min(one_ways, key=lambda table: int(table.draws.sum()))
    holders = _holders(cliques, [*one_ways, *later])
    alphas = (failure, failure / len(cliques))
    everything = [_rows_above(surest, alpha * _TOTAL_SHARE) + released.rows * released.scale for alpha in alphas]
    bounds = []
    for clique, counts in released.counted(cliques):
        scaled = np.asarray(counts * released.scale, dtype=np.float64)
        found = []
        for alpha, most in zip(alphas, everything, strict=True):
            basis, l1 = _bound(clique, scaled, holders[clique], offers.latest(clique), alpha * (1 - _TOTAL_SHARE))
            found.append((basis, l1) if l1 <= most else ("total", most))
        (basis, l1), (_, together) = found
        bounds.append(MarginalBound(clique, counts.size, basis, l1, max(l1, together)))
    return ErrorBounds(CONFIDENCE, released.scale, total, tuple(bounds))


def _bound(
    clique: Clique, counts: Floats, holders: Sequence[NoisyTable], offer: Offer | None, failure: float
) -> tuple[Basis, float]:
    """Bound one marginal's error by what was measured and by what was offered, the smaller of the two."""
    if not holders and offer is None:
        return "total", np.inf
    each = failure / 2 if holders and offer is not None else failure
    measured = _measured(clique, counts, holders, each)
    offered = np.inf
    if offer is not None:
        offered = offer.evidence.bound(each * offer.spend) + float(np.abs(offer.estimate - counts).sum())
    return ("measured", measured) if measured <= offered else ("offered", offered)


def _measured(clique: Clique, counts: Floats, holders: Sequence[NoisyTable], failure: float) -> float:
    """Take the smallest bound of all measurements that hold the marginal; the j-th may fail with failure/(j(j+1))."""
    smallest = np.inf
    for number, holder in enumerate(holders, start=1):
        table = holder.marginal(clique)
        noise = noise_norm(float(table.variance), table.draws, failure / (number * (number + 1)))
        smallest = min(smallest, float(np.abs(table.values - counts).sum()) + noise)
    return smallest


def _rows_above(table: NoisyTable, failure: float) -> float:
    return max(0.0, sum_above(int(table.values.sum()), float(table.variance), int(table.draws.sum()), failure))


def _holders(cliques: Sequence[Clique], tables: Sequence[NoisyTable]) -> dict[Clique, list[NoisyTable]]:
    wanted = {clique: frozenset(clique) for clique in cliques}
    measured = [(frozenset(table.clique), table) for table in tables]
    return {clique: [table for held, table in measured if names <= held] for clique, names in wanted.items()}
