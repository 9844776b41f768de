"""Belief propagation: run a contraction program over a flat float64 array.

``Engine`` is the NumPy backend and the meaning of a program.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mechanisms.pgm.axes import Array, Axes, bits
from mechanisms.pgm.contraction import ONE, Contraction, Program, Table

FLOOR = -80.0
"""Log-potentials below a factor's largest by more than this count as this: no possible cell is ever exactly 0."""

VANISHED = 1e-200
Ints = np.ndarray[Any, np.dtype[np.int64]]


def view(axes: Axes, work: Array, table: Table, mask: int) -> Array:
    """View a table with the axes of ``mask``: its own ones, and stride 0 for the others."""
    strides = {}
    stride = work.itemsize
    for axis in reversed(list(bits(table.mask))):
        strides[axis] = stride
        stride *= axes.sizes[axis]
    return as_strided(work[table.offset :], axes.shape(mask), [strides.get(axis, 0) for axis in bits(mask)])


def bind(axes: Axes, step: Contraction, work: Array, source: Array) -> Callable[[], object]:
    """Return the contraction as a call on views: out and b in ``work``, a in ``source``."""
    out = view(axes, work, step.out, step.out.mask)
    union = step.a.mask | step.b.mask
    if union & ~step.out.mask == 0:
        a, b = view(axes, source, step.a, step.out.mask), view(axes, work, step.b, step.out.mask)
        return lambda: np.multiply(a, b, out=out)
    beyond = step.out.mask & ~union
    first = step.a.mask | beyond
    a, b = view(axes, source, step.a, first), view(axes, work, step.b, step.b.mask)
    names = {axis: i for i, axis in enumerate(bits(union | beyond))}
    operands: list[Any] = [a, [names[axis] for axis in bits(first)]]
    if step.b != ONE:
        operands += [b, [names[axis] for axis in bits(step.b.mask)]]
    operands.append([names[axis] for axis in bits(step.out.mask)])
    return lambda: np.einsum(*operands, out=out)


class Engine:
    """Hold one structure's program with its tables and run it for any potentials."""

    def __init__(self, axes: Axes, program: Program, fixed: list[Array], support: Array | None) -> None:
        """Prepare the tables.

        Args:
            axes: the inner numbering.
            program: the contraction list.
            fixed: the values of the fixed factors (inner order).
            support: 1.0 for possible and 0.0 for impossible cells of the measured factors, flat; None if all are possible.
        """
        self._axes = axes
        self._program = program
        self._support = support
        self._work = np.zeros(program.size)
        self._work[0] = 1.0
        sizes = np.array([axes.cells(table.mask) for table in program.measured], dtype=np.int64)
        self._sizes = sizes
        self._starts = np.cumsum(sizes) - sizes
        cells = int(sizes.sum())
        self._potentials = self._work[1 : 1 + cells]
        self._outside = self._work[1 + cells : 1 + 2 * cells]
        for table, values in zip(program.fixed, fixed, strict=True):
            self._view(table, table.mask)[...] = values
        self._scales = np.ones(len(program.upward))
        self._prepare()

    def _prepare(self) -> None:
        self._upward = [self._bind(step) for step in self._program.upward]
        self._downward = [(*self._bind(step), step.scale) for step in self._program.downward]

    def _view(self, table: Table, mask: int) -> Array:
        return view(self._axes, self._work, table, mask)

    def _bind(self, step: Contraction) -> tuple[Callable[[], object], Array]:
        return bind(self._axes, step, self._work, self._work), self._view(step.out, step.out.mask)

    @staticmethod
    def execute(axes: Axes, steps: Sequence[Contraction], work: Array, source: Array) -> None:
        """Run contractions without scaling: out and b in ``work``, a in ``source``."""
        for step in steps:
            bind(axes, step, work, source)()

    def _exponentiate(self, theta: Array) -> float:
        """Fill in the potentials; return the sum of the factors' largest log-potentials."""
        if not theta.size:
            return 0.0
        if self._support is not None:
            theta = np.where(self._support > 0, theta, -np.inf)
        largest = np.maximum.reduceat(theta, self._starts)
        np.subtract(theta, np.repeat(largest, self._sizes), out=self._potentials)
        np.maximum(self._potentials, FLOOR, out=self._potentials)
        np.exp(self._potentials, out=self._potentials)
        if self._support is not None:
            np.multiply(self._potentials, self._support, out=self._potentials)
        return float(largest.sum())

    def _propagate(self) -> bool:
        """Run the program on the potentials; return whether every message had mass."""
        for slot, (contract, out) in enumerate(self._upward):
            contract()
            scale = float(out.max())
            if not VANISHED < scale < np.inf:
                return False
            self._scales[slot] = scale
            out *= 1.0 / scale
        for contract, out, slot in self._downward:
            contract()
            out *= 1.0 / self._scales[slot]
        return True

    def run(self, theta: Array) -> tuple[float, Array] | None:
        """Return log Z and the marginals of the measured factors.

        Args:
            theta: the log-potentials of all measured factors, flat, in the program's order and the inner axis order;
                entries of impossible cells are ignored.

        Returns:
            log Z (the sum over the connected parts) and the probabilities of the factors' cells (each factor sums
            to 1), flat; None where the potentials leave some message without representable mass.
        """
        offset = self._exponentiate(theta)
        if not np.isfinite(offset) or not self._propagate():
            return None
        return offset + float(np.log(self._scales).sum()), self._potentials * self._outside

    def beliefs(self) -> list[Array]:
        """Return the probability tables of the maximal cliques (inner order), after ``run``."""
        tables = []
        for recipe in self._program.beliefs:
            a, b, above = (self._view(table, recipe.mask) for table in recipe.tables)
            belief = a * b
            belief *= above
            belief /= belief.sum()
            tables.append(belief)
        return tables
