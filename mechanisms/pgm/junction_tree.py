"""Junction trees by greedy elimination on bit masks, and the number of cells they need.

Source: Koller and Friedman (2009), chapters 9 and 10; Lauritzen and Spiegelhalter (1988).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.pgm.axes import Axes, axes_of, bits
from mechanisms.pgm.backends import has_numba
from mechanisms.pgm.domain import Domain

BYTES_PER_CELL = 8
_MEGABYTE = 1_000_000
_MEMO_LIMIT = 1 << 16
_BATCH = 16  # from this many candidates on, the compiled elimination pays
_memo: dict[tuple[Domain, frozenset[int]], int] = {}


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """The maximal cliques of a triangulation, as bit masks in the inner numbering, parents before children.

    Args:
        order: all attributes that occur, in the order in which they are eliminated.
        cliques: the maximal cliques.
        parents: the position of each clique's parent, or -1 for the root of a connected part.
        separators: the attributes shared with the parent (0 for a root).
    """

    order: tuple[int, ...]
    cliques: tuple[int, ...]
    parents: tuple[int, ...]
    separators: tuple[int, ...]


def _neighbourhoods(cliques: Iterable[int]) -> dict[int, int]:
    closed: dict[int, int] = {}
    for clique in cliques:
        for axis in bits(clique):
            closed[axis] = closed.get(axis, 0) | clique
    return closed


def eliminate(axes: Axes, cliques: Iterable[int]) -> list[tuple[int, int]]:
    """Return (attribute, its closed neighbourhood when it is eliminated) in a greedy elimination order.

    An attribute whose neighbours already form a clique goes first (that is never worse); otherwise the one whose
    neighbourhood has the fewest cells. Ties: the larger attribute first, so that the tables shrink fast.
    """
    closed = _neighbourhoods(cliques)

    def key(axis: int) -> tuple[bool, int, int, int]:
        around = closed[axis]
        fills = any(around & ~closed[other] for other in bits(around))
        return fills, axes.cells(around), -axes.sizes[axis], axis

    keys = {axis: key(axis) for axis in closed}
    steps = []
    while closed:
        fills, _, _, axis = min(keys.values())
        around = closed.pop(axis)
        del keys[axis]
        steps.append((axis, around))
        rest = around ^ (1 << axis)
        touched = rest
        for other in bits(rest):
            closed[other] = (closed[other] | rest) & ~(1 << axis)
            if fills:
                touched |= closed[other]
        for other in bits(touched):
            keys[other] = key(other)
    return steps


def junction_tree(axes: Axes, cliques: Iterable[int]) -> JunctionTree:
    """Build the junction tree of the cliques' triangulated graph, one root for each connected part."""
    steps = eliminate(axes, cliques)
    found: list[int] = []
    parents: list[int] = []
    separators: list[int] = []
    home: dict[int, int] = {}
    position = {axis: i for i, (axis, _) in enumerate(steps)}
    for axis, around in reversed(steps):
        separator = around ^ (1 << axis)
        if separator:
            parent = home[min(bits(separator), key=position.__getitem__)]
            if found[parent] == separator:
                found[parent] = around
                home[axis] = parent
                continue
        else:
            parent = -1
        home[axis] = len(found)
        found.append(around)
        parents.append(parent)
        separators.append(separator)
    return JunctionTree(tuple(axis for axis, _ in steps), tuple(found), tuple(parents), tuple(separators))


def _maximal(masks: Iterable[int]) -> list[int]:
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), m)):
        if not any(mask & other == mask for other in kept):
            kept.append(mask)
    return kept


def _connected_parts(masks: Iterable[int]) -> list[tuple[int, list[int]]]:
    parts: list[tuple[int, list[int]]] = []
    for mask in masks:
        span, members = mask, [mask]
        apart = []
        for part in parts:
            if part[0] & mask:
                span |= part[0]
                members += part[1]
            else:
                apart.append(part)
        parts = [*apart, (span, members)]
    return parts


def _part_cells(axes: Axes, members: Iterable[int]) -> int:
    """Return the cells of the tree of one connected part (memoised: most candidates leave most parts alone)."""
    key = (axes.domain, frozenset(members))
    count = _memo.get(key)
    if count is None:
        if len(_memo) >= _MEMO_LIMIT:
            _memo.clear()
        count = sum(axes.cells(clique) for clique in junction_tree(axes, members).cliques)
        _memo[key] = count
    return count


def candidate_cells(
    domain: Domain, cliques: Sequence[Sequence[str]], candidates: Sequence[Sequence[str]]
) -> tuple[int, ...]:
    """Return, for each candidate, the cells of the junction tree of the cliques and that candidate.

    Attributes in no clique are parts of their own: every model holds their one-way tables too.
    """
    axes = axes_of(domain)
    singles = [1 << axis for axis in range(len(axes.sizes))]
    base = [axes.mask(clique) for clique in cliques] + singles
    asked = [axes.mask(candidate) for candidate in candidates]
    if len(asked) >= _BATCH and has_numba():
        from mechanisms.pgm.elimination_numba import count_cells, words

        closed = _neighbourhoods(base)
        count = -(-len(singles) // 64)
        graph = words([closed[axis] for axis in range(len(singles))], count)
        return tuple(int(cells) for cells in count_cells(graph, np.array(axes.sizes, float), words(asked, count)))
    base = _maximal(base)
    parts = [(span, members, _part_cells(axes, members)) for span, members in _connected_parts(base)]
    total = sum(cells for _, _, cells in parts)
    counts = []
    for mask in asked:
        if not mask or any(mask & clique == mask for clique in base):
            counts.append(total)
            continue
        touched = [part for part in parts if part[0] & mask]
        members = [m for part in touched for m in part[1] if m & mask != m]
        counts.append(total - sum(part[2] for part in touched) + _part_cells(axes, [*members, mask]))
    return tuple(counts)


def model_cells(domain: Domain, cliques: Sequence[Sequence[str]]) -> int:
    """Return the number of cells of the junction tree that a model with these measured cliques needs.

    Returns:
        an exact integer: the sum over the tree's maximal cliques, attributes in no clique included.
    """
    return candidate_cells(domain, cliques, [()])[0]


def model_size_mb(domain: Domain, cliques: Sequence[Sequence[str]]) -> float:
    """Return the memory of the model's tables in megabytes (10⁶ bytes, 8 bytes a cell)."""
    return model_cells(domain, cliques) * BYTES_PER_CELL / _MEGABYTE
