"""Hybrid coding: measure a column of many cells finely once, model it in few bins, decode it by its fine marginal."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from accounting.queries import Coding
from accounting.schema import Schema
from mechanisms.binning import bins_of, is_coded, most_cells
from mechanisms.decoding import ticks_of_cells
from mechanisms.noisy import NoisyTable
from mechanisms.projection import apportion, shrunk, to_simplex
from mechanisms.rules import Rules
from mechanisms.table import SyntheticTable

Ints = npt.NDArray[np.int64]
Bins = npt.NDArray[np.int32]


def model_sizes(schema: Schema, bins: int) -> dict[str, int]:
    """Return the most cells that each column has in the model, known without data."""
    rules = Rules(schema)
    return {column.name: most_cells(column, bins, rules.segments(column.name)) for column in schema.columns}


@dataclass(frozen=True, slots=True, eq=False)
class HybridCoding:
    """The bins of the coded columns and the noisy fine marginals that decode them.

    Args:
        schema: the public description of the table.
        coding: the bins, as questions name them.
        fine: the noisy fine marginal of each coded column, int64, one value a cell.
        total: the estimated number of rows of the private table, above 0.
        sigma: the standard deviation of the noise on each cell of the fine marginals, in rows.
    """

    schema: Schema
    coding: Coding
    fine: Mapping[str, Ints]
    total: float
    sigma: float

    def cells(self, name: str) -> int:
        """Return the number of cells that a column has in the model."""
        return self.coding.cells(self.schema, name)

    @property
    def merged(self) -> frozenset[str]:
        """The coded columns whose bins are merged categories and not runs of values."""
        return frozenset(name for name in self.fine if self.schema.column(name).kind == "categorical")

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
        bins = self.coding.bins[name]
        cells = np.empty(rows.size, dtype=np.int64)
        by_bin = np.argsort(rows, kind="stable")
        start = 0
        for number, count in enumerate(np.bincount(rows, minlength=self.cells(name))):
            members = np.flatnonzero(bins == number)
            shares = self._shares(name, members, count * self.total / max(rows.size, 1))
            drawn = np.repeat(members, apportion(shares, int(count), rng))
            cells[by_bin[start : start + count]] = rng.permutation(drawn)
            start += count
        return cells

    def _shares(self, name: str, members: Ints, total: float) -> npt.NDArray[np.float64]:
        """Share a bin's rows among its cells: merged categories are all rare, so that their noise must not decide."""
        counts = self.fine[name][members]
        if name in self.merged:
            return shrunk(counts, total, self.sigma)
        return to_simplex(counts, total)


def hybrid_coding(schema: Schema, tables: Mapping[str, Ints], total: float, sigma: float, bins: int) -> HybridCoding:
    """Form the bins of every coded column from its noisy one-way marginal.

    Args:
        schema: the public description of the table.
        tables: the noisy one-way marginal of every modelled column.
        total: the estimated number of rows, above 0.
        sigma: the standard deviation of the noise on each cell, in rows.
        bins: the most bins for the values of a column, see :func:`mechanisms.binning.bins_of`.
    """
    coded = {column.name: column for column in schema.columns if is_coded(column, bins)}
    rules = Rules(schema)
    numbers = {
        name: bins_of(column, tables[name], total=total, sigma=sigma, bins=bins, segments=rules.segments(name))
        for name, column in coded.items()
    }
    return HybridCoding(schema, Coding(numbers), {name: tables[name] for name in coded}, total, sigma)
