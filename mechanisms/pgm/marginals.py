"""Marginals of a calibrated junction tree: inside a clique by summing, across cliques by conditional messages.

A question that no single clique holds is answered at the lowest clique whose subtree holds it: each branch sends the
distribution of its asked attributes given the branch's separator. Messages are shared among the questions of a batch.

Source: Koller and Friedman (2009), section 10.3.3.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from mechanisms.pgm.axes import Array, Axes, bits
from mechanisms.pgm.junction_tree import JunctionTree


class Calibrated:
    """A junction tree with the probability table of each clique (inner order, each sums to 1)."""

    __slots__ = ("_axes", "_beliefs", "_children", "_holders", "_top", "_tree", "_under")

    def __init__(self, axes: Axes, tree: JunctionTree, beliefs: Sequence[Array]) -> None:
        self._axes = axes
        self._tree = tree
        self._beliefs = tuple(beliefs)
        self._children: list[list[int]] = [[] for _ in tree.cliques]
        self._under = list(tree.cliques)
        for node in reversed(range(len(tree.cliques))):
            parent = tree.parents[node]
            if parent >= 0:
                self._children[parent].append(node)
                self._under[parent] |= self._under[node]
        self._holders: dict[int, list[int]] = {}
        for node in sorted(range(len(tree.cliques)), key=lambda n: (axes.cells(tree.cliques[n]), n)):
            for axis in bits(tree.cliques[node]):
                self._holders.setdefault(axis, []).append(node)
        self._top = [node for node, parent in enumerate(tree.parents) if parent < 0]

    @property
    def beliefs(self) -> tuple[Array, ...]:
        """Return the cliques' probability tables."""
        return self._beliefs

    def marginals(self, masks: Iterable[int]) -> list[Array]:
        """Return the probability tables of the masks (inner order)."""
        batch = _Batch(self)
        return [batch.marginal(mask) for mask in masks]


class _Batch:
    """The messages shared by the questions of one batch."""

    def __init__(self, calibrated: Calibrated) -> None:
        self.c = calibrated
        self.messages: dict[tuple[int, int], Array] = {}
        self.tables: dict[tuple[int, int], Array] = {}

    def marginal(self, mask: int) -> Array:
        result, held = np.ones(()), 0
        for root in self.c._top:
            part = mask & self.c._under[root]
            if part:
                table = self.within(root, part)
                result = self.contract(result, held, table, part, held | part)
                held |= part
        return result

    def within(self, root: int, mask: int) -> Array:
        """Return the marginal of attributes of one connected part."""
        nodes = self.c._tree.cliques
        for node in self.c._holders[mask.bit_length() - 1]:
            if mask & nodes[node] == mask:
                return self.local(node, mask)
        node = root
        while True:
            below = [child for child in self.c._children[node] if mask & self.c._under[child] == mask]
            if not below:
                return self.gather(node, mask, 0)
            node = below[0]

    def local(self, node: int, mask: int) -> Array:
        """Sum a clique's belief to some of its attributes."""
        key = (node, mask)
        table = self.tables.get(key)
        if table is None:
            clique = self.c._tree.cliques[node]
            gone = tuple(i for i, axis in enumerate(bits(clique)) if not mask >> axis & 1)
            table = self.c._beliefs[node].sum(axis=gone)
            self.tables[key] = table
        return table

    def gather(self, node: int, mask: int, given: int) -> Array:
        """Return the joint table of ``mask`` and ``given``, all in the node's subtree; ``given`` inside its clique."""
        clique = self.c._tree.cliques[node]
        branches = []
        for child in self.c._children[node]:
            asked = mask & self.c._under[child] & ~clique
            if asked:
                branches.append((child, asked))
        held = (mask & clique) | given
        for child, _ in branches:
            held |= self.c._tree.separators[child]
        table = self.local(node, held)
        for i, (child, asked) in enumerate(branches):
            later = given
            for other, _ in branches[i + 1 :]:
                later |= self.c._tree.separators[other]
            separator = self.c._tree.separators[child]
            kept = (held & (mask | later)) | asked
            table = self.contract(table, held, self.message(child, asked), separator | asked, kept)
            held = kept
        return table

    def message(self, node: int, asked: int) -> Array:
        """Return P(asked | separator), its axes the union's in the inner order."""
        key = (node, asked)
        table = self.messages.get(key)
        if table is None:
            separator = self.c._tree.separators[node]
            joint = self.gather(node, asked, separator)
            union = separator | asked
            gone = tuple(i for i, axis in enumerate(bits(union)) if not separator >> axis & 1)
            mass = joint.sum(axis=gone, keepdims=True)
            table = np.divide(joint, mass, out=np.zeros_like(joint), where=mass > 0)
            self.messages[key] = table
        return table

    def contract(self, a: Array, a_mask: int, b: Array, b_mask: int, out: int) -> Array:
        names = {axis: i for i, axis in enumerate(bits(a_mask | b_mask))}
        return np.asarray(
            np.einsum(
                a,
                [names[axis] for axis in bits(a_mask)],
                b,
                [names[axis] for axis in bits(b_mask)],
                [names[axis] for axis in bits(out)],
            )
        )
