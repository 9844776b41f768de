"""Selection, resampling and spreading, each on its own."""

import numpy as np
import pytest

from accounting.queries import Coding
from mechanisms.tab_pe.polishing import binned, resample, spread
from mechanisms.tab_pe.selection import best, sample
from tests.mechanisms.fakes import categorical, integer, schema_of

VOTES = np.array([5, -3, 9, 5, 0, 7])
GROUPS = np.array([0, 0, 0, 1, 1, 1])


def test_the_best_of_each_group_stay_and_the_earlier_of_equal_ones():
    assert best(VOTES, GROUPS, {0: 2, 1: 1}).tolist() == [2, 0, 5]
    assert best(np.zeros(6, dtype=np.int64), GROUPS, {0: 2, 1: 2}).tolist() == [0, 1, 3, 4]
    assert best(VOTES, GROUPS, {2: 3}).tolist() == []


def test_sampling_follows_positive_votes():
    drawn = sample(VOTES, GROUPS, {0: 3000, 1: 10}, np.random.default_rng(0))
    assert np.mean(drawn[:3000] == 2) == pytest.approx(9 / 14, abs=0.05)
    assert not np.any(drawn == 1)
    none = sample(np.full(6, -4), GROUPS, {1: 300}, np.random.default_rng(0))
    assert set(none.tolist()) == {3, 4, 5}


def test_resampling_draws_each_candidate_within_one_of_its_expectation():
    weights = np.array([0.0, 1.0, 2.5, 0.5])
    candidates = np.arange(4, dtype=np.int32)[:, None]
    numbers, copies = resample(candidates, weights, 40, np.random.default_rng(0))
    counts = np.bincount(numbers, minlength=4)
    assert np.all(np.abs(counts - 10 * weights) < 1)
    assert copies.sum() == 40 - np.count_nonzero(counts)
    assert resample(candidates, weights, 0, np.random.default_rng(0))[0].size == 0
    assert resample(candidates, np.zeros(4), 40, np.random.default_rng(0))[0].size == 40


def test_what_is_rounded_off_goes_to_a_similar_candidate():
    """A thousand candidates for a hundred rows: each value of the first column keeps its share within one row."""
    rng = np.random.default_rng(2)
    candidates = rng.integers(0, 5, (1000, 2)).astype(np.int32)
    numbers, _ = resample(candidates, np.ones(1000), 100, rng)
    drawn, wanted = (np.bincount(candidates[rows, 0], minlength=5) for rows in (numbers, np.arange(1000)))
    assert np.all(np.abs(drawn - wanted / 10) < 1)


def test_only_copies_on_long_lines_are_spread():
    schema = schema_of(integer("long", 0, 999), integer("short", 0, 20), categorical("c", 3))
    cells = np.full((200, 3), (500, 10, 1), dtype=np.int32)
    copies = np.arange(200) >= 100
    moved = spread(cells, copies, schema, 0.02, np.random.default_rng(0))
    assert np.array_equal(moved[:100], cells[:100])
    assert len(set(moved[100:, 0].tolist())) > 10
    assert np.array_equal(moved[:, 1:], cells[:, 1:])
    assert np.array_equal(spread(cells, copies, schema, 0.0, np.random.default_rng(0)), cells)


def test_bins_are_those_of_the_coding():
    schema = schema_of(integer("a", 0, 3), categorical("b", 2))
    bins = binned(np.array([[3, 1], [0, 0]], dtype=np.int32), schema, Coding({"a": np.array([0, 0, 1, 1])}))
    assert bins["a"].tolist() == [1, 0]
    assert bins["b"].tolist() == [1, 0]
