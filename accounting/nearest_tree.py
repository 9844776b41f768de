"""The same nearest candidates by a kd-tree, for two to five ordered columns: equal to the product, ties included.

The tree only proposes; exact integers decide. Candidates have integer coordinates u, and every squared distance is at
most the question's reach R < 2^46. The tree adds up at most five rounded squares, so its distances have a relative
error below 2^-48, and every candidate that it does not propose lies, squared, at least D·(1 − 2^-47) > D − 1/2 away,
where D is the largest squared distance among its proposals. That distance is an integer, so it is at least D. Where the
v-th smallest exact distance among the proposals is smaller than D, the v nearest candidates, and all that tie with the
v-th, are therefore among the proposals, and sorting them by distance and number gives the declared order. The other
rows are searched by the product.

Even a wrong tree could not raise the sensitivity: it is built from the public candidates, and each row is searched
alone.
"""

from collections.abc import Iterable
from types import MappingProxyType

import numpy as np

from accounting.nearest import Features, Scores, Search, by_products
from accounting.queries import Ints

LEAST_CANDIDATES = MappingProxyType({2: 2000, 3: 2000, 4: 2000, 5: 4000})
"""Columns, and from how many candidates on the tree takes less time than the product (measured, docs/tab-pe.md)."""

_REACH = 2**46
_SPARE = 4
"""How many more than the votes are proposed, so that few rows tie at the last proposal."""


def fastest(features: Features, votes: int) -> Search:
    """Search by a kd-tree where one is faster, else by the product of all scores; the result is the same."""
    return by_tree(features, votes) if tree_is_faster(features) else by_products(features, votes)


def tree_is_faster(features: Features) -> bool:
    """Say whether a tree is worth building: few columns, all ordered, and many candidates."""
    columns, candidates = features.width - 1, features.candidates.shape[1]
    least = None if features.has_classes else LEAST_CANDIDATES.get(columns)
    return least is not None and candidates >= least and features.reach < _REACH


def by_tree(features: Features, votes: int) -> Search:
    """Search by a kd-tree of the candidates; rows that it cannot decide go by the product."""
    from scipy.spatial import KDTree

    points = -features.candidates[1:].T.astype(np.int64) // 2
    tree = KDTree(points.astype(np.float64))
    product = by_products(features, votes)

    def search(factors: Scores) -> Iterable[Ints]:
        rows = factors[:, 1:].astype(np.int64)
        proposed = np.asarray(tree.query(rows.astype(np.float64), k=votes + _SPARE)[1], dtype=np.int64)
        away = ((rows[:, None, :] - points[proposed]) ** 2).sum(axis=2)
        order = np.lexsort((proposed, away), axis=1)
        away = np.take_along_axis(away, order, axis=1)
        found = np.take_along_axis(proposed, order, axis=1)[:, :votes]
        open_rows = np.flatnonzero(away[:, votes - 1] >= away[:, -1])
        if open_rows.size:
            found[open_rows] = np.column_stack(list(product(factors[open_rows])))
        return list(found.T)

    return search
