"""What a schema means in numbers: cells a column, sizes of all 2- and 3-way marginals, memory, warnings; no data."""

import math
from dataclasses import dataclass

from accounting.queries import MAX_CELLS
from accounting.schema import CategoricalColumn, Schema

_MANY_CELLS = 5_000
_BYTES_PER_CELL = 8


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A modelled column in numbers.

    Args:
        name: its name.
        kind: its kind.
        nullable: whether null may occur.
        values: how many distinct values the output may have, null left out.
        cells: the cells of its one-way marginal, the null cell included.
    """

    name: str
    kind: str
    nullable: bool
    values: int
    cells: int


@dataclass(frozen=True, slots=True)
class MarginalSummary:
    """All marginals of some number of columns.

    Args:
        ways: the number of columns of each.
        number: how many there are.
        cells: how many cells they have together.
        largest: how many cells the largest has.
        largest_columns: its columns.
    """

    ways: int
    number: int
    cells: int
    largest: int
    largest_columns: tuple[str, ...]

    @property
    def largest_megabytes(self) -> float:
        """The memory of the largest, in 10^6 bytes."""
        return self.largest * _BYTES_PER_CELL / 1e6


@dataclass(frozen=True, slots=True)
class SchemaSummary:
    """A schema in numbers.

    Args:
        name: the table's public name.
        digest: the schema's SHA-256.
        max_rows: the declared ceiling on the number of rows, or None.
        identifiers: the columns that are never modelled.
        columns: the modelled columns in the header's order.
        marginals: all 1-, 2- and 3-way marginals, as far as there are so many columns.
        warnings: what may cost accuracy or memory, one sentence each.
    """

    name: str
    digest: str
    max_rows: int | None
    identifiers: tuple[str, ...]
    columns: tuple[ColumnSummary, ...]
    marginals: tuple[MarginalSummary, ...]
    warnings: tuple[str, ...]


def summarise_schema(schema: Schema) -> SchemaSummary:
    """Put a schema into numbers."""
    columns = tuple(
        ColumnSummary(column.name, column.kind, column.nullable, column.ticks, column.cells)
        for column in schema.columns
    )
    marginals = tuple(_marginals(columns, ways) for ways in (1, 2, 3) if ways <= len(columns))
    return SchemaSummary(
        schema.name,
        schema.digest,
        schema.max_rows,
        schema.identifiers,
        columns,
        marginals,
        tuple(_warnings(schema, columns, marginals)),
    )


def _marginals(columns: tuple[ColumnSummary, ...], ways: int) -> MarginalSummary:
    # The sum over all sets of columns of the product of their cells: an elementary symmetric polynomial.
    sums = [1] + [0] * ways
    for column in columns:
        for size in range(ways, 0, -1):
            sums[size] += sums[size - 1] * column.cells
    widest = sorted(sorted(columns, key=lambda column: -column.cells)[:ways], key=columns.index)
    return MarginalSummary(
        ways,
        math.comb(len(columns), ways),
        sums[ways],
        math.prod(column.cells for column in widest),
        tuple(column.name for column in widest),
    )


def _warnings(schema: Schema, columns: tuple[ColumnSummary, ...], marginals: tuple[MarginalSummary, ...]) -> list[str]:
    warnings = []
    if schema.max_rows is None:
        warnings.append("[table] declares no max_rows: noise alone then bounds the number of synthetic rows")
    for measured in schema.measured:
        found = (measured.most or 0) if isinstance(measured, CategoricalColumn) else 0
        warnings.append(
            f"column {measured.name!r}: its domain is measured, for which a release has to declare a share; it may "
            f"have up to {measured.cells + found} cells"
        )
    for column in columns:
        if column.cells > _MANY_CELLS:
            fewer = (
                "aim, aim-gdp and mst model the rare ones together"
                if column.kind == "categorical"
                else "edges or bins make fewer"
            )
            warnings.append(f"column {column.name!r} has {column.cells} cells, each with noise of its own; {fewer}")
        if column.values == 1 and not column.nullable:
            warnings.append(f"column {column.name!r} has a single declared value")
    for marginal in marginals:
        if marginal.largest > MAX_CELLS:
            names = ", ".join(marginal.largest_columns)
            warnings.append(f"the marginal of {names} has {marginal.largest} cells, over the limit of {MAX_CELLS}")
    return warnings
