"""Exact inference as a list of contractions: a binary join tree, laid out over one flat array.

Eliminating an attribute multiplies the tables that contain it, two at a time and the smallest union first, and sums
the attribute out with the last product. Each step is one contraction, out = Σ a·b, and is never materialised at the
size of the union unless its result is that large. The derivative of log Z by a factor's log-potentials is that
factor's marginal; running the list backwards (each contraction is linear in both operands) gives all of them:
outside(a) = Σ outside(out)·b. No division occurs, so no 0/0.

The list is data: tables are offsets into one array, so a new structure costs a new list and never a new program.

Source: Shenoy (1997), binary join trees; Darwiche (2003), inference by derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from mechanisms.pgm.axes import Axes, bits
from mechanisms.pgm.junction_tree import JunctionTree


@dataclass(frozen=True, slots=True)
class Table:
    """A table inside the flat array.

    Args:
        offset: its first cell.
        mask: its attributes.
    """

    offset: int
    mask: int


ONE = Table(0, 0)  # the first cell holds 1.0 and stands in for an absent operand


@dataclass(frozen=True, slots=True)
class Contraction:
    """One instruction: out(O) = Σ a(A)·b(B) over the attributes of A ∪ B outside O, then divided by a scale.

    Args:
        out: where the result goes.
        a: first operand.
        b: second operand; ``ONE`` for a plain sum.
        scale: the scale's slot. Upward the result's largest cell is stored there; downward it is read.
    """

    out: Table
    a: Table
    b: Table
    scale: int


@dataclass(frozen=True, slots=True)
class Belief:
    """How a clique's belief arises: the product of three tables, divided by a scale."""

    mask: int
    tables: tuple[Table, Table, Table]
    scale: int


@dataclass(frozen=True, slots=True)
class Program:
    """The whole inference for one structure.

    Flat array: 1.0 · potentials of the measured factors · their outside messages · fixed factors · messages.

    Args:
        measured: the tables of the measured factors (inputs), contiguous from cell 1.
        fixed: the tables of the fixed factors (inputs that never change).
        outside: the outside messages of the measured factors, contiguous, in the factors' own shapes.
        upward: contractions from the factors to each connected part's mass.
        downward: contractions from the masses to the outside messages.
        beliefs: one recipe for each maximal clique, in the tree's order.
        size: the number of cells of the flat array.
    """

    measured: tuple[Table, ...]
    fixed: tuple[Table, ...]
    outside: tuple[Table, ...]
    upward: tuple[Contraction, ...]
    downward: tuple[Contraction, ...]
    beliefs: tuple[Belief, ...]
    size: int


class _Arena:
    """Hand out places in the flat array."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        self.size = 1

    def table(self, mask: int) -> Table:
        table = Table(self.size, mask)
        self.size += self._axes.cells(mask)
        return table

    def tables(self, masks: Sequence[int]) -> tuple[Table, ...]:
        return tuple(self.table(mask) for mask in masks)


class _Fusion:
    """The tables not yet combined, and who holds which attribute."""

    def __init__(self, axes: Axes, arena: _Arena, factors: Sequence[Table]) -> None:
        self.axes = axes
        self.arena = arena
        self.active: dict[int, Table] = {}
        self.holders: dict[int, set[int]] = {}
        self.steps: list[Contraction] = []
        self.slots = 0
        for table in factors:
            self._add(table)

    def _add(self, table: Table) -> int:
        slot = self.slots
        self.active[slot] = table
        for axis in bits(table.mask):
            self.holders.setdefault(axis, set()).add(slot)
        self.slots += 1
        return slot

    def _take(self, slot: int) -> Table:
        table = self.active.pop(slot)
        for axis in bits(table.mask):
            self.holders[axis].discard(slot)
        return table

    def _contract(self, slots: Sequence[int], kept: int) -> int:
        tables = [self._take(slot) for slot in slots]
        out = self.arena.table(kept)
        self.steps.append(Contraction(out, tables[0], tables[1] if len(tables) == 2 else ONE, len(self.steps)))
        return self._add(out)

    def _union_cells(self, first: int, second: int) -> int:
        return self.axes.cells(self.active[first].mask | self.active[second].mask)

    def eliminate(self, axis: int) -> None:
        """Multiply all tables with this attribute, then sum out what no other table holds."""
        group = sorted(self.holders.get(axis, ()))
        pairs = [(self._union_cells(p, q), p, q) for i, p in enumerate(group) for q in group[i + 1 :]]
        heapify(pairs)
        left = set(group)
        while len(left) > 2:
            _, first, second = heappop(pairs)
            if first in left and second in left:
                merged = self._contract((first, second), self.active[first].mask | self.active[second].mask)
                left -= {first, second}
                for other in left:
                    heappush(pairs, (self._union_cells(other, merged), other, merged))
                left.add(merged)
        if left:
            union = 0
            for slot in left:
                union |= self.active[slot].mask
            self._contract(sorted(left), sum(1 << other for other in bits(union) if self.holders[other] - left))


def plan(axes: Axes, tree: JunctionTree, measured: Sequence[int], fixed: Sequence[int]) -> Program:
    """Lay out the inference for factors with these attributes.

    Args:
        axes: the inner numbering.
        tree: the junction tree of the factors' cliques.
        measured: the attributes of each factor whose marginal is asked for.
        fixed: the attributes of the other factors; together they cover every attribute of the tree.
    """
    arena = _Arena(axes)
    inputs = arena.tables(measured)
    outside = dict(zip(inputs, arena.tables(measured), strict=True))
    constants = arena.tables(fixed)
    fusion = _Fusion(axes, arena, (*inputs, *constants))
    for axis in tree.order:
        fusion.eliminate(axis)

    silent = {ONE, *constants}
    downward: list[Contraction] = []
    for step in reversed(fusion.steps):
        above = outside.get(step.out, ONE)
        for operand, other in ((step.a, step.b), (step.b, step.a)):
            if operand not in silent:
                message = outside.get(operand) or arena.table(operand.mask & (above.mask | other.mask))
                outside[operand] = message
                downward.append(Contraction(message, above, other, step.scale))

    last = {step.a.mask | step.b.mask: step for step in fusion.steps}
    beliefs = tuple(
        Belief(mask, (last[mask].a, last[mask].b, outside.get(last[mask].out, ONE)), last[mask].scale)
        for mask in tree.cliques
    )
    return Program(
        measured=inputs,
        fixed=constants,
        outside=tuple(outside[table] for table in inputs),
        upward=tuple(fusion.steps),
        downward=tuple(downward),
        beliefs=beliefs,
        size=arena.size,
    )
