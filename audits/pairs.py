"""Neighbouring planted tables: one table with one unit and the same table without it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError
from accounting.schema import Column, Schema
from accounting.unit import PersonUnit, PrivacyUnit

Ticks = Mapping[str, npt.NDArray[np.int64]]


def row_count(table: Ticks) -> int:
    """Return the number of rows of a table of at least one column."""
    return int(next(iter(table.values())).size)


_TEN = 10
UNIT_ID = "the unit"


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Planted rows.

    Args:
        ticks: for each modelled column an int64 array of shape (rows,), −1 for null.
        ids: each row's person, None for a null id; given exactly for a person unit.
    """

    ticks: Ticks
    ids: tuple[str | None, ...] | None = None

    @property
    def count(self) -> int:
        """The number of rows."""
        return row_count(self.ticks)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two tables that differ by the presence of one unit.

    Args:
        name: a short public name.
        schema: the schema of both.
        unit: the privacy unit.
        absent: the table without the unit.
        unit_ticks: the unit's rows, at most ``unit.max_rows``.
    """

    name: str
    schema: Schema
    unit: PrivacyUnit
    absent: Rows
    unit_ticks: Ticks
    present: Rows = field(init=False)

    def __post_init__(self) -> None:
        size = row_count(self.unit_ticks)
        if not 1 <= size <= self.unit.max_rows:
            raise ConfigError("a unit brings at least one row and at most as many as the unit's bound")
        ticks = {name: np.concatenate([self.absent.ticks[name], rows]) for name, rows in self.unit_ticks.items()}
        ids = None if self.absent.ids is None else (*self.absent.ids, *[UNIT_ID] * size)
        object.__setattr__(self, "present", Rows(ticks, ids))


def worst_case_pairs(schema: Schema, unit: PrivacyUnit) -> tuple[Pair, ...]:
    """Return the pairs on which a fault of sensitivity, pricing or composition shows most.

    Returns:
        A lone unit far from ten equal rows; an empty table against one unit; a unit that joins the largest cell; and
        one whose rows move the errors of candidates in opposite directions.
    """
    first = {column.name: _lowest(column) for column in schema.columns}
    last = {column.name: _highest(column) for column in schema.columns}
    k = unit.max_rows
    # the unit agrees with the ten rows in every second column: those marginals get less wrong, the others more
    mixed = {name: first[name] if place % 2 else last[name] for place, name in enumerate(first)}
    return (
        make_pair("lone record", schema, unit, [first] * _TEN, [last] * k),
        make_pair("empty table", schema, unit, [], [last] * k),
        make_pair("largest cell", schema, unit, [first] * _TEN, [first] * k),
        make_pair("opposite errors", schema, unit, [first] * _TEN + [last] * _TEN, [mixed] * k),
    )


def random_pair(schema: Schema, unit: PrivacyUnit, rows: int, rng: np.random.Generator) -> Pair:
    """Return a pair of random rows, nulls included where a column permits them."""

    def row() -> dict[str, int]:
        return {column.name: int(rng.integers(_lowest(column), _highest(column) + 1)) for column in schema.columns}

    return make_pair("random rows", schema, unit, [row() for _ in range(rows)], [row() for _ in range(unit.max_rows)])


def make_pair(
    name: str, schema: Schema, unit: PrivacyUnit, absent: list[dict[str, int]], added: list[dict[str, int]]
) -> Pair:
    """Build a pair from rows of ticks; under a person unit each row of ``absent`` is a person of its own."""
    ids = tuple(f"other {index}" for index in range(len(absent))) if isinstance(unit, PersonUnit) else None
    return Pair(name, schema, unit, Rows(_columns(schema, absent), ids), _columns(schema, added))


def _columns(schema: Schema, rows: list[dict[str, int]]) -> dict[str, npt.NDArray[np.int64]]:
    return {column.name: np.array([row[column.name] for row in rows], dtype=np.int64) for column in schema.columns}


def _lowest(column: Column) -> int:
    return -1 if column.nullable else 0


def _highest(column: Column) -> int:
    """Return the last tick; where categories are measured, that of a planted name, which is not declared."""
    return column.ticks - 1 + (column.is_measured and column.kind == "categorical")
