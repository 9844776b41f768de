"""The first question of AIM, AIM-GDP and MST: every one-way marginal once, and what follows from it for free."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from accounting.queries import Clique
from accounting.schema import Schema
from mechanisms.asking import Asker
from mechanisms.coding import HybridCoding, hybrid_coding
from mechanisms.pgm import Domain, Measurement
from mechanisms.rows import TotalEstimate, estimate_total


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """What the one-way marginals give: the coding, the model's domain and its first measurements.

    Args:
        hybrid: the bins, and the fine marginals that decode them.
        domain: the columns as the model sees them.
        measurements: the one-way marginals at the model's bins.
        sums: each one-way marginal's noisy table with the variance of a cell, for the total.
    """

    hybrid: HybridCoding
    domain: Domain
    measurements: tuple[Measurement, ...]
    tables: tuple[tuple[npt.NDArray[np.int64], Fraction], ...]


def measure_one_ways(asker: Asker, schema: Schema, amount: Fraction, bins: int) -> Opening:
    """Ask for every one-way marginal at its finest cells for exactly ``amount`` (ρ or μ²)."""
    names = tuple(column.name for column in schema.columns)
    answer, variance = asker.marginals(tuple((name,) for name in names), amount)
    tables = dict(zip(names, answer.tables, strict=True))
    pairs = tuple((table, variance) for table in answer.tables)
    hybrid = hybrid_coding(schema, tables, max(estimate_total(pairs).value, 1.0), bins)
    sigma = float(variance) ** 0.5
    measurements = []
    for name in names:
        values, factor = hybrid.binned(name, tables[name])
        measurements.append(Measurement((name,), values, sigma * factor))
    domain = Domain(names, tuple(hybrid.cells(name) for name in names))
    return Opening(hybrid, domain, tuple(measurements), pairs)


def total_with(opening: Opening, measured: Sequence[tuple[Clique, npt.NDArray[np.int64], Fraction]]) -> TotalEstimate:
    """Estimate the number of rows from the one-way marginals and everything measured since."""
    return estimate_total([*opening.tables, *((table, variance) for _, table, variance in measured)])
