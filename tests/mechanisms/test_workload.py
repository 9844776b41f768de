from fractions import Fraction
from itertools import combinations

import pytest

from accounting.errors import ConfigError
from mechanisms.workload import (
    MAX_CANDIDATE_CELLS,
    WEIGHT_SCALE,
    WorkloadMarginal,
    candidate_cells,
    compile_candidates,
    default_degree,
)

SIZES = {"a": 2, "b": 3, "c": 5, "d": 7}


def marginals(*items) -> tuple[WorkloadMarginal, ...]:
    return tuple(WorkloadMarginal.from_option(item) for item in items)


def test_the_default_workload_is_all_triples_and_the_candidates_are_their_closure():
    found = compile_candidates(SIZES, None, None, 10**6)
    assert {m.columns for m in found.workload} == set(combinations("abcd", 3))
    assert set(found.cliques) == {c for k in (1, 2, 3) for c in combinations("abcd", k)}
    assert [len(clique) for clique in found.cliques] == sorted(len(clique) for clique in found.cliques)


def test_candidate_weights_are_the_overlaps_with_the_workload():
    workload = marginals({"columns": ["a", "b"], "weight": 3}, {"columns": ["b", "c"], "weight": "1/2"}, ["d"])
    found = compile_candidates(SIZES, workload, None, 10**6)
    overlap = {
        clique: sum(m.weight * len(set(clique) & set(m.columns)) for m in found.workload) for clique in found.cliques
    }
    largest = max(overlap.values())
    for clique, weight in zip(found.cliques, found.weights, strict=True):
        assert weight == max(1, round(overlap[clique] * WEIGHT_SCALE / largest))
    assert max(found.weights) == WEIGHT_SCALE


def test_marginals_are_brought_into_the_schemas_order():
    found = compile_candidates(SIZES, marginals(["d", "a"]), None, 10**6)
    assert ("a", "d") in found.cliques


def test_a_triple_that_is_too_large_falls_back_to_its_pairs():
    found = compile_candidates(SIZES, None, 3, 35)
    assert max(SIZES[a] * SIZES[b] for a, b in combinations("bcd", 2)) == 35
    assert ("a", "b", "c") in found.cliques
    assert ("b", "c", "d") not in found.cliques
    assert ("c", "d") in found.cliques


def test_smartnoise_aim_py_where_every_pair_is_too_large_one_way_marginals_remain():
    found = compile_candidates({"x": 101, "y": 101}, None, None, 10_000)
    assert found.cliques == (("x",), ("y",))
    assert compile_candidates({"x": 101}, None, None, 10_000).cliques == (("x",),)


def test_very_wide_tables_default_to_pairs():
    assert default_degree(9) == 3
    assert default_degree(26) == 3
    assert default_degree(27) == 2


def test_default_candidates_fit_in_memory():
    sizes = {f"c{index}": 90 for index in range(16)}
    found = compile_candidates(sizes, None, 3, 10**6)
    assert candidate_cells(sizes, found) <= MAX_CANDIDATE_CELLS
    assert max(map(len, found.cliques)) == 2


def test_a_workload_that_is_too_large_is_refused_with_the_figure():
    sizes = {f"c{index}": 90 for index in range(16)}
    workload = tuple(WorkloadMarginal(clique) for clique in combinations(sizes, 3))
    with pytest.raises(ConfigError, match="409213440 cells"):
        compile_candidates(sizes, workload, None, 10**6)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("ab", "names of its columns"),
        ([], "names of its columns"),
        ([1], "names of its columns"),
        (["a", "a"], "twice"),
        ({"columns": ["a"], "wieght": 2}, "keys columns"),
        ({"weight": 2}, "keys columns"),
        ({"columns": ["a"], "weight": 0}, "greater than 0"),
        ({"columns": ["a"], "weight": True}, "exact number"),
        ({"columns": ["a"], "weight": 0.5}, "exact number"),
    ],
)
def test_a_malformed_marginal_is_refused(item, message):
    with pytest.raises(ConfigError, match=message):
        WorkloadMarginal.from_option(item)


def test_an_unknown_column_is_refused():
    with pytest.raises(ConfigError, match="'z'"):
        compile_candidates(SIZES, marginals(["a", "z"]), None, 10**6)


def test_weights_add_up_when_a_marginal_is_named_twice():
    found = compile_candidates(SIZES, marginals(["a", "b"], {"columns": ["b", "a"], "weight": 2}), None, 10**6)
    assert found.workload == (WorkloadMarginal(("a", "b"), Fraction(3)),)
