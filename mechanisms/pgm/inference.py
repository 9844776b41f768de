"""Belief propagation: run a contraction program over a flat float64 array.

``Engine`` is the NumPy backend and the meaning of a program.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped] # it ships no types

from mechanisms.pgm.axes import Array, Axes, bits
from mechanisms.pgm.contraction import ONE, Contraction, Program, Table
from mechanisms.pgm.strides import loop_nest

FLOOR = -150.0
"""Log-potentials below a factor's largest by more than this count as this: no possible cell is ever exactly 0.

At -80 fits to many measurements met it where factors compensate each other, and got slow; at -150 none did.
"""

VANISHED = 1e-200
Ints = np.ndarray[Any, np.dtype[np.int64]]


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


_limited = ContextVar("_limited", default=False)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread meanwhile: the number of threads would change the last bits of a sum."""
    if _limited.get():
        yield
        return
    with _blas().limit(limits=1, user_api="blas"):
        token = _limited.set(True)
        try:
            yield
        finally:
            _limited.reset(token)


def view(axes: Axes, work: Array, table: Table, mask: int) -> Array:
    """View a table with the axes of ``mask``: its own ones, and stride 0 for the others."""
    return _strided(work, table.offset, *_layout(axes, table.mask, mask))


@lru_cache(maxsize=1 << 16)
def _layout(axes: Axes, held: int, mask: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape and the strides in bytes of a view with the axes of ``mask`` on a table of ``held`` ones."""
    strides = {}
    stride = np.dtype(np.float64).itemsize
    for axis in reversed(list(bits(held))):
        strides[axis] = stride
        stride *= axes.sizes[axis]
    return axes.shape(mask), tuple(strides.get(axis, 0) for axis in bits(mask))


def _strided(work: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """View a part of a flat array; NumPy checks that it stays inside, many times faster than ``as_strided``."""
    return np.ndarray(shape, work.dtype, work, offset * work.itemsize, strides)


def bind(axes: Axes, step: Contraction, work: Array, source: Array) -> Callable[[], object]:
    """Return the contraction as a call on views: out and b in ``work``, a in ``source``."""
    product = _bind_product(axes, step, work) if source is work else None
    if product is not None:
        return product
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


def _bind_product(axes: Axes, step: Contraction, work: Array) -> Callable[[], object] | None:
    """Return the contraction as a stack of matrix products, where it is one: several times faster than einsum."""
    nest = loop_nest(axes, step.out.mask, step.a.mask, step.b.mask)
    if not nest.product:
        return None
    extents, *strides = np.split(np.array(nest.columns), 4)
    rows, summed, columns = nest.depth - 3, nest.depth - 2, nest.depth - 1
    if not all(strides[0][:rows]):
        return None

    def matrices(table: Table, moves: Array, *last: int) -> Array:
        loops = [*range(rows), *last]
        shape, strides = extents[loops].tolist(), (moves[loops] * work.itemsize).tolist()
        return _strided(work, table.offset, tuple(shape), tuple(strides))

    a, b = (step.b, step.a) if nest.swapped else (step.a, step.b)
    out = matrices(step.out, strides[0], rows, columns)
    left, right = matrices(a, strides[1], rows, summed), matrices(b, strides[2], summed, columns)
    return lambda: np.matmul(left, right, out=out)


class Engine:
    """Hold one structure's program with its tables and run it for any potentials."""

    def __init__(self, axes: Axes, program: Program, fixed: Sequence[Array]) -> None:
        """Prepare the tables.

        Args:
            axes: the inner numbering.
            program: the contraction list.
            fixed: the values of the fixed factors (inner order).
        """
        self._axes = axes
        self._program = program
        self._support: Array | None = None
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

    def restrict(self, support: Array) -> None:
        """Declare the possible cells of the measured factors: 1.0, impossible ones 0.0, flat."""
        self._support = support

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
        with one_blas_thread():
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
        with one_blas_thread():
            return self._run_views()

    def _run_views(self) -> bool:
        for slot, (contract, message) in enumerate(self._upward):
            contract()
            scale = float(message.max())
            if not VANISHED < scale < np.inf:
                return False
            self._scales[slot] = scale
            np.multiply(message, 1.0 / scale, out=message)
        for contract, message, slot in self._downward:
            contract()
            np.multiply(message, 1.0 / self._scales[slot], out=message)
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
