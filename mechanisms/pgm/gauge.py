"""Potentials in a normal form: what several factors could say is said by the smallest, and nothing runs to -∞.

Where measurements contradict each other on a shared marginal, or a noisy count stays negative, the solver's
log-potentials grow without bound in directions that change the distribution little or not at all. Moved to where they
cancel, and cut off at ``FLOOR``, they stay small over any number of fits.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mechanisms.pgm.axes import Array, Axes, bits
from mechanisms.pgm.inference import FLOOR

NEGLIGIBLE = 1e-20
"""A cell's share of the largest mass in its slice from which on it counts."""


class Gauge:
    """Move log-potentials between the measured factors of one structure without changing the distribution."""

    def __init__(self, axes: Axes, measured: Sequence[int], support: Array | None) -> None:
        """Prepare the moves.

        Args:
            axes: the inner numbering.
            measured: the attributes of each factor, in the order of the flat log-potentials.
            support: 1.0 at possible and 0.0 at impossible cells, flat; None if all are possible.
        """
        self._shapes = [axes.shape(mask) for mask in measured]
        self._ends = np.cumsum([axes.cells(mask) for mask in measured])[:-1]
        self._impossible = None if support is None else support == 0
        order = sorted(range(len(measured)), key=lambda i: (axes.cells(measured[i]), i))
        self._moves = [
            move for rank in reversed(range(len(order))) for move in _moves(axes, measured, order[rank], order[:rank])
        ]

    def settle(self, theta: Array, marginals: Array) -> Array:
        """Return the log-potentials of the same distribution, up to negligible mass, in normal form.

        In each factor, each slice that belongs to a cell of a shared marginal has its largest entry at 0, except where
        the factor is the smallest to hold that marginal. Entries of cells without noticeable mass do not count, since
        other factors may forbid what one allows most; where they are larger, they are cut down.

        Args:
            theta: log-potentials.
            marginals: the factors' expected counts under them.
        """
        settled = np.where(self._impossible, -np.inf, theta) if self._impossible is not None else theta.copy()
        tables, masses = (
            [part.reshape(s) for part, s in zip(np.split(flat, self._ends), self._shapes, strict=True)]
            for flat in (settled, marginals)
        )
        for giver, taker, gone, placed in self._moves:
            mass = masses[giver]
            seen = mass > NEGLIGIBLE * mass.max(axis=gone, keepdims=True)
            largest = tables[giver].max(axis=gone, keepdims=True, where=seen, initial=-np.inf)
            largest[~np.isfinite(largest)] = 0.0
            tables[giver] -= largest
            np.minimum(tables[giver], 0.0, out=tables[giver], where=~seen)
            tables[taker] += largest.reshape(placed)
        for table in tables:
            np.maximum(table, FLOOR + table.max(), out=table)
        if self._impossible is not None:
            settled[self._impossible] = 0.0
        return settled


class _Move(NamedTuple):
    """Which factor gives the largest entries of its slices to which other, and how the slices lie in both."""

    giver: int
    taker: int
    gone: tuple[int, ...]
    placed: tuple[int, ...]


def _moves(axes: Axes, measured: Sequence[int], giver: int, smaller: Sequence[int]) -> list[_Move]:
    """Return the moves that leave a factor nothing to say about what it shares with smaller ones."""
    here = measured[giver]
    shared = {here & measured[i] for i in smaller} - {0}
    moves = []
    for mask in sorted(shared):
        if any(mask != other and mask & other == mask for other in shared):
            continue
        taker = next(i for i in smaller if measured[i] & mask == mask)
        gone = tuple(i for i, axis in enumerate(bits(here)) if not mask >> axis & 1)
        placed = tuple(axes.sizes[axis] if mask >> axis & 1 else 1 for axis in bits(measured[taker]))
        moves.append(_Move(giver, taker, gone, placed))
    return moves
