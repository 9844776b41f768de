"""Votes against a naive twin, ties and all; one row's votes never depend on another row."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting import nearest
from accounting.curator import voting, voting_torch
from accounting.curator.rows import CellTable
from accounting.curator.voting import check_vote_size, count_votes
from accounting.errors import QueryRefused
from accounting.queries import Placement, Votes, check_query
from tests.accounting.curator.tables import categorical, schema_of

SCHEMA = schema_of(
    categorical("letter", "abcd"),
    {"name": "age", "kind": "integer", "min": 0, "max": 9, "nullable": False, "replacement": 0},
    {"name": "size", "kind": "integer", "min": 0, "max": 5, "nullable": True},
    categorical("label", "xy"),
)
SIZES = [column.cells for column in SCHEMA.columns]
NAMES = [column.name for column in SCHEMA.columns]


def table(rows: np.ndarray) -> CellTable:
    return CellTable({name: rows[:, place].astype(np.uint8) for place, name in enumerate(NAMES)}, len(rows))


def draw_rows(rng: np.random.Generator, rows: int) -> np.ndarray:
    return np.column_stack([rng.integers(0, size, rows) for size in SIZES])


def embedding(scale: int = 1) -> dict[str, Placement]:
    """Coarse on purpose: many distances are equal."""
    return {
        "letter": Placement(np.zeros(5), np.array([0, 1, 2, 2, 7]), 4 * scale * scale),
        "age": Placement((np.arange(10) - 5) * scale, np.zeros(10), 0),
        "size": Placement(np.append((np.arange(6) - 3) * scale, 0), np.array([0] * 6 + [1]), 9 * scale * scale),
    }


def question(candidates: np.ndarray, votes: int = 2, within: str | None = None, scale: int = 1) -> Votes:
    query = Votes(candidates.astype(np.int32), embedding(scale), votes, within, Fraction(1))
    check_query(query, SCHEMA)
    return query


def squared_distance(query: Votes, row: np.ndarray, candidate: np.ndarray) -> int:
    total = 0
    for name, placement in query.embedding.items():
        one, other = (int(cells[NAMES.index(name)]) for cells in (row, candidate))
        total += (int(placement.coordinates[one]) - int(placement.coordinates[other])) ** 2
        total += placement.apart * int(placement.classes[one] != placement.classes[other])
    return total


def naive_votes(query: Votes, rows: np.ndarray) -> np.ndarray:
    """Python integers, one pair at a time."""
    counts = np.zeros(len(query.candidates), dtype=np.int64)
    for row in rows:
        place = None if query.within is None else NAMES.index(query.within)
        allowed = [i for i, c in enumerate(query.candidates) if place is None or c[place] == row[place]]
        allowed.sort(key=lambda i: (squared_distance(query, row, query.candidates[i]), i))
        counts[allowed[: query.votes]] += 1
    return counts


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(0, 40),
    size=st.integers(1, 30),
    votes=st.integers(1, 6),
    within=st.sampled_from([None, "label", "letter"]),
    scale=st.sampled_from([1, 700, 2**18]),
    block=st.integers(1, 2000),
)
def test_votes_equal_the_naive_twin_with_ties(seed, rows, size, votes, within, scale, block):  # noqa: PLR0917 - drawn
    rng = np.random.default_rng(seed)
    query = question(draw_rows(rng, size), min(votes, size), within, scale)
    private = draw_rows(rng, rows)
    counts = count_votes(query, table(private), SCHEMA, block=block)
    assert counts.dtype == np.int64
    assert np.array_equal(counts, naive_votes(query, private))


def test_ties_go_by_the_candidates_order():
    candidates = np.array([[0, 4, 0, 0], [0, 6, 0, 0], [0, 4, 0, 0], [0, 5, 1, 0]])
    row = table(np.array([[0, 5, 0, 0]]))
    assert count_votes(question(candidates, 1), row, SCHEMA).tolist() == [1, 0, 0, 0]
    assert count_votes(question(candidates, 3), row, SCHEMA).tolist() == [1, 1, 1, 0]
    assert count_votes(question(candidates[::-1], 1), row, SCHEMA).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("scale", [1, 700, 2**18])
def test_p41_removing_any_row_changes_no_other_rows_vote(scale):
    rng = np.random.default_rng(41)
    private, candidates = draw_rows(rng, 60), draw_rows(rng, 25)
    query = question(candidates, 3, scale=scale)
    alone = [count_votes(query, table(private[[i]]), SCHEMA) for i in range(60)]
    assert all(votes.max() == 1 and votes.sum() == 3 for votes in alone)
    for block in (1, 26, 333, 10**6):
        whole = count_votes(query, table(private), SCHEMA, block=block)
        assert np.array_equal(whole, sum(alone))
        for gone in range(60):
            without = count_votes(query, table(np.delete(private, gone, axis=0)), SCHEMA, block=block)
            assert np.array_equal(whole - without, alone[gone])


def test_p41_single_precision_beyond_its_range_is_told_apart(monkeypatch):
    """The wrong twin: rounded distances give other nearest candidates."""
    candidates = np.zeros((40, 4), dtype=np.int64)
    candidates[:, 1], candidates[:, 2] = np.divmod(np.arange(40), 4)
    private = draw_rows(np.random.default_rng(1), 60)
    placed = {
        "age": Placement(2**14 * np.arange(10), np.zeros(10), 0),
        "size": Placement(np.arange(7) % 2, np.zeros(7), 0),
    }
    query = Votes(candidates.astype(np.int32), placed, 3, None, Fraction(1))
    right = naive_votes(query, private)
    assert np.array_equal(count_votes(query, table(private), SCHEMA), right)
    monkeypatch.setattr(nearest, "EXACT_SINGLE", 2**60)
    assert not np.array_equal(count_votes(query, table(private), SCHEMA), right)


def test_single_precision_ends_exactly_where_it_stops_being_exact():
    def reach(apart: int) -> Votes:
        placed = Placement(np.zeros(10), np.arange(10), apart)
        return Votes(np.zeros((1, 4), dtype=np.int32), {"age": placed}, 1, None, Fraction(1))

    below, above = reach(2**24 - 1), reach(2**24)
    assert nearest.Features(below, np.arange(1), SCHEMA).dtype == np.float32
    assert nearest.Features(above, np.arange(1), SCHEMA).dtype == np.float64


def test_p28_empty_tables_labels_and_groups_are_answered():
    nobody = np.empty((0, 4), dtype=np.int64)
    candidates = np.array([[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 2, 1]])
    assert count_votes(question(candidates), table(nobody), SCHEMA).tolist() == [0, 0, 0]
    only_x = np.array([[0, 0, 0, 0], [1, 1, 1, 0]])
    assert count_votes(question(candidates, 2, "label"), table(only_x), SCHEMA).tolist() == [2, 2, 0]
    null_label = np.array([[0, 0, 0, 2]])
    assert count_votes(question(candidates, 2, "label"), table(null_label), SCHEMA).sum() == 0
    assert count_votes(question(candidates, 2, "label"), table(np.array([[2, 2, 2, 1]])), SCHEMA).tolist() == [0, 0, 1]


def test_candidates_that_cannot_be_held_are_refused_before_spending(monkeypatch):
    query = question(np.zeros((1000, 4), dtype=np.int64))
    check_vote_size(query)
    monkeypatch.setattr(voting, "memory_limit", lambda: 2**15)
    with pytest.raises(QueryRefused, match="fewer candidates"):
        check_vote_size(query)


@pytest.mark.parametrize("scale", [1, 2**18])
@pytest.mark.parametrize("within", [None, "label"])
def test_p41_torch_equals_numpy_with_ties_for_any_block_and_thread_count(scale, within):
    import torch

    rng = np.random.default_rng(8)
    private, candidates = draw_rows(rng, 300), draw_rows(rng, 40)
    query = question(candidates, 4, within, scale)
    expected = naive_votes(query, private)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            for block in (50, 10**6):
                counts = count_votes(query, table(private), SCHEMA, block=block, device="cpu")
                assert counts.dtype == np.int64
                assert np.array_equal(counts, expected)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("found", [None, "cpu"])
def test_an_accelerator_is_looked_for_only_where_the_work_is_large(monkeypatch, found):
    looked = []
    monkeypatch.setattr(voting_torch, "accelerator", lambda: looked.append(1) or found)
    query = question(draw_rows(np.random.default_rng(0), 10))
    rows = draw_rows(np.random.default_rng(1), 20)
    count_votes(query, table(rows), SCHEMA)
    assert not looked
    monkeypatch.setattr(voting, "LARGE", 1)
    assert np.array_equal(count_votes(query, table(rows), SCHEMA), naive_votes(query, rows))
    assert looked


@pytest.mark.parametrize(("there", "name"), [(True, "cuda"), (False, None)])
def test_the_accelerator_is_torchs(monkeypatch, there, name):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert voting_torch.accelerator() == name


def test_a_device_that_fails_costs_no_answer(monkeypatch):
    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr(voting_torch, "nearest_on", fail)
    query, rows = question(draw_rows(np.random.default_rng(0), 10)), draw_rows(np.random.default_rng(1), 20)
    assert np.array_equal(count_votes(query, table(rows), SCHEMA, device="cuda"), naive_votes(query, rows))
