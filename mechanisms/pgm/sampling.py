"""Draw rows from a calibrated junction tree with low-variance rounding.

Cliques are visited from the roots. Rows that agree on a clique's separator form a group; the group's rows are dealt
out over the clique's new attributes by systematic sampling, in random order within the group: each cell receives its
expected number of the group's rows, rounded up or down. A cell of probability 0 receives none.

Source: Madow (1949), systematic sampling.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mechanisms.pgm.axes import Array, Axes, bits
from mechanisms.pgm.junction_tree import JunctionTree

Codes = np.ndarray[Any, np.dtype[np.int32]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


def _deal(tables: Array, sizes: Ints, rng: np.random.Generator) -> Ints:
    """Return how many rows of each group each cell receives.

    Args:
        tables: non-negative weights, one row of cells for each group.
        sizes: the number of rows of each group.
        rng: public randomness.
    """
    cumulative = np.cumsum(tables, axis=1)
    cumulative /= cumulative[:, -1:]
    cumulative *= sizes[:, None]
    start = (rng.integers(0, 1 << 52, size=(len(sizes), 1)) + 0.5) / (1 << 52)
    cumulative -= start
    np.ceil(cumulative, out=cumulative)
    ends = cumulative.astype(np.int64)
    return np.diff(ends, axis=1, prepend=0)


def _code(axes: Axes, columns: dict[int, Codes], mask: int, rows: int) -> Ints:
    code = np.zeros(rows, dtype=np.int64)
    for axis in bits(mask):
        code *= axes.sizes[axis]
        code += columns[axis]
    return code


def sample_columns(
    axes: Axes, tree: JunctionTree, beliefs: Sequence[Array], rows: int, rng: np.random.Generator
) -> dict[int, Codes]:
    """Return one column of codes for each attribute (by inner number), each of exactly ``rows`` entries."""
    columns: dict[int, Codes] = {}
    for node, clique in enumerate(tree.cliques):
        separator = tree.separators[node]
        fresh = clique & ~separator
        order = rng.permutation(rows)
        code = _code(axes, columns, separator, rows)[order]
        if separator:
            by_code = np.argsort(code, kind="stable")
            order, code = order[by_code], code[by_code]
        groups, sizes = np.unique(code, return_counts=True)
        axis_list = list(bits(clique))
        kept = [i for i, axis in enumerate(axis_list) if separator >> axis & 1]
        new = [i for i, axis in enumerate(axis_list) if fresh >> axis & 1]
        tables = beliefs[node].transpose(kept + new).reshape(axes.cells(separator), axes.cells(fresh))
        counts = _deal(tables[groups], sizes, rng)
        group_of, cell = np.nonzero(counts)
        value = np.repeat(cell, counts[group_of, cell])
        for axis in reversed(list(bits(fresh))):
            value, digit = np.divmod(value, axes.sizes[axis])
            column = np.empty(rows, dtype=np.int32)
            column[order] = digit
            columns[axis] = column
    return columns
