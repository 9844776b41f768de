"""Decode cells of the model's columns into ticks: total over the declared domain, by column name."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from accounting.schema import Column, Schema
from mechanisms.table import SyntheticTable


def ticks_of_cells(column: Column, cells: npt.NDArray[np.integer], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw a tick uniformly inside each cell; the null cell gives −1.

    Args:
        column: the schema's column.
        cells: positions in its one-way marginal, shape (rows,).
        rng: public randomness.

    Returns:
        int64 ticks, shape (rows,).
    """
    low = np.asarray(column.cell_starts, dtype=np.int64)
    high = np.append(low[1:], column.ticks) - 1
    if column.null_cell is not None:
        low, high = np.append(low, -1), np.append(high, -1)
    ticks: npt.NDArray[np.int64] = rng.integers(low[cells], high[cells], endpoint=True, dtype=np.int64)
    return ticks


def decode_cells(
    schema: Schema, cells: Mapping[str, npt.NDArray[np.integer]], rng: np.random.Generator
) -> SyntheticTable:
    """Decode one array of cells per modelled column into a synthetic table."""
    return SyntheticTable(
        schema, {column.name: ticks_of_cells(column, cells[column.name], rng) for column in schema.columns}
    )
