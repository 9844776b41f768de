"""The inner numbering of attributes: by ascending size; a clique is a bit mask and the last axis is the longest.

Every table inside this package is C-ordered with its axes in this order, whatever clique it belongs to. A subset's
axes therefore appear in the same order in every table, and the innermost loop runs over the largest attribute.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from mechanisms.pgm.domain import Clique, Domain

Array = np.ndarray[Any, np.dtype[np.float64]]
_MEMO_LIMIT = 1 << 18


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Axes:
    """Translate between a domain's attributes and the inner numbering."""

    __slots__ = ("_cells", "_rank", "_shapes", "domain", "names", "sizes")

    def __init__(self, domain: Domain) -> None:
        order = sorted(range(len(domain.sizes)), key=lambda i: (domain.sizes[i], i))
        self.domain = domain
        self.names = tuple(domain.attributes[i] for i in order)
        self.sizes = tuple(domain.sizes[i] for i in order)
        self._rank = {name: rank for rank, name in enumerate(self.names)}
        self._cells: dict[int, int] = {}
        self._shapes: dict[int, tuple[int, ...]] = {}

    def mask(self, clique: Iterable[str]) -> int:
        """Return the clique's bit mask (unknown attributes are refused)."""
        mask = 0
        for name in clique:
            try:
                mask |= 1 << self._rank[name]
            except KeyError:
                self.domain.index(name)
        return mask

    def clique(self, mask: int) -> Clique:
        """Return the mask's attributes in the domain's order."""
        return self.domain.canonical(self.names[axis] for axis in bits(mask))

    def shape(self, mask: int) -> tuple[int, ...]:
        """Return the shape of the mask's table in the inner order (memoised)."""
        shape = self._shapes.get(mask)
        if shape is None:
            if len(self._shapes) >= _MEMO_LIMIT:
                self._shapes.clear()
            shape = self._shapes[mask] = tuple(self.sizes[axis] for axis in bits(mask))
        return shape

    def cells(self, mask: int) -> int:
        """Return the number of cells of the mask's table (memoised)."""
        count = self._cells.get(mask)
        if count is None:
            if len(self._cells) >= _MEMO_LIMIT:
                self._cells.clear()
            count = 1
            for axis in bits(mask):
                count *= self.sizes[axis]
            self._cells[mask] = count
        return count

    def inward(self, table: Array, clique: Clique) -> Array:
        """Reorder a table from the clique's own order to the inner order."""
        return table.transpose(sorted(range(len(clique)), key=lambda i: self._rank[clique[i]]))

    def outward(self, table: Array, clique: Clique) -> Array:
        """Reorder a table from the inner order to the clique's own order."""
        ranks = [self._rank[name] for name in clique]
        ascending = sorted(ranks)
        return table if ranks == ascending else table.transpose([ascending.index(rank) for rank in ranks])


@lru_cache(maxsize=64)
def axes_of(domain: Domain) -> Axes:
    """Return the domain's inner numbering, one object for equal domains."""
    return Axes(domain)
