"""The JAX backend: contraction programs on an accelerator, one compiled kernel for each loop nest.

A kernel is compiled for the extents of a nest, not for a structure: a new structure compiles only the nests that no
earlier one had. That still takes longer than numba needs for whole fits of smaller models, so this backend is for large
ones (see ``backends``). Tables stay on the device from the potentials to the outside messages; a pass sends the
potentials, fetches the messages and the scales, and waits once.
"""

from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mechanisms.pgm.axes import Array, Axes
from mechanisms.pgm.contraction import ONE, Contraction, Table
from mechanisms.pgm.inference import VANISHED, Engine
from mechanisms.pgm.strides import merged_loops

jax.config.update("jax_enable_x64", True)  # for the whole process, which uses JAX for this alone

Nest = tuple[tuple[int, bool, bool, bool], ...]
"""The loops of a contraction: the extent, and whether out, a and b move along it."""


class JaxEngine(Engine):
    """Run contraction programs in XLA, in float64."""

    def _prepare(self) -> None:
        program = self._program
        fixed = _to_device([self._cells(table) for table in program.fixed])
        self._fixed = {ONE.offset: jnp.ones(1)}
        self._fixed |= {table.offset: values for table, values in zip(program.fixed, fixed, strict=True)}
        self._held: dict[int, Any] = {}
        self._nests_up = [nest_of(self._axes, step) for step in program.upward]
        self._nests_down = [nest_of(self._axes, step) for step in program.downward]

    def _cells(self, table: Table) -> Array:
        """Return a table's part of the flat array."""
        cells: Array = self._work[table.offset : table.offset + self._axes.cells(table.mask)]
        return cells

    def _propagate(self) -> bool:
        program = self._program
        inputs = _to_device([self._cells(table) for table in program.measured])
        held = self._fixed | {table.offset: cells for table, cells in zip(program.measured, inputs, strict=True)}
        scales: list[Any] = []
        for step, nest in zip(program.upward, self._nests_up, strict=True):
            held[step.out.offset], scale = _upward(held[step.a.offset], held[step.b.offset], nest)
            scales.append(scale)
        for step, nest in zip(program.downward, self._nests_down, strict=True):
            a, b = held[step.a.offset], held[step.b.offset]
            held[step.out.offset] = _downward(a, b, scales[step.scale], nest)
        self._held = held
        self._scales[:], outside = jax.device_get((scales, [held[table.offset] for table in program.outside]))
        for table, message in zip(program.outside, outside, strict=True):
            self._cells(table)[:] = message
        return bool(((self._scales > VANISHED) & (self._scales < np.inf)).all())

    def beliefs(self) -> list[Array]:
        """Return the probability tables of the maximal cliques (inner order), after ``run``."""
        for recipe in self._program.beliefs:
            for table in recipe.tables:
                self._cells(table)[:] = self._held[table.offset]
        return Engine.beliefs(self)


def _to_device(tables: list[Array]) -> list[Any]:
    """Copy tables to the device: without a copy, JAX on a CPU would see the next pass overwrite them."""
    copies: list[Any] = jax.device_put(tables, may_alias=False)
    return copies


def nest_of(axes: Axes, step: Contraction) -> Nest:
    """Return the loops of a contraction, which are all that its kernel depends on."""
    return _nest_of_masks(axes, step.out.mask, step.a.mask, step.b.mask)


@lru_cache(maxsize=1 << 16)
def _nest_of_masks(axes: Axes, out: int, a: int, b: int) -> Nest:
    return tuple((loop.extent, *loop.pattern) for loop in merged_loops(axes, out, a, b))


@partial(jax.jit, static_argnums=2)
def _upward(a: Any, b: Any, nest: Nest) -> Any:  # noqa: ANN401 - arrays while JAX traces
    """Contract; return the result divided by its largest cell, and that."""
    found = _contract(a, b, nest)
    scale = found.max()
    return found / scale, scale


@partial(jax.jit, static_argnums=3)
def _downward(a: Any, b: Any, scale: Any, nest: Nest) -> Any:  # noqa: ANN401
    """Contract; return the result divided by a scale."""
    return _contract(a, b, nest) / scale


def _contract(a: Any, b: Any, nest: Nest) -> Any:  # noqa: ANN401
    """Return Σ a·b of flat tables: a matrix product where both sides have loops of their own, else fused loops."""
    extents, in_out, in_a, in_b = ([loop[i] for loop in nest] for i in range(4))
    if {(False, True, True), (True, True, False), (True, False, True)} <= {loop[1:] for loop in nest}:
        ids_a, ids_b = ([i for i, moves in enumerate(column) if moves] for column in (in_a, in_b))
        ids = [i for i, moves in enumerate(in_out) if moves and (in_a[i] or in_b[i])]
        left, right = (table.reshape([extents[i] for i in n]) for table, n in ((a, ids_a), (b, ids_b)))
        found = jnp.einsum(left, ids_a, right, ids_b, ids, precision=jax.lax.Precision.HIGHEST)
        found = found.reshape([extents[i] if i in ids else 1 for i, moves in enumerate(in_out) if moves])
    else:
        left = a.reshape([extent if moves else 1 for extent, moves in zip(extents, in_a, strict=True)])
        right = b.reshape([extent if moves else 1 for extent, moves in zip(extents, in_b, strict=True)])
        found = (left * right).sum(axis=tuple(i for i, moves in enumerate(in_out) if not moves))
    return jnp.broadcast_to(found, [extent for extent, moves in zip(extents, in_out, strict=True) if moves]).ravel()
