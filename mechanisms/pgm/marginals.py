"""Marginals of a calibrated junction tree, many at once: a contraction list of their own.

A question inside a clique is a sum of the clique's table. A question across cliques is answered at one clique: every
branch of the tree that holds asked attributes sends their distribution given the branch's separator. Sums and
messages are shared among the questions of a batch. Parts that are not connected hang together by empty separators.

Source: Koller and Friedman (2009), section 10.3.3.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from mechanisms.pgm.axes import Array, Axes, bits
from mechanisms.pgm.contraction import ONE, Contraction, Table
from mechanisms.pgm.inference import Engine
from mechanisms.pgm.junction_tree import JunctionTree

_NOWHERE = -1
_DEAR = 8  # a question that costs more than this many steps a cell is worth a search for a better clique to answer at


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
        self.parents = [max(parent, 0) if node else _NOWHERE for node, parent in enumerate(tree.parents)]
        self.holders: dict[int, list[int]] = {}
        for node in sorted(range(len(tree.cliques)), key=lambda n: (axes.cells(tree.cliques[n]), n)):
            for axis in bits(tree.cliques[node]):
                self.holders.setdefault(axis, []).append(node)
        self.below: dict[tuple[int, int], int] = {}
        for node in reversed(range(1, len(tree.cliques))):
            parent = self.parents[node]
            for axis in bits(tree.cliques[node] & ~tree.cliques[parent]):
                self._lead(axis, node)

    def _lead(self, axis: int, node: int) -> None:
        """Record, for every ancestor that does not hold the axis, the child that leads down to it."""
        while node > 0:
            parent = self.parents[node]
            if self.tree.cliques[parent] >> axis & 1 or (parent, axis) in self.below:
                return
            self.below[parent, axis] = node
            node = parent

    def belief(self, node: int) -> Array:
        """Return the expected counts of one clique's cells (inner order)."""
        table = self.tables[node]
        return self.cells[table.offset : table.offset + self.axes.cells(table.mask)].reshape(
            self.axes.shape(table.mask)
        )

    def _inverse(self, node: int, total: float) -> Array:
        """Return 1 over the separator's expected counts, 0 where they are 0."""
        separator = self.tree.separators[node]
        if not separator:
            return np.array([1.0 / total])
        gone = tuple(i for i, axis in enumerate(bits(self.tree.cliques[node])) if not separator >> axis & 1)
        mass = self.belief(node).sum(axis=gone).ravel()
        return np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)

    def marginals(self, masks: Sequence[int], engine: type[Engine]) -> list[Array]:
        """Return the expected counts of each mask's cells (inner order)."""
        plan = _Plan(self)
        tables = [plan.question(mask) for mask in masks]
        work = plan.run(engine)
        return [
            work[table.offset : table.offset + self.axes.cells(table.mask)].reshape(self.axes.shape(table.mask))
            for table in tables
        ]


class _Plan:
    """Collect the contractions that answer a batch of questions."""

    def __init__(self, calibrated: Calibrated) -> None:
        self.c = calibrated
        self.axes = calibrated.axes
        self.cliques = calibrated.tree.cliques
        self.separators = calibrated.tree.separators
        self.steps: list[Contraction] = []
        self.size = 1
        self.inverse: list[Table] = []
        for separator in self.separators:
            self.inverse.append(self.table(separator))
        self.sums: dict[tuple[int, int], Table] = {}
        self.messages: dict[tuple[int, int, int], Table] = {}
        self.products: dict[tuple[int, int, int], Table] = {}
        self.answers: dict[int, Table] = {}

    def table(self, mask: int) -> Table:
        table = Table(self.size, mask)
        self.size += self.axes.cells(mask)
        return table

    def contract(self, a: Table, b: Table, kept: int) -> Table:
        key = (a.offset, b.offset, kept)
        out = self.products.get(key)
        if out is None:
            out = self.products[key] = self.table(kept)
            self.steps.append(Contraction(out, a, b, 0))
        return out

    def question(self, mask: int) -> Table:
        """Return where the marginal of ``mask`` will be."""
        table = self.answers.get(mask)
        if table is None:
            inside = self._inside(mask)
            table = self.gather(self._meeting(mask), _NOWHERE, mask, 0) if inside < 0 else self.sum(inside, mask)
            self.answers[mask] = table
        return table

    def _inside(self, mask: int) -> int:
        """Return the smallest clique that holds the whole mask, or -1."""
        if not mask:
            return 0
        for node in self.c.holders[mask.bit_length() - 1]:
            if mask & self.cliques[node] == mask:
                return node
        return -1

    def _meeting(self, mask: int) -> int:
        """Return the lowest clique below which all attributes are."""
        node = 0
        while True:
            branch = _NOWHERE
            for axis in bits(mask):
                child = self.c.below.get((node, axis), _NOWHERE)
                if child < 0 or branch not in (_NOWHERE, child):
                    return node
                branch = child
            node = branch

    def sum(self, node: int, mask: int) -> Table:
        """Return where the clique's table summed to ``mask`` will be."""
        key = (node, mask)
        table = self.sums.get(key)
        if table is None:
            table = self.sums[key] = self.table(mask)
        return table

    def _branches(self, node: int, origin: int, mask: int) -> dict[int, int]:
        """Return which neighbours lead to the asked attributes outside the clique."""
        found: dict[int, int] = {}
        for axis in bits(mask & ~self.cliques[node]):
            neighbour = self.c.below.get((node, axis), self.c.parents[node])
            found[neighbour] = found.get(neighbour, 0) | 1 << axis
        found.pop(origin, None)
        return found

    def separator(self, node: int, neighbour: int) -> int:
        return self.separators[neighbour if self.c.parents[neighbour] == node else node]

    def gather(self, node: int, origin: int, mask: int, given: int) -> Table:
        """Return the joint table of ``mask`` and ``given`` (inside the clique), seen from ``origin``'s side."""
        branches = self._branches(node, origin, mask)
        ahead = [self.separator(node, neighbour) for neighbour in branches]
        held = (mask & self.cliques[node]) | given
        for separator in ahead:
            held |= separator
        table = self.sum(node, held)
        for i, (neighbour, asked) in enumerate(branches.items()):
            later = given | mask
            for separator in ahead[i + 1 :]:
                later |= separator
            table = self.contract(table, self.message(neighbour, node, asked), (table.mask & later) | asked)
        return table

    def message(self, node: int, towards: int, asked: int) -> Table:
        """Return P(asked | separator) as sent from ``node`` to its neighbour."""
        key = (node, towards, asked)
        table = self.messages.get(key)
        if table is None:
            down = self.c.parents[node] == towards
            edge = node if down else towards
            separator = self.separators[edge]
            joint = self.gather(node, towards, asked, separator)
            table = self.messages[key] = self.contract(joint, self.inverse[edge], separator | asked)
        return table

    def run(self, engine: type[Engine]) -> Array:
        """Carry out the plan: sums of cliques' tables first, then everything across cliques."""
        first: list[Contraction] = []
        second: list[Contraction] = []
        wanted: dict[int, list[Table]] = {}
        for (node, _), table in self.sums.items():
            wanted.setdefault(node, []).append(table)
        for node, tables in wanted.items():
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
