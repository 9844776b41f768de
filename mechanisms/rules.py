"""The schema's constraints as mechanisms keep them: impossible cells of a model, and rows settled after decoding."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError
from accounting.queries import Clique
from accounting.schema import NULL, Column, Combinations, Meaning, Order, Schema
from mechanisms.pgm import Domain, estimate, model_cells

Ints = npt.NDArray[np.int64]
Bins = Mapping[str, npt.NDArray[np.int32]]
Ticks = Mapping[str, Ints]
Zeros = dict[Clique, npt.NDArray[np.bool_]]

MAX_CELLS = 2**25
"""The most cells that the constraints' own cliques may have in a model."""

_WITNESSES = 256
_REDRAWS = 32


@dataclass(frozen=True)
class Rules:
    """The constraints of a schema.

    Args:
        schema: the public description of the table.
    """

    schema: Schema

    @property
    def any(self) -> bool:
        """Whether the schema declares constraints."""
        return bool(self.schema.constraints)

    def segments(self, name: str) -> npt.NDArray[np.int32]:
        """Number a column's cells so that cells of one number are alike to every rule on combinations."""
        cells = self.schema.column(name).cells
        alike = [
            of
            for meaning in self._meanings
            if isinstance(meaning, Combinations)
            for known, of in zip(meaning.columns, meaning.classes, strict=True)
            if known == name
        ]
        if not alike:
            return np.zeros(cells, dtype=np.int32)
        _, numbers = np.unique(np.stack(alike), axis=1, return_inverse=True)
        return numbers.reshape(cells).astype(np.int32)

    def zeros(self, bins: Bins) -> Zeros:
        """Return the impossible cells of each constraint's clique, True where no row can be.

        Args:
            bins: the bin of each cell of the columns in bins; a bin holds cells of one segment only.
        """
        place = {column.name: number for number, column in enumerate(self.schema.columns)}
        zeros: Zeros = {}
        for meaning in self._meanings:
            table = self._ordered(meaning, bins) if isinstance(meaning, Order) else self._combined(meaning, bins)
            axes = sorted(range(table.ndim), key=lambda axis, names=meaning.columns: place[names[axis]])  # type: ignore[misc]
            clique = tuple(meaning.columns[axis] for axis in axes)
            table = table.transpose(axes)
            zeros[clique] = zeros[clique] | table if clique in zeros else table
        return zeros

    def check(self, sizes: Mapping[str, int]) -> None:
        """Check that some row keeps every constraint and that the constraints fit in a model's memory.

        Args:
            sizes: the most cells that each column has in the model.

        Raises:
            ConfigError: neither is so; nothing spent.
        """
        if not self.any:
            return
        cliques = [meaning.columns for meaning in self._meanings]
        cells = model_cells(Domain(tuple(sizes), tuple(sizes.values())), cliques)
        if cells > MAX_CELLS:
            widest = max(cliques, key=lambda clique: prod(sizes[name] for name in clique))
            raise ConfigError(
                f"the constraints need {cells} cells ({cells * 8 / 1e6:.0f} MB) in a model, over the limit "
                f"of {MAX_CELLS}; declare fewer cells, lower bins, or drop one, such as that on {', '.join(widest)}"
            )
        self.check_possible()

    def check_possible(self) -> None:
        """Check that some row keeps every constraint.

        Raises:
            ConfigError: none was found; nothing spent.
        """
        if self.any and self._witnesses is None:
            raise ConfigError("no row was found that keeps all constraints of the schema; some exclude each other")

    def possible(self, cells: Mapping[str, npt.NDArray[np.integer]]) -> npt.NDArray[np.bool_]:
        """Say of which rows of cells some values keep each constraint, taken one by one.

        Args:
            cells: for each column the cell of each row.
        """
        good = np.ones(next(iter(cells.values())).size, dtype=np.bool_)
        for meaning in self._meanings:
            table = self._ordered(meaning, {}) if isinstance(meaning, Order) else self._combined(meaning, {})
            good &= ~table[tuple(cells[name] for name in meaning.columns)]
        return good

    def settle(self, ticks: Ticks, coded: Mapping[str, npt.NDArray[np.integer]], rng: np.random.Generator) -> Ticks:
        """Make decoded rows keep every constraint.

        A row that breaks an order gets other values of the same bins; one that still breaks a constraint becomes a copy
        of a row that keeps all. Post-processing of synthetic rows.

        Args:
            ticks: for each column one tick a row.
            coded: for each column the row's bin (or cell).
            rng: public randomness.
        """
        if not self.any:
            return ticks
        settled = {name: values.copy() for name, values in ticks.items()}
        bad = self._breaking(settled)
        ordered = list(dict.fromkeys(name for rule in self._orders for name in rule.columns))
        for _ in range(_REDRAWS if ordered else 0):
            rows = np.flatnonzero(bad)
            if not rows.size:
                break
            for name in ordered:
                settled[name][rows] = ticks[name][_alike(coded[name], rows, rng)]
            bad = self._breaking(settled)
        wrong, right = np.flatnonzero(bad), np.flatnonzero(~bad)
        if wrong.size:
            pool = settled if right.size else self._witnesses
            assert pool is not None
            among = right if right.size else np.arange(_rows(pool))
            donors = rng.choice(among, wrong.size)
            for name, values in settled.items():
                values[wrong] = pool[name][donors]
        return settled

    @cached_property
    def _meanings(self) -> tuple[Meaning, ...]:
        return tuple(self.schema.meanings.values())

    @cached_property
    def _orders(self) -> tuple[Order, ...]:
        return tuple(meaning for meaning in self._meanings if isinstance(meaning, Order))

    @cached_property
    def _witnesses(self) -> Ticks | None:
        """Rows that keep every constraint, drawn from the declaration alone; None where none was found."""
        names = [column.name for column in self.schema.columns]
        classes = {name: self.segments(name) for name in names}
        domain = Domain(tuple(names), tuple(int(classes[name].max()) + 1 for name in names))
        rng = np.random.default_rng(0)
        try:
            drawn = estimate(domain, [], total=1.0, zeros=self.zeros(classes)).sample(_WITNESSES, rng)
        except ConfigError:
            return None
        ticks = {name: np.zeros(_WITNESSES, dtype=np.int64) for name in names}
        for row in range(_WITNESSES):
            members = {name: np.flatnonzero(classes[name] == drawn[name][row]) for name in names}
            for name, tick in self._least(members, rng).items():
                ticks[name][row] = tick
        right = np.flatnonzero(~self._breaking(ticks))
        return {name: values[right] for name, values in ticks.items()} if right.size else None

    def _least(self, members: Mapping[str, Ints], rng: np.random.Generator) -> dict[str, int]:
        """Take a value of each column's cells, then raise values as the orders ask, as little as possible."""
        columns = {column.name: column for column in self.schema.columns}
        compared = {name for rule in self._orders for name in rule.columns}
        row = {}
        for name, cells in members.items():
            cell = int(cells[0] if name in compared else rng.choice(cells))
            row[name] = columns[name].ticks_of_cell(cell)[0]
        for _ in compared:
            for rule in self._orders:
                wanted = row[rule.low] + rule.shift
                if NULL not in (row[rule.low], row[rule.high]) and row[rule.high] < wanted:
                    row[rule.high] = _at_least(columns[rule.high], members[rule.high], wanted, row[rule.high])
        return row

    def _breaking(self, ticks: Ticks) -> npt.NDArray[np.bool_]:
        bad = np.zeros(_rows(ticks), dtype=np.bool_)
        for breaking in self.schema.broken(ticks).values():
            bad |= breaking
        return bad

    def _combined(self, meaning: Combinations, bins: Bins) -> npt.NDArray[np.bool_]:
        classes = []
        for name, of in zip(meaning.columns, meaning.classes, strict=True):
            if name in bins:
                by_bin = np.zeros(int(bins[name].max()) + 1, dtype=np.int32)
                by_bin[bins[name]] = of
                classes.append(by_bin)
            else:
                classes.append(of)
        return np.asarray(meaning.impossible[np.ix_(*classes)], dtype=np.bool_)

    def _ordered(self, rule: Order, bins: Bins) -> npt.NDArray[np.bool_]:
        """Return the pairs of bins in which no value of the lower column lies below one of the higher."""
        (low, _), (_, high) = (_spans(self.schema.column(name), bins.get(name)) for name in rule.columns)
        return np.asarray(low[:, None] + rule.shift > high[None, :], dtype=np.bool_)


def _spans(column: Column, bins: npt.NDArray[np.int32] | None) -> tuple[Ints, Ints]:
    """Return the least and the greatest tick of each bin; a bin with null in it compares with everything."""
    first = np.asarray(column.cell_starts, dtype=np.int64)
    last = np.append(first[1:], column.ticks) - 1
    if column.null_cell is not None:
        first, last = np.append(first, -(2**60)), np.append(last, 2**60)
    if bins is None:
        return first, last
    low = np.full(int(bins.max()) + 1, 2**60, dtype=np.int64)
    high = np.full(low.size, -(2**60), dtype=np.int64)
    np.minimum.at(low, bins, first)
    np.maximum.at(high, bins, last)
    return low, high


def _at_least(column: Column, cells: Ints, wanted: int, otherwise: int) -> int:
    """Return the least tick of some cells that is at least as wanted, or another where there is none."""
    spans = (column.ticks_of_cell(int(cell)) for cell in cells)
    return min((max(low, wanted) for low, high in spans if high >= wanted), default=otherwise)


def _alike(codes: npt.NDArray[np.integer], rows: Ints, rng: np.random.Generator) -> Ints:
    """Draw for each of the given rows a row of the same bin."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    low = np.searchsorted(ordered, codes[rows], side="left")
    high = np.searchsorted(ordered, codes[rows], side="right")
    return np.asarray(order[rng.integers(low, high)], dtype=np.int64)


def _rows(ticks: Ticks) -> int:
    return int(next(iter(ticks.values())).size)
