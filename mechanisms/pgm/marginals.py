"""Marginals of a calibrated junction tree, many at once: a contraction list of their own.

A question inside a clique is a sum of the clique's table. A question across cliques is cut at the separator S that
leaves the fewest cells to multiply: with A asked on one side and B on the other, P(A, B) = Σ P(A, S)·P(B, S)/P(S), and
both factors are smaller questions. All questions of a batch share them. Parts that are not connected hang together by
empty separators.

Source: Koller and Friedman (2009), section 10.3.3.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mechanisms.pgm.axes import Array, Axes, bits
from mechanisms.pgm.backends import Backend, batch_engine_type
from mechanisms.pgm.contraction import ONE, Contraction, Table
from mechanisms.pgm.inference import Engine
from mechanisms.pgm.junction_tree import JunctionTree


class _Cut(NamedTuple):
    """An edge of the tree.

    Args:
        cells: the separator's cells.
        separator: the attributes shared by both sides.
        below: the attributes only on the child's side.
        above: the attributes only on the other side.
        inverse: where 1/P(separator) is.
    """

    cells: int
    separator: int
    below: int
    above: int
    inverse: Table


class _Sides:
    """For each attribute, as bit masks over the cuts: where it lies below, where above, and where in between."""

    def __init__(self, cuts: Sequence[_Cut], axes: int) -> None:
        self.below, self.above, self.between = [0] * axes, [0] * axes, [0] * axes
        for position, cut in enumerate(cuts):
            for side, mask in ((self.below, cut.below), (self.above, cut.above), (self.between, cut.separator)):
                for axis in bits(mask):
                    side[axis] |= 1 << position

    def dividing(self, mask: int) -> tuple[int, int]:
        """Return the cuts with some of the attributes on either side: those without, and with others in between."""
        below = above = between = 0
        for axis in bits(mask):
            below |= self.below[axis]
            above |= self.above[axis]
            between |= self.between[axis]
        dividing = below & above
        return dividing & ~between, dividing & between


class Calibrated:
    """A junction tree with the expected counts of each clique's cells, flat and in the inner order."""

    def __init__(self, axes: Axes, tree: JunctionTree, beliefs: Sequence[Array], total: float) -> None:
        self.axes = axes
        self.tree = tree
        self.cells = np.concatenate([belief.ravel() for belief in beliefs])
        self.cells *= total
        self.tables: list[Table] = []
        offset = 0
        for mask in tree.cliques:
            self.tables.append(Table(offset, mask))
            offset += axes.cells(mask)
        self.inverses = np.concatenate([self._inverse(node, total) for node in range(len(tree.cliques))])
        self.holders: dict[int, list[int]] = {}
        for node in sorted(range(len(tree.cliques)), key=lambda n: (axes.cells(tree.cliques[n]), n)):
            for axis in bits(tree.cliques[node]):
                self.holders.setdefault(axis, []).append(node)
        self.cuts = self._cuts()
        self.sides = _Sides(self.cuts, len(axes.sizes))

    def _cuts(self) -> tuple[_Cut, ...]:
        """Return the tree's edges, small separators first."""
        under = list(self.tree.cliques)
        for node in reversed(range(1, len(under))):
            under[max(self.tree.parents[node], 0)] |= under[node]
        offset = 1 + self.axes.cells(self.tree.separators[0])
        cuts = []
        for node in range(1, len(under)):
            separator = self.tree.separators[node]
            cells = self.axes.cells(separator)
            inverse = Table(offset, separator)
            cuts.append(_Cut(cells, separator, under[node] & ~separator, under[0] & ~under[node], inverse))
            offset += cells
        return tuple(sorted(cuts))

    def belief(self, node: int) -> Array:
        """Return the expected counts of one clique's cells (inner order)."""
        table = self.tables[node]
        return _cut_out(self.axes, self.cells, table)

    def _inverse(self, node: int, total: float) -> Array:
        """Return 1 over the separator's expected counts, 0 where they are 0."""
        separator = self.tree.separators[node]
        if not separator:
            return np.array([1.0 / total])
        gone = tuple(i for i, axis in enumerate(bits(self.tree.cliques[node])) if not separator >> axis & 1)
        mass: Array = self.belief(node).sum(axis=gone).ravel()
        inverse: Array = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
        return inverse

    def marginals(self, masks: Sequence[int], backend: Backend) -> list[Array]:
        """Return the expected counts of each mask's cells (inner order)."""
        plan = _Plan(self)
        tables = [plan.question(mask) for mask in masks]
        work = plan.run(batch_engine_type(backend, plan.size))
        return [_cut_out(self.axes, work, table) for table in tables]


def _cut_out(axes: Axes, work: Array, table: Table) -> Array:
    cells: Array = work[table.offset : table.offset + axes.cells(table.mask)].reshape(axes.shape(table.mask))
    return cells


class _Plan:
    """Collect the contractions that answer a batch of questions."""

    def __init__(self, calibrated: Calibrated) -> None:
        self.c = calibrated
        self.axes = calibrated.axes
        self.size = 1 + calibrated.inverses.size
        self.steps: list[Contraction] = []
        self.sums: list[list[Table]] = [[] for _ in calibrated.tree.cliques]
        self.answers: dict[int, Table] = {}
        self.conditionals: dict[tuple[int, int], Table] = {}

    def table(self, mask: int) -> Table:
        table = Table(self.size, mask)
        self.size += self.axes.cells(mask)
        return table

    def contract(self, a: Table, b: Table, kept: int) -> Table:
        out = self.table(kept)
        self.steps.append(Contraction(out, a, b, 0))
        return out

    def question(self, mask: int) -> Table:
        """Return where the expected counts of ``mask`` will be."""
        table = self.answers.get(mask)
        if table is None:
            node = self._holder(mask)
            if node is None:
                table = self._across(mask)
            else:
                table = self.table(mask)
                self.sums[node].append(table)
            self.answers[mask] = table
        return table

    def _holder(self, mask: int) -> int | None:
        """Return the smallest clique that holds the whole mask."""
        cliques = self.c.tree.cliques
        for node in self.c.holders[mask.bit_length() - 1] if mask else (0,):
            if mask & cliques[node] == mask:
                return node
        return None

    def _across(self, mask: int) -> Table:
        cut = self._cut(mask)
        above = self.question(mask & cut.above | cut.separator)
        below = self.question(mask & cut.below | cut.separator)
        if self.axes.cells(above.mask) < self.axes.cells(below.mask):
            above, below = below, above
        key = (below.offset, cut.inverse.offset)
        given = self.conditionals.get(key)
        if given is None:
            given = self.conditionals[key] = self.contract(below, cut.inverse, below.mask)
        return self.contract(above, given, mask)

    def _cut(self, mask: int) -> _Cut:
        """Return the separator that divides the question and leaves the fewest cells to sum over."""
        apart, shared = self.c.sides.dividing(mask)
        positions = [*bits(apart & -apart), *bits(shared)]  # of separators with no part in the question, the smallest
        return min((self.c.cuts[p] for p in positions), key=lambda cut: self.axes.cells(cut.separator & ~mask))

    def run(self, engine: type[Engine]) -> Array:
        """Carry out the plan: sums of cliques' tables first, then everything across cliques."""
        first: list[Contraction] = []
        second: list[Contraction] = []
        for node, tables in enumerate(self.sums):
            self._share(self.c.tables[node], tables, first, second)
        work = np.empty(self.size)
        work[0] = 1.0
        work[1 : 1 + self.c.inverses.size] = self.c.inverses
        engine.execute(self.axes, first, work, self.c.cells)
        engine.execute(self.axes, second, work, work)
        engine.execute(self.axes, self.steps, work, work)
        return work

    def _share(self, source: Table, targets: list[Table], here: list[Contraction], later: list[Contraction]) -> None:
        """Sum ``source`` to the targets; those that lack the same attribute share the sum without it."""
        left = targets
        for axis in reversed(list(bits(source.mask))):
            group = [table for table in left if not table.mask >> axis & 1]
            if not group:
                continue
            left = [table for table in left if table.mask >> axis & 1]
            span = 0
            for table in group:
                span |= table.mask
            shared = next((table for table in group if table.mask == span), None)
            if shared is None:
                shared = self.table(span)
            here.append(Contraction(shared, source, ONE, 0))
            rest = [table for table in group if table is not shared]
            if rest:
                self._share(shared, rest, later, later)
        here.extend(Contraction(table, source, ONE, 0) for table in left)
