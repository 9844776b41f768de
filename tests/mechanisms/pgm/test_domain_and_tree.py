"""Domains, junction trees and model sizes."""

from itertools import combinations

import numpy as np
import pytest

from accounting.errors import ConfigError
from mechanisms.pgm import Domain, candidate_cells, model_cells, model_size_mb
from mechanisms.pgm import junction_tree as trees
from mechanisms.pgm.axes import axes_of, bits


def test_a_domain_of_two_hundred_columns_has_an_exact_number_of_cells():
    domain = Domain(tuple(f"c{i}" for i in range(200)), (10,) * 200)
    assert domain.cells() == 10**200
    assert model_cells(domain, [domain.attributes]) == 10**200


def test_a_domain_projects_shapes_and_orders_cliques():
    domain = Domain(("a", "b", "c"), (2, 3, 4))
    assert domain.project(("c", "a")) == Domain(("c", "a"), (4, 2))
    assert domain.shape(("c", "b")) == (4, 3)
    assert domain.canonical(("c", "a")) == ("a", "c")
    assert domain.cells(()) == 1


@pytest.mark.parametrize(
    ("attributes", "sizes"),
    [((), ()), (("a",), (1, 2)), (("a", "a"), (1, 2)), (("a",), (0,)), (("a",), (True,)), (("a",), (2.0,))],
)
def test_a_wrong_domain_is_refused(attributes, sizes):
    with pytest.raises(ConfigError):
        Domain(attributes, sizes)


def test_an_unknown_or_repeated_attribute_is_refused():
    domain = Domain(("a", "b"), (2, 3))
    with pytest.raises(ConfigError, match="not in the domain"):
        model_cells(domain, [("a", "x")])
    with pytest.raises(ConfigError, match="twice"):
        domain.canonical(("a", "a"))


def random_graph(seed: int) -> tuple[Domain, list[tuple[str, ...]]]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 70))
    domain = Domain(tuple(f"c{i}" for i in range(count)), tuple(int(size) for size in rng.integers(1, 9, count)))
    names = np.array(domain.attributes)
    cliques = [
        tuple(rng.choice(names, size=min(count, int(rng.integers(1, 4))), replace=False))
        for _ in range(int(rng.integers(0, count)))
    ]
    return domain, cliques


@pytest.mark.parametrize("seed", range(20))
def test_a_junction_tree_holds_every_clique_and_has_the_running_intersection(seed):
    domain, cliques = random_graph(seed)
    axes = axes_of(domain)
    masks = [axes.mask(clique) for clique in cliques]
    tree = trees.junction_tree(axes, masks)
    for mask in masks:
        assert any(mask & clique == mask for clique in tree.cliques)
    for first, second in combinations(tree.cliques, 2):
        assert first & second not in (first, second)
    for node, (parent, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
        assert parent < node
        assert separator == (tree.cliques[node] & tree.cliques[parent] if parent >= 0 else 0)
    for axis in range(len(domain.sizes)):
        holders = [node for node, clique in enumerate(tree.cliques) if clique >> axis & 1]
        tops = [n for n in holders if tree.parents[n] < 0 or not tree.cliques[tree.parents[n]] >> axis & 1]
        assert len(tops) == (1 if holders else 0)


def test_a_cycle_is_triangulated_through_its_small_attributes():
    domain = Domain(("a", "b", "c", "d"), (100, 2, 100, 2))
    assert model_cells(domain, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]) == 2 * 100 * 2 * 2


@pytest.mark.parametrize("seed", range(12))
def test_candidates_have_the_cells_of_a_model_with_them(seed, monkeypatch):
    """Compiled and in Python, in a batch and alone."""
    domain, cliques = random_graph(seed)
    rng = np.random.default_rng(seed)
    names = np.array(domain.attributes)
    candidates = [tuple(rng.choice(names, size=min(len(names), 3), replace=False)) for _ in range(20)] + [()]
    alone = tuple(model_cells(domain, [*cliques, candidate]) for candidate in candidates)
    monkeypatch.setattr(trees, "has_numba", lambda: False)
    assert candidate_cells(domain, cliques, candidates) == alone
    monkeypatch.undo()
    pytest.importorskip("numba")
    assert candidate_cells(domain, cliques, candidates) == alone


def test_size_is_eight_bytes_a_cell_and_counts_unmeasured_attributes():
    domain = Domain(("a", "b", "c"), (10, 20, 5))
    assert model_size_mb(domain, [("a", "b")]) == pytest.approx((200 + 5) * 8e-6)


def test_bits_of_wide_masks():
    assert list(bits(1 << 199 | 1 << 64 | 1)) == [0, 64, 199]
