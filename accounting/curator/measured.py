"""Columns whose domains are measured: their private values before the domain is known, and the counts asked of them.

The names of a column are kept as numbers into a sorted list of the distinct ones. How long a name may be is public, so
the memory of each row is bounded by the schema, and the check of the file's size covers it: no value and no number of
distinct values makes a load or a count fail.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.curator.persons import kept_rows
from accounting.curator.rows import CellTable, Opaque, cell_dtype
from accounting.queries import Categories, Ints, Quantiles
from accounting.schema import CategoricalColumn, Column, OrderedColumn, Schema
from accounting.unit import PersonUnit, PrivacyUnit

NO_NAME = -1

Codes = tuple[npt.NDArray[np.unsignedinteger[Any]], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Names(Opaque):
    """A column's names: sorted texts, and each row's place among them or ``NO_NAME``, int64 of shape (rows,)."""

    texts: tuple[str, ...]
    places: Ints

    def codes(self) -> Codes:
        """Return two unsigned words a row that depend on its own name alone: a hash, and whether it has a name.

        Equal names have equal words; different ones differ but for a chance of 2^-64.
        """
        words = np.array([*map(_hash, self.texts), 0], dtype=np.int64).astype(np.uint64)[self.places]
        return words, (self.places != NO_NAME).astype(np.uint8)


class NameBook:
    """Collects a column's names chunk by chunk."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._parts: list[Ints] = [np.empty(0, dtype=np.int64)]

    def add(self, names: Iterable[str | None]) -> None:
        """Add each row's canonical name, None for none."""
        numbers = (NO_NAME if name is None else self._known.setdefault(name, len(self._known)) for name in names)
        self._parts.append(np.fromiter(numbers, dtype=np.int64))

    def names(self) -> Names:
        """Return the names of all rows added."""
        texts = tuple(sorted(self._known))
        place = np.empty(len(texts) + 1, dtype=np.int64)
        place[-1] = NO_NAME
        place[[self._known[text] for text in texts]] = np.arange(len(texts))
        return Names(texts, place[np.concatenate(self._parts)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeasuredColumns(Opaque):
    """The private values of the columns whose domains are measured, row by row.

    Args:
        ticks: for each such column the ticks within its declared domain, int64 of shape (rows,), −1 for null.
        names: for each such categorical column its names that are not declared.
        persons: each row's person, int64; None where each row is a unit.
    """

    ticks: Mapping[str, Ints]
    names: Mapping[str, Names]
    persons: Ints | None

    def kept(self, rows: npt.NDArray[np.bool_]) -> "MeasuredColumns":
        """Return the rows that count."""
        return MeasuredColumns(
            {name: ticks[rows] for name, ticks in self.ticks.items()},
            {name: Names(names.texts, names.places[rows]) for name, names in self.names.items()},
            None if self.persons is None else self.persons[rows],
        )

    @staticmethod
    def none() -> "MeasuredColumns":
        """Return what a table without such columns has."""
        return MeasuredColumns({}, {}, None)

    def codes(self) -> Codes:
        """Return words a row that tell different values apart and depend on that row alone."""
        ticks = [ticks.astype(np.uint64) for ticks in self.ticks.values()]
        return (*ticks, *(words for names in self.names.values() for words in names.codes()))

    def cells(self, cells: CellTable, declared: Schema, schema: Schema) -> CellTable:
        """Return the rows' cells under a schema whose domains are known: for unmeasured columns as they are."""
        columns = dict(cells.columns)
        for column in declared.measured:
            known = schema.column(column.name)
            columns[column.name] = known.cell_of_tick(self._ticks(column, known)).astype(cell_dtype(known))
        return CellTable(columns, cells.rows)

    def _ticks(self, declared: Column, known: Column) -> Ints:
        ticks = self.ticks[declared.name]
        if isinstance(declared, OrderedColumn) and isinstance(known, OrderedColumn):
            return known.ticks_from(declared, ticks)
        assert isinstance(declared, CategoricalColumn)
        assert isinstance(known, CategoricalColumn)
        names = self.names[declared.name]
        moved = np.append(known.ticks_of_text([*names.texts, *declared.categories]), -1)
        return moved[np.where(names.places == NO_NAME, np.where(ticks < 0, -1, len(names.texts) + ticks), names.places)]


def keep_rows(
    cells: CellTable, measured: MeasuredColumns, unit: PrivacyUnit, key: bytes
) -> tuple[CellTable, MeasuredColumns]:
    """Keep the rows that count: all for a row unit, at most k of each person for a person unit."""
    if not isinstance(unit, PersonUnit) or measured.persons is None:
        return cells, measured
    kept = kept_rows([*cells.columns.values(), *measured.codes()], measured.persons, unit.max_rows, key)
    columns = {name: column[kept] for name, column in cells.columns.items()}
    return CellTable(columns, int(np.count_nonzero(kept))), measured.kept(kept)


def ticks_or_hashes(ticks: Ints, names: Sequence[str | None]) -> Ints:
    """Return one word a row for the commitment to a table: its tick, or the hash of its name where it has one."""
    known = {name: _hash(name) for name in set(names) if name is not None}
    words = (tick if name is None else known[name] for tick, name in zip(ticks.tolist(), names, strict=True))
    return np.fromiter(words, dtype=np.int64, count=len(names))


def _hash(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little", signed=True)


def count_intervals(query: Quantiles, measured: MeasuredColumns) -> Ints:
    """Count the rows in each interval, int64.

    Privacy:
        A row adds 1 to at most one count, whatever the other rows are.
    """
    ticks = measured.ticks[query.column]
    first, last = query.intervals.T
    place = np.searchsorted(first, ticks, side="right") - 1
    inside = (place >= 0) & (ticks <= last[place])
    return np.bincount(place[inside], minlength=first.size)


def count_names(query: Categories, measured: MeasuredColumns) -> tuple[tuple[str, ...], Ints]:
    """Count the units that have each name; names in the order of their characters, counts from 1.

    Privacy:
        A unit adds 1 to the count of each of at most k names, whatever the other units are.
    """
    names = measured.names[query.column]
    named = names.places != NO_NAME
    places = names.places[named]
    if measured.persons is not None:
        pairs = np.unique(measured.persons[named] * len(names.texts) + places)
        places = pairs % max(1, len(names.texts))
    counts = np.bincount(places, minlength=len(names.texts))
    found = np.flatnonzero(counts)  # a name of dropped rows has no unit
    return tuple(names.texts[place] for place in found.tolist()), counts[found]


def names_above(query: Categories, texts: tuple[str, ...], noisy: Ints) -> tuple[tuple[str, ...], Ints]:
    """Return the names whose noisy counts reach the threshold, at most ``most`` of them, and these counts.

    Post-processing of noisy counts; a name that only one unit has is here with the probability that
    :func:`accounting.events.delta_price` charges.
    """
    reached = np.flatnonzero(noisy >= query.threshold)
    largest = reached[np.argsort(-noisy[reached], kind="stable")][: query.most]
    chosen = np.sort(largest)
    return tuple(texts[place] for place in chosen.tolist()), noisy[chosen]
