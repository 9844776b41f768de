"""Hybrid coding: measure a column of many cells finely once, model it in few bins, decode it by its fine marginal.

The bins are formed from the noisy fine marginal, which is paid for, so they cost nothing more. A bin holds about the
same noisy mass as every other; a heavy value (40 hours a week for half the rows) has a bin of its own, and the null
cell always has one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from accounting.queries import Coding
from accounting.schema import Column, Schema
from mechanisms.decoding import ticks_of_cells
from mechanisms.noisy import NoisyTable
from mechanisms.projection import apportion, to_simplex
from mechanisms.rules import Rules
from mechanisms.table import SyntheticTable

Ints = npt.NDArray[np.int64]
Bins = npt.NDArray[np.int32]

_ORDERED_KINDS = frozenset({"integer", "real", "date", "datetime"})


def is_coded(column: Column, bins: int) -> bool:
    """Say whether a column is modelled in bins: its values have an order, and more than two cells a bin."""
    return column.kind in _ORDERED_KINDS and _ordered_cells(column) > 2 * bins


def most_cells(column: Column, bins: int, cuts: int = 0) -> int:
    """Return the most cells that a column has in the model, known without data; constraints add at most ``cuts``."""
    return bins + cuts + int(column.nullable) if is_coded(column, bins) else column.cells


def model_sizes(schema: Schema, bins: int) -> dict[str, int]:
    """Return the most cells that each column has in the model, known without data."""
    rules = Rules(schema)
    return {column.name: most_cells(column, bins, rules.cuts(column.name)) for column in schema.columns}


@dataclass(frozen=True, slots=True, eq=False)
class HybridCoding:
    """The bins of the coded columns and the noisy fine marginals that decode them.

    Args:
        schema: the public description of the table.
        coding: the bins, as questions name them.
        fine: the noisy fine marginal of each coded column, int64, one value a cell.
        total: the estimated number of rows of the private table, above 0.
    """

    schema: Schema
    coding: Coding
    fine: Mapping[str, Ints]
    total: float

    def cells(self, name: str) -> int:
        """Return the number of cells that a column has in the model."""
        return self.coding.cells(self.schema, name)

    def binned(self, table: NoisyTable) -> NoisyTable:
        """Sum a column's noisy fine marginal over its bins."""
        (name,) = table.clique
        return table.grouped(self.coding.bins[name]) if name in self.coding.bins else table

    def labels(self, name: str) -> list[str]:
        """Say which cells each bin of a coded column holds, as runs of neighbouring cells."""
        cells = self.schema.column(name).labels()
        bins = self.coding.bins[name]
        starts = np.flatnonzero(np.diff(bins, prepend=-1))
        ends = np.append(starts[1:], bins.size) - 1
        texts: list[list[str]] = [[] for _ in range(self.cells(name))]
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            texts[bins[start]].append(cells[start] if start == end else f"{cells[start]} … {cells[end]}")
        return [", ".join(runs) for runs in texts]

    def decode(self, coded: Mapping[str, npt.NDArray[np.integer]], rng: np.random.Generator) -> SyntheticTable:
        """Decode the model's rows: a cell inside each bin by the noisy fine marginal, then a tick inside the cell.

        Args:
            coded: for each modelled column its bins (or cells where it is not coded), shape (rows,).
            rng: public randomness.
        """
        ticks = {}
        for column in self.schema.columns:
            cells = np.asarray(coded[column.name])
            if column.name in self.fine:
                cells = self._cells_in_bins(column.name, cells, rng)
            ticks[column.name] = ticks_of_cells(column, cells, rng)
        return SyntheticTable(self.schema, Rules(self.schema).settle(ticks, coded, rng))

    def code(self, table: SyntheticTable) -> dict[str, Bins]:
        """Return each column's bins (or cells where it is not coded) of synthetic rows."""
        cells = {column.name: table.cells(column.name) for column in self.schema.columns}
        return {name: self.coding.bins[name][of] if name in self.coding.bins else of for name, of in cells.items()}

    def _cells_in_bins(self, name: str, rows: npt.NDArray[np.integer], rng: np.random.Generator) -> Ints:
        bins, fine = self.coding.bins[name], self.fine[name]
        cells = np.empty(rows.size, dtype=np.int64)
        by_bin = np.argsort(rows, kind="stable")
        start = 0
        for number, count in enumerate(np.bincount(rows, minlength=self.cells(name))):
            members = np.flatnonzero(bins == number)
            shares = to_simplex(fine[members], count * self.total / max(rows.size, 1))
            drawn = np.repeat(members, apportion(shares, int(count), rng))
            cells[by_bin[start : start + count]] = rng.permutation(drawn)
            start += count
        return cells


def hybrid_coding(schema: Schema, tables: Mapping[str, Ints], total: float, bins: int) -> HybridCoding:
    """Form the bins of every coded column from its noisy one-way marginal.

    Args:
        schema: the public description of the table.
        tables: the noisy one-way marginal of every modelled column.
        total: the estimated number of rows, above 0.
        bins: the most bins for the values of a column; the null cell's comes on top.
    """
    coded = {column.name: column for column in schema.columns if is_coded(column, bins)}
    rules = Rules(schema)
    numbers = {
        name: equal_mass_bins(column, tables[name], total, bins, rules.segments(name)) for name, column in coded.items()
    }
    return HybridCoding(schema, Coding(numbers), {name: tables[name] for name in coded}, total)


def equal_mass_bins(column: Column, table: Ints, total: float, bins: int, segments: Bins | None = None) -> Bins:
    """Number the bin of each cell: heavy cells alone, the others cut in order at equal mass, null alone.

    Args:
        column: the column.
        table: its noisy one-way marginal.
        total: the estimated number of rows, above 0.
        bins: the most bins for its values.
        segments: the number of each cell's segment, where constraints tell cells apart; a bin that would hold cells of
            several segments is split.

    Returns:
        int32, one number a cell, in the order in which the bins first occur.
    """
    ordered = _ordered_cells(column)
    mass = to_simplex(table, total)[:ordered] + total * 1e-6 / ordered  # empty cells are cut by their number
    heavy = np.zeros(ordered, dtype=bool)
    while True:
        free = bins - int(heavy.sum())
        target = mass[~heavy].sum() / max(free, 1)
        more = ~heavy & (mass >= target)
        if free <= 1 or not more.any():
            break
        heavy |= _largest(mass, more, free - 1)
    light = np.flatnonzero(~heavy)
    middle = np.cumsum(mass[light]) - mass[light] / 2
    labels = np.empty(ordered, dtype=np.int64)
    labels[light] = np.minimum((middle / target).astype(np.int64), free - 1)
    labels[heavy] = bins + np.arange(int(heavy.sum()))
    if segments is not None:
        labels = labels * (int(segments.max()) + 1) + segments[:ordered]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))[inverse]
    if column.null_cell is not None:
        numbers = np.append(numbers, numbers.max() + 1)
    return numbers.astype(np.int32)


def _largest(mass: npt.NDArray[np.float64], among: npt.NDArray[np.bool_], most: int) -> npt.NDArray[np.bool_]:
    chosen = np.flatnonzero(among)
    chosen = chosen[np.argsort(-mass[chosen], kind="stable")[:most]]
    result = np.zeros(mass.size, dtype=bool)
    result[chosen] = True
    return result


def _ordered_cells(column: Column) -> int:
    return column.cells - int(column.null_cell is not None)
