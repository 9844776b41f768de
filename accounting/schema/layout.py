"""From ticks to cells: contiguous intervals of a column's value grid, and the null cell after them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from accounting.errors import SchemaError

MAX_CELLS = 2**24
MAX_TICKS = 2**53

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The cells of a value grid.

    Args:
        ticks: the number of positions of the grid, at least 1.
        starts: the first tick of each cell, increasing from 0, int64; None for one cell a tick.
    """

    ticks: int
    starts: Ints | None = None

    @property
    def cells(self) -> int:
        """The number of cells, without the null cell."""
        return self.ticks if self.starts is None else int(self.starts.size)

    def cell_starts(self) -> Ints:
        """Return the first tick of each cell, read-only."""
        starts = np.arange(self.ticks, dtype=np.int64) if self.starts is None else self.starts
        starts.setflags(write=False)
        return starts

    def cell_of(self, ticks: Ints) -> npt.NDArray[np.int32]:
        """Return the cell of each tick; −1 where the tick is null."""
        if self.starts is None:
            return ticks.astype(np.int32)
        return (np.searchsorted(self.starts, ticks, side="right") - 1).astype(np.int32)

    def interval(self, cell: int) -> tuple[int, int]:
        """Return the first and the last tick of a cell."""
        if self.starts is None:
            return cell, cell
        last = self.ticks - 1 if cell == self.cells - 1 else int(self.starts[cell + 1]) - 1
        return int(self.starts[cell]), last


def check_size(cells: int, ticks: int, column: str) -> None:
    """Refuse a grid or a number of cells over the limits, with the figures, before anything is allocated.

    Raises:
        SchemaError: 2^53 ticks or more, or more than 2^24 cells.
    """
    if ticks >= MAX_TICKS:
        raise SchemaError(f"{ticks} distinct values are over the limit of 2^53; narrow the bounds", column=column)
    if cells > MAX_CELLS:
        megabytes = cells * 8 / 2**20
        raise SchemaError(
            f"{cells} cells ({megabytes:.0f} MiB for one table of counts) are over the limit of {MAX_CELLS}; "
            "add edges or bins, or declare fewer categories",
            column=column,
        )


def layout_of(ticks: int, edges: Sequence[int] | None, bins: int | None, points: Sequence[int]) -> Layout:
    """Lay out cells from the ticks where a new cell begins, or from a number of equal bins, and cut out points.

    Args:
        ticks: the size of the grid.
        edges: the ticks after 0 where a new cell begins, increasing.
        bins: the number of bins, as equal as whole ticks allow; at most ``ticks``.
        points: ticks that get a cell of their own.
    """
    if edges is None and bins is None:
        return Layout(ticks)
    if bins is not None:
        width, rest = divmod(ticks, bins)
        numbers = np.arange(bins, dtype=np.int64)
        starts = numbers * width + numbers * rest // bins
    else:
        starts = np.array([0, *(edges or ())], dtype=np.int64)
    cuts = [tick for point in points for tick in (point, point + 1) if tick < ticks]
    new = np.array(sorted(set(cuts)), dtype=np.int64)
    place = np.searchsorted(starts, new)
    absent = np.append(starts, -1)[place] != new
    return Layout(ticks, np.insert(starts, place[absent], new[absent]))
