"""Selection, reweighting and resampling, each on its own."""

from fractions import Fraction

import numpy as np
import pytest

from accounting.queries import Coding
from mechanisms.noisy import NoisyTable
from mechanisms.tab_pe.polishing import binned, resample, reweight, spread
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


def test_reweighting_reaches_a_table_and_leaves_weights_alone_without_steps():
    columns = {"a": np.repeat(np.arange(4), 50), "b": np.tile(np.arange(2), 100)}
    table = NoisyTable.measured(("a",), np.array([400, 300, 200, 100]), Fraction(1))
    weights = reweight(columns, [table], 1000.0, 50)
    shares = np.bincount(columns["a"], weights=weights) / weights.sum()
    assert shares == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.005)
    assert np.all(reweight(columns, [table], 1000.0, 0) == 1)


def test_pure_noise_moves_little():
    rng = np.random.default_rng(0)
    columns = {"a": rng.integers(0, 50, 1000)}
    noise = NoisyTable.measured(("a",), np.rint(rng.normal(20, 300, 50)).astype(np.int64), Fraction(300**2))
    weights = reweight(columns, [noise], 1000.0, 1)
    assert np.abs(weights - 1).max() < 2


def test_resampling_draws_each_candidate_within_one_of_its_expectation():
    weights = np.array([0.0, 1.0, 2.5, 0.5])
    numbers, copies = resample(weights, 40, np.random.default_rng(0))
    counts = np.bincount(numbers, minlength=4)
    assert np.all(np.abs(counts - 10 * weights) < 1)
    assert copies.sum() == 40 - np.count_nonzero(counts)
    assert resample(weights, 0, np.random.default_rng(0))[0].size == 0


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
