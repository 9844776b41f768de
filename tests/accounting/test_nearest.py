"""The kd-tree proposes, exact integers decide: equal to the product of all scores, ties included."""

from fractions import Fraction

import numpy as np
import pytest

from accounting import nearest_tree
from accounting.nearest import Features, by_products, nearest
from accounting.nearest_tree import by_tree, fastest, tree_is_faster
from accounting.queries import Placement, Votes
from tests.accounting.curator.tables import categorical, schema_of


def problem(
    columns: int, size: int, rows: int, *, step: int = 8, cells: int = 40, within: bool = False, apart: int = 0
):
    names = [f"x{place}" for place in range(columns)]
    declared = [
        {"name": n, "kind": "integer", "min": 0, "max": cells - 1, "nullable": False, "replacement": 0} for n in names
    ]
    schema = schema_of(*declared, categorical("label", "xy"))
    placed = {name: Placement(step * np.arange(cells), np.arange(cells) % 2, apart) for name in names}
    sizes = [column.cells for column in schema.columns]
    rng = np.random.default_rng(columns)
    candidates = np.column_stack([rng.integers(0, size_, size) for size_ in sizes]).astype(np.int32)
    query = Votes(candidates, placed, 4, "label" if within else None, Fraction(1))
    table = {column.name: rng.integers(0, column.cells, rows) for column in schema.columns}
    return schema, query, table


def votes_of(schema, query, table, rows, searcher, block=2**21):  # noqa: PLR0917
    found = [[] for _ in range(rows)]
    for numbers, candidates in nearest(query, table, rows, schema, block=block, searcher=searcher):
        for row, candidate in zip(numbers.tolist(), candidates.tolist(), strict=True):
            found[row].append(candidate)
    return found


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("step", [1, 8, 2**20])
def test_the_tree_equals_the_product_with_ties_for_any_block(columns, within, step):
    """Forty cells a column: many candidates lie equally far, and in one column nearly all rows are undecided."""
    schema, query, table = problem(columns, 300, 400, step=step, within=within)
    expected = votes_of(schema, query, table, 400, by_products)
    assert all(len(set(row)) == 4 for row in expected)
    for block in (700, 2**21):
        assert votes_of(schema, query, table, 400, by_tree, block) == expected


def test_ties_at_the_last_proposal_are_decided_by_the_product(monkeypatch):
    schema, query, table = problem(2, 500, 100, cells=4)
    undecided = []

    def counted(features, votes):
        product = by_products(features, votes)

        def search(factors):
            undecided.append(len(factors))
            return product(factors)

        return search

    monkeypatch.setattr(nearest_tree, "by_products", counted)
    assert votes_of(schema, query, table, 100, by_tree) == votes_of(schema, query, table, 100, by_products)
    assert sum(undecided) == 100  # every place holds about thirty candidates


def test_a_tree_that_proposes_too_little_is_told_apart(monkeypatch):
    """The wrong twin: without exact decisions among spare proposals, ties go by the tree's own order."""
    from scipy.spatial import KDTree

    schema, query, table = problem(2, 400, 200, cells=6)
    query = Votes(query.candidates[::-1], query.embedding, 1, None, Fraction(1))

    def careless(features, votes):
        tree = KDTree((features.candidates[1:].T / -2).astype(np.float64))
        return lambda factors: [np.asarray(tree.query(factors[:, 1:], k=[1])[1])[:, 0]]

    assert votes_of(schema, query, table, 200, careless) != votes_of(schema, query, table, 200, by_products)
    assert votes_of(schema, query, table, 200, by_tree) == votes_of(schema, query, table, 200, by_products)


@pytest.mark.parametrize(
    ("columns", "size", "apart", "step", "chosen"),
    [
        (2, 2000, 0, 8, True),
        (4, 2000, 0, 8, True),
        (5, 4000, 0, 8, True),
        (1, 9000, 0, 8, False),
        (5, 3999, 0, 8, False),
        (6, 9000, 0, 8, False),
        (3, 1999, 0, 8, False),
        (3, 2000, 5, 8, False),
        (3, 2000, 0, 2**18, False),
    ],
)
def test_a_tree_is_built_only_where_it_is_faster_and_proven(columns, size, apart, step, chosen):
    schema, query, _ = problem(columns, size, 1, step=step, apart=apart)
    features = Features(query, np.arange(size), schema)
    assert tree_is_faster(features) == chosen
    assert fastest(features, 4).__qualname__.startswith("by_tree" if chosen else "by_products")
