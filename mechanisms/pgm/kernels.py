"""Loop nests compiled by numba: one strided contraction, one blocked matrix product, one interpreter over both.

Compiled once for all structures (and cached on disk where the installation allows it). Indices are unsigned, because
numba guards signed ones against negative values inside the innermost loop. Sums may be reordered by the compiler, the
same way in each run; NaN and infinity keep their meaning.
"""
# ruff: noqa: C901, PLR0912, PLR0915, PLR0917 - numba compiles whole loop nests; a call per case would cost more than it

from typing import Any

import numba
import numpy as np

from mechanisms.pgm.axes import Array

_RELAXED = {"reassoc", "contract", "nsz"}
_DEEPEST = 64
_WIDTH = 128  # columns of a block: four rows of two operands stay in the first-level cache
_HEIGHT = 256  # rows of a block: the block stays in the second-level cache

Place = Any  # an unsigned integer, which Python's int stands in for


def _jit(function: Any) -> Any:  # noqa: ANN401 - numba's dispatcher has no public type
    return numba.njit(function, cache=True, fastmath=_RELAXED)


@_jit
def _rows(
    out: Array, left: Array, right: Array, o: Place, a: Place, b: Place, rows: Place, n: Place,
    oj: Place, aj: Place, bj: Place, oi: Place, ai: Place, bi: Place,
) -> None:  # fmt: skip
    """Run the two innermost loops; oi, ai, bi (0 or 1) say which operands the inner one walks along."""
    if oi and ai and bi:
        for _ in range(rows):
            for i in range(n):
                out[o + i] += left[a + i] * right[b + i]
            o += oj
            a += aj
            b += bj
    elif oi and bi:
        for _ in range(rows):
            factor = left[a]
            for i in range(n):
                out[o + i] += factor * right[b + i]
            o += oj
            a += aj
            b += bj
    elif oi and ai:
        for _ in range(rows):
            factor = right[b]
            for i in range(n):
                out[o + i] += factor * left[a + i]
            o += oj
            a += aj
            b += bj
    elif oi:
        for _ in range(rows):
            value = left[a] * right[b]
            for i in range(n):
                out[o + i] += value
            o += oj
            a += aj
            b += bj
    elif ai and bi:
        for _ in range(rows):
            total = 0.0
            for i in range(n):
                total += left[a + i] * right[b + i]
            out[o] += total
            o += oj
            a += aj
            b += bj
    elif ai:
        for _ in range(rows):
            total = 0.0
            for i in range(n):
                total += left[a + i]
            out[o] += total * right[b]
            o += oj
            a += aj
            b += bj
    elif bi:
        for _ in range(rows):
            total = 0.0
            for i in range(n):
                total += right[b + i]
            out[o] += total * left[a]
            o += oj
            a += aj
            b += bj
    else:
        for _ in range(rows):
            out[o] += left[a] * right[b]
            o += oj
            a += aj
            b += bj


@_jit
def _block(
    out: Array, left: Array, right: Array, o: Place, a: Place, b: Place, m: Place, k: Place, n: Place,
    om: Place, am: Place, ak: Place, bk: Place,
) -> None:  # fmt: skip
    """Add a matrix product: out[m, n] += left[m, k]·right[k, n], n contiguous in out and right; 4 × 4 at a time."""
    four = np.uint64(4)
    one = np.uint64(1)
    row = np.uint64(0)
    while row + four <= m:
        o0 = o + row * om
        o1, o2, o3 = o0 + om, o0 + om + om, o0 + om + om + om
        a0 = a + row * am
        a1, a2, a3 = a0 + am, a0 + am + am, a0 + am + am + am
        step = np.uint64(0)
        while step + four <= k:
            at = step * ak
            x00, x01, x02, x03 = left[a0 + at], left[a1 + at], left[a2 + at], left[a3 + at]
            at += ak
            x10, x11, x12, x13 = left[a0 + at], left[a1 + at], left[a2 + at], left[a3 + at]
            at += ak
            x20, x21, x22, x23 = left[a0 + at], left[a1 + at], left[a2 + at], left[a3 + at]
            at += ak
            x30, x31, x32, x33 = left[a0 + at], left[a1 + at], left[a2 + at], left[a3 + at]
            b0 = b + step * bk
            b1, b2, b3 = b0 + bk, b0 + bk + bk, b0 + bk + bk + bk
            for i in range(n):
                y0, y1, y2, y3 = right[b0 + i], right[b1 + i], right[b2 + i], right[b3 + i]
                out[o0 + i] += x00 * y0 + x10 * y1 + x20 * y2 + x30 * y3
                out[o1 + i] += x01 * y0 + x11 * y1 + x21 * y2 + x31 * y3
                out[o2 + i] += x02 * y0 + x12 * y1 + x22 * y2 + x32 * y3
                out[o3 + i] += x03 * y0 + x13 * y1 + x23 * y2 + x33 * y3
            step += four
        while step < k:
            at = step * ak
            x00, x01, x02, x03 = left[a0 + at], left[a1 + at], left[a2 + at], left[a3 + at]
            b0 = b + step * bk
            for i in range(n):
                y0 = right[b0 + i]
                out[o0 + i] += x00 * y0
                out[o1 + i] += x01 * y0
                out[o2 + i] += x02 * y0
                out[o3 + i] += x03 * y0
            step += one
        row += four
    while row < m:
        o0 = o + row * om
        a0 = a + row * am
        step = np.uint64(0)
        while step + four <= k:
            at = a0 + step * ak
            x00, x10, x20, x30 = left[at], left[at + ak], left[at + ak + ak], left[at + ak + ak + ak]
            b0 = b + step * bk
            b1, b2, b3 = b0 + bk, b0 + bk + bk, b0 + bk + bk + bk
            for i in range(n):
                out[o0 + i] += x00 * right[b0 + i] + x10 * right[b1 + i] + x20 * right[b2 + i] + x30 * right[b3 + i]
            step += four
        while step < k:
            x00 = left[a0 + step * ak]
            b0 = b + step * bk
            for i in range(n):
                out[o0 + i] += x00 * right[b0 + i]
            step += one
        row += one


@_jit
def _product(
    out: Array, left: Array, right: Array, o: Place, a: Place, b: Place, m: Place, k: Place, n: Place,
    om: Place, am: Place, ak: Place, bk: Place, bn: Place, scratch: Array,
) -> None:  # fmt: skip
    """Add a matrix product block by block, copying blocks of ``right`` whose columns are not contiguous."""
    width, height, nothing = np.uint64(_WIDTH), np.uint64(_HEIGHT), np.uint64(0)
    first = nothing
    while first < n:
        columns = min(width, n - first)
        start = nothing
        while start < k:
            rows = min(height, k - start)
            origin = b + start * bk + first * bn
            if bn == 1:
                _block(out, left, right, o + first, a + start * ak, origin, m, rows, columns, om, am, ak, bk)
            else:
                for i in range(columns):
                    column = origin + i * bn
                    for r in range(rows):
                        scratch[r * columns + i] = right[column + r * bk]
                _block(out, left, scratch, o + first, a + start * ak, nothing, m, rows, columns, om, am, ak, columns)
            start += rows
        first += columns


@_jit
def _contract(out: Array, left: Array, right: Array, code: Any, at: Place, index: Any, scratch: Array) -> None:  # noqa: ANN401
    """Run one record (see ``strides.encode``): walk the outer loops as an odometer."""
    one = np.uint64(1)
    first, cells, a, b = code[at + 1], code[at + 2], code[at + 3], code[at + 4]
    product, depth = code[at + 6], code[at + 7]
    extents = at + 8
    to_out = extents + depth
    to_a = to_out + depth
    to_b = to_a + depth
    for i in range(cells):
        out[first + i] = 0.0
    last = depth - one
    outer = last - one - product
    for d in range(outer):
        index[d] = 0
    o = first
    while True:
        if product:
            _product(
                out, left, right, o, a, b, code[extents + outer], code[extents + outer + 1], code[extents + last],
                code[to_out + outer], code[to_a + outer], code[to_a + outer + 1], code[to_b + outer + 1],
                code[to_b + last], scratch,
            )  # fmt: skip
        else:
            _rows(
                out, left, right, o, a, b, code[extents + outer], code[extents + last],
                code[to_out + outer], code[to_a + outer], code[to_b + outer],
                code[to_out + last], code[to_a + last], code[to_b + last],
            )  # fmt: skip
        d = outer
        while d > 0:
            d -= one
            index[d] += one
            o += code[to_out + d]
            a += code[to_a + d]
            b += code[to_b + d]
            if index[d] < code[extents + d]:
                break
            o -= index[d] * code[to_out + d]
            a -= index[d] * code[to_a + d]
            b -= index[d] * code[to_b + d]
            index[d] = 0
            if d == 0:
                return
        if outer == 0:
            return


@_jit
def execute(work: Array, source: Array, code: Any) -> None:  # noqa: ANN401
    """Run the records without scaling: first operands in ``source`` (or in ``work`` itself), the rest in ``work``."""
    index = np.zeros(_DEEPEST, dtype=np.uint64)
    scratch = np.empty(_WIDTH * _HEIGHT)
    at = np.uint64(0)
    while at < code.size:
        _contract(work, source, work, code, at, index, scratch)
        at += code[at]


@_jit
def propagate(work: Array, upward: Any, downward: Any, scales: Array, vanished: float) -> bool:  # noqa: ANN401
    """Run a program: upward, dividing each result by its largest cell, then downward by the same scales.

    Returns:
        False where a message has no representable mass.
    """
    index = np.zeros(_DEEPEST, dtype=np.uint64)
    scratch = np.empty(_WIDTH * _HEIGHT)
    at = np.uint64(0)
    while at < upward.size:
        _contract(work, work, work, upward, at, index, scratch)
        first, cells = upward[at + 1], upward[at + 2]
        largest = 0.0
        for i in range(cells):
            value = work[first + i]
            if not value <= largest:
                largest = value
        if not vanished < largest < np.inf:
            return False
        scales[upward[at + 5]] = largest
        inverse = 1.0 / largest
        for i in range(cells):
            work[first + i] *= inverse
        at += upward[at]
    at = np.uint64(0)
    while at < downward.size:
        _contract(work, work, work, downward, at, index, scratch)
        first, cells = downward[at + 1], downward[at + 2]
        inverse = 1.0 / scales[downward[at + 5]]
        for i in range(cells):
            work[first + i] *= inverse
        at += downward[at]
    return True
