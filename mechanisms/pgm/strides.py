"""Contractions as loop nests: extents and strides over one flat array, with neighbouring axes merged."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mechanisms.pgm.axes import Axes, bits
from mechanisms.pgm.contraction import Contraction

Code = np.ndarray[Any, np.dtype[np.uint64]]
_ROWS_OF_PRODUCT = 4  # a matrix product pays from this many rows on


class Loop(NamedTuple):
    """One loop: its extent, and how far each operand moves in one turn."""

    extent: int
    out: int
    a: int
    b: int

    @property
    def pattern(self) -> tuple[bool, bool, bool]:
        """Say whether out, a and b move."""
        return self.out > 0, self.a > 0, self.b > 0


class Nest(NamedTuple):
    """A contraction's loops, encoded.

    Args:
        swapped: whether the operands change places.
        product: 1 if the three innermost loops are a matrix product (rows, summed, columns), else 0.
        depth: the number of loops.
        columns: extents, then strides in out, in a, in b, each from the outermost loop on.
    """

    swapped: bool
    product: int
    depth: int
    columns: tuple[int, ...]


_ROW, _SUMMED, _COLUMN = (True, True, False), (False, True, True), (True, False, True)


def _strides(axes: Axes, mask: int) -> dict[int, int]:
    found = {}
    stride = 1
    for axis in reversed(list(bits(mask))):
        found[axis] = stride
        stride *= axes.sizes[axis]
    return found


def merged_loops(axes: Axes, out_mask: int, a_mask: int, b_mask: int) -> list[Loop]:
    """Return a contraction's loops from the outermost on; axes that always move together are one."""
    out, a, b = (_strides(axes, mask) for mask in (out_mask, a_mask, b_mask))
    loops: list[Loop] = []
    for axis in bits(out_mask | a_mask | b_mask):
        size = axes.sizes[axis]
        if size == 1:
            continue
        loop = Loop(size, out.get(axis, 0), a.get(axis, 0), b.get(axis, 0))
        if loops and loops[-1][1:] == (loop.out * size, loop.a * size, loop.b * size):
            loop = loop._replace(extent=loops.pop().extent * size)
        loops.append(loop)
    return loops


def _as_product(loops: list[Loop]) -> tuple[bool, list[Loop]] | None:
    """Bring a matrix product into the three innermost loops, columns contiguous in out; None if there is none."""
    contiguous = next((loop for loop in reversed(loops) if loop.out == 1), None)
    if contiguous is None or contiguous.pattern not in (_ROW, _COLUMN):
        return None
    swapped = contiguous.pattern == _ROW
    if swapped:
        loops = [Loop(loop.extent, loop.out, loop.b, loop.a) for loop in loops]
        contiguous = Loop(contiguous.extent, contiguous.out, contiguous.b, contiguous.a)
    rows = max((loop for loop in loops if loop.pattern == _ROW), default=None)
    summed = max((loop for loop in loops if loop.pattern == _SUMMED), default=None)
    if rows is None or summed is None or rows.extent < _ROWS_OF_PRODUCT:
        return None
    inner = [rows, summed, contiguous]
    return swapped, [loop for loop in loops if loop not in inner] + inner


@lru_cache(maxsize=1 << 16)
def loop_nest(axes: Axes, out_mask: int, a_mask: int, b_mask: int) -> Nest:
    """Return the loops of a contraction.

    Axes that are neighbours in the inner order and belong to the same tables are one loop; there are at least two
    loops. The innermost loop has stride 0 or 1 everywhere, except for the second operand of a matrix product.
    """
    loops = merged_loops(axes, out_mask, a_mask, b_mask)
    found = _as_product(loops)
    swapped, loops = (False, [Loop(1, 0, 0, 0)] * (2 - len(loops)) + loops) if found is None else found
    columns = tuple(loop[i] for i in range(4) for loop in loops)
    return Nest(swapped, int(found is not None), len(loops), columns)


def encode(axes: Axes, steps: Iterable[Contraction]) -> Code:
    """Return the steps as one array of unsigned integers.

    Each step: length of this record · out offset · out cells · a offset · b offset · scale slot · matrix product or
    not · number of loops · extents · strides in out · in a · in b.
    """
    code: list[int] = []
    for step in steps:
        nest = loop_nest(axes, step.out.mask, step.a.mask, step.b.mask)
        a, b = (step.b.offset, step.a.offset) if nest.swapped else (step.a.offset, step.b.offset)
        code += (
            8 + len(nest.columns), step.out.offset, axes.cells(step.out.mask), a, b, step.scale, nest.product,
            nest.depth,
        )  # fmt: skip
        code += nest.columns
    return np.array(code, dtype=np.uint64)
