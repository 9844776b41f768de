"""The number of synthetic rows: the noisy total, estimated from everything measured, or the declared number."""

from collections.abc import Iterable
from dataclasses import dataclass

from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.schema import Schema
from mechanisms.noisy import NoisyTable

OUTPUT_CELLS = 2**28
"""The most values (rows times columns) of a synthetic table, so that noise on the total cannot exhaust the memory."""


@dataclass(frozen=True, slots=True)
class TotalEstimate:
    """An estimate of the number of rows: the inverse-variance mean of the sums of noisy tables.

    Args:
        value: the estimate; may be negative.
        variance: its variance.
    """

    value: float
    variance: float

    @property
    def at_least_one(self) -> float:
        """The estimate, or 1 where it is smaller: what a model is scaled to."""
        return max(self.value, 1.0)


def estimate_total(tables: Iterable[NoisyTable]) -> TotalEstimate:
    """Estimate the number of rows from noisy tables."""
    weight = 0.0
    weighted = 0.0
    for table in tables:
        precision = 1.0 / (float(table.variance) * int(table.draws.sum()))
        weight += precision
        weighted += precision * float(table.values.sum())
    return TotalEstimate(weighted / weight, 1.0 / weight)


def check_rows(rows: int | None, schema: Schema) -> None:
    """Check a declared number of rows before anything is spent.

    Raises:
        ConfigError: not a whole number from 0, above the schema's max_rows, or more values than fit in memory.
    """
    if rows is None:
        return
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise ConfigError("the declared number of synthetic rows must be a whole number, 0 or more")
    if rows > most_rows(schema):
        raise ConfigError(f"{rows} synthetic rows were declared, but at most {most_rows(schema)} may be written")


def most_rows(schema: Schema) -> int:
    """Return the public ceiling on the number of synthetic rows."""
    ceiling = OUTPUT_CELLS // len(schema.columns)
    return ceiling if schema.max_rows is None else min(ceiling, schema.max_rows)


@dataclass(frozen=True, slots=True)
class OutputRows:
    """The number of synthetic rows.

    Args:
        count: how many rows are drawn.
        scale: what a count of synthetic rows is multiplied by to stand beside a private count: 1 where the noisy total
            is written, else noisy total/count.
        facts: public facts for the manifest.
    """

    count: int
    scale: float
    facts: dict[str, Json]


def rows_out(total: TotalEstimate, rows: int | None, schema: Schema) -> OutputRows:
    """Decide the number of synthetic rows: the declared number, or the noisy total under the public ceiling."""
    noisy = max(0, round(total.value))
    count = min(noisy, most_rows(schema)) if rows is None else rows
    scale = 1.0 if count in {noisy, 0} else noisy / count
    facts: dict[str, Json] = {
        "rows": count,
        "rows_from": "noisy total" if rows is None else "declared",
        "noisy_total": round(total.value),
        "noisy_total_standard_deviation": round(total.variance**0.5, 3),
    }
    return OutputRows(count, scale, facts)
