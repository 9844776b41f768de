"""Model sizes of many candidates, compiled by numba: the greedy elimination of ``junction_tree`` without its tree.

Attributes whose neighbours form a clique may go in any order (they add no edge, and the rest is the same), so a stack
replaces the search for the smallest; all other choices are those of ``junction_tree.eliminate``.
"""
# ruff: noqa: C901, PLR0912, PLR0917, SIM110 - numba compiles loops, not generators, and whole loop nests best

from typing import Any

import numba
import numpy as np

from mechanisms.pgm.axes import Array

_WORD = 64
Words = np.ndarray[Any, np.dtype[np.uint64]]


def words(masks: list[int], count: int) -> Words:
    """Return bit masks as rows of ``count`` 64-bit words, least significant first."""
    data = b"".join(mask.to_bytes(8 * count, "little") for mask in masks)
    return np.frombuffer(data, dtype="<u8").reshape(len(masks), count)


def _jit(function: Any) -> Any:  # noqa: ANN401 - numba's dispatcher has no public type
    return numba.njit(function, cache=True)


@_jit
def _members(mask: Words, found: Any) -> int:  # noqa: ANN401
    """Write the positions of the set bits; return how many there are."""
    count = 0
    one = np.uint64(1)
    for w in range(mask.size):
        word = mask[w]
        position = w * _WORD
        while word:
            while not word & np.uint64(0xFF):
                word >>= np.uint64(8)
                position += 8
            if word & one:
                found[count] = position
                count += 1
            word >>= one
            position += 1
    return count


@_jit
def _within(inner: Words, outer: Words) -> bool:
    for w in range(inner.size):
        if inner[w] & ~outer[w]:
            return False
    return True


@_jit
def _cells(mask: Words, sizes: Array, found: Any) -> float:  # noqa: ANN401
    cells = 1.0
    for i in range(_members(mask, found)):
        cells *= sizes[found[i]]
    return cells


@_jit
def _fills(closed: Words, axis: int, found: Any) -> bool:  # noqa: ANN401
    for i in range(_members(closed[axis], found)):
        if not _within(closed[axis], closed[found[i]]):
            return True
    return False


@_jit
def _eliminate(closed: Words, sizes: Array, alive: Any, cliques: Words, steps: int, order: Any) -> tuple[float, int]:  # noqa: ANN401
    """Eliminate the attributes that are alive from a graph of closed neighbourhoods, which is destroyed.

    Args:
        closed: the neighbourhoods.
        sizes: the attributes' cells.
        alive: which attributes are left; all False afterwards.
        cliques: the neighbourhoods met so far come first; those met now are added.
        steps: how many came before.
        order: receives the attributes from position ``steps`` on.

    Returns:
        the cells of the new maximal cliques, and the number of steps before the first that added an edge.
    """
    many = sizes.size
    found, around, stack = np.empty(many, np.int64), np.empty(many, np.int64), np.empty(many, np.int64)
    waiting = ~alive
    left = many - waiting.sum()
    top = 0
    for axis in range(many):
        if alive[axis] and not _fills(closed, axis, found):
            stack[top], waiting[axis] = axis, True
            top += 1
    price = np.zeros(many)  # of eliminating each attribute next; 0 where not known
    total, free = 0.0, -1
    for step in range(steps, steps + left):
        filled = top == 0
        if filled:
            free = step if free < 0 else free
            axis, fewest = -1, np.inf
            for other in range(many):
                if alive[other]:
                    cells = price[other]
                    if cells == 0:
                        cells = price[other] = _cells(closed[other], sizes, found)
                    if axis < 0 or cells < fewest or (cells == fewest and sizes[other] > sizes[axis]):
                        axis, fewest = other, cells
        else:
            top -= 1
            axis = stack[top]
        alive[axis], waiting[axis] = False, True
        order[step] = axis
        clique = cliques[step]
        clique[:] = closed[axis]
        covered = False
        for earlier in range(step):
            if _within(clique, cliques[earlier]):
                covered = True
                break
        if not covered:
            total += _cells(clique, sizes, found)
        word, bit = axis // _WORD, np.uint64(1) << np.uint64(axis % _WORD)
        touched = clique.copy()
        rest = _members(clique, around)
        for i in range(rest):
            other = around[i]
            closed[other] |= clique
            closed[other, word] &= ~bit
            price[other] = 0
            if filled:
                touched |= closed[other]
        if filled:
            rest = _members(touched, around)
        for i in range(rest):
            other = around[i]
            if not waiting[other] and not _fills(closed, other, found):
                stack[top], waiting[other] = other, True
                top += 1
    return total, steps + left if free < 0 else free


@_jit
def count_cells(graph: Words, sizes: Array, candidates: Words) -> Array:
    """Return the tree's cells with each candidate clique added to a graph of closed neighbourhoods.

    What is eliminated without new edges before any of the candidate's attributes is the same for all candidates.

    Returns:
        float64, exact below 2^53.
    """
    many = sizes.size
    counts = np.empty(candidates.shape[0])
    found, ignored = np.empty(many, np.int64), np.empty(many, np.int64)
    order, shared = np.empty(many, np.int64), np.empty_like(graph)
    unchanged, free = _eliminate(graph.copy(), sizes, np.ones(many, np.bool_), shared, 0, order)
    cells = np.zeros(free)
    for step in range(free):
        cells[step] = _cells(shared[step], sizes, found)
        for earlier in range(step):
            if _within(shared[step], shared[earlier]):
                cells[step] = 0.0
                break
    cliques = np.empty_like(graph)
    late = np.empty(graph.shape[1], np.uint64)
    for c in range(candidates.shape[0]):
        candidate = candidates[c]
        members = _members(candidate, found)
        known = True
        for i in range(members):
            if not _within(candidate, graph[found[i]]):
                known = False
                break
        if known:
            counts[c] = unchanged
            continue
        alive = np.ones(many, np.bool_)
        late[:] = 0
        steps, total = 0, 0.0
        for step in range(free):
            axis = order[step]
            word, bit = axis // _WORD, np.uint64(1) << np.uint64(axis % _WORD)
            kept = candidate[word] & bit != 0
            for w in range(late.size):
                if graph[axis, w] & late[w]:
                    kept = True
            if kept:
                late[word] |= bit
            else:
                alive[axis] = False
                cliques[steps] = shared[step]
                steps += 1
                total += cells[step]
        rest = np.zeros(graph.shape[1], np.uint64)
        for axis in range(many):
            if alive[axis]:
                rest[axis // _WORD] |= np.uint64(1) << np.uint64(axis % _WORD)
        closed = graph & rest
        for i in range(members):
            closed[found[i]] |= candidate
        counts[c] = total + _eliminate(closed, sizes, alive, cliques, steps, ignored)[0]
    return counts
