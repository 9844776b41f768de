"""The first question of AIM, AIM-GDP and MST: every one-way marginal once, and what follows from it for free."""

from dataclasses import dataclass
from fractions import Fraction

from accounting.schema import Schema
from mechanisms.asking import Asker
from mechanisms.coding import HybridCoding, hybrid_coding
from mechanisms.noisy import NoisyTable
from mechanisms.pgm import Domain
from mechanisms.rows import estimate_total


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """What the one-way marginals give.

    Args:
        hybrid: the bins, and the fine marginals that decode them.
        domain: the columns as the model sees them.
        tables: the one-way marginals at the model's bins.
    """

    hybrid: HybridCoding
    domain: Domain
    tables: tuple[NoisyTable, ...]


def measure_one_ways(asker: Asker, schema: Schema, amount: Fraction, bins: int) -> Opening:
    """Ask for every one-way marginal at its finest cells for exactly ``amount`` (ρ or μ²)."""
    names = tuple(column.name for column in schema.columns)
    tables = asker.marginals(tuple((name,) for name in names), amount)
    total = estimate_total(tables).at_least_one
    hybrid = hybrid_coding(schema, {table.clique[0]: table.values for table in tables}, total, tables[0].sigma, bins)
    domain = Domain(names, tuple(hybrid.cells(name) for name in names))
    return Opening(hybrid, domain, tuple(hybrid.binned(table) for table in tables))
