"""Hybrid coding: bins for the model, and the noisy fine marginals that decode them."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.coding import hybrid_coding
from mechanisms.noisy import NoisyTable
from tests.mechanisms.fakes import categorical, integer, schema_of


def test_binned_values_are_sums_and_their_noise_grows_with_the_cells():
    schema = schema_of(integer("x", 0, 63), categorical("c", 3))
    tables = {"x": np.arange(64), "c": np.array([1, 2, 3])}
    hybrid = hybrid_coding(schema, tables, 2000.0, 3.0, 4)
    binned = hybrid.binned(NoisyTable.measured(("x",), tables["x"], Fraction(9)))
    bins = hybrid.coding.bins["x"]
    assert binned.values.tolist() == [int(tables["x"][bins == number].sum()) for number in range(4)]
    assert binned.draws.tolist() == np.bincount(bins).tolist()
    assert binned.sigma == pytest.approx(3 * (64 / 4) ** 0.5)
    plain = NoisyTable.measured(("c",), tables["c"], Fraction(9))
    assert hybrid.binned(plain) is plain


def test_bins_are_labelled_by_the_cells_they_hold():
    schema = schema_of(integer("x", 1, 40, nullable=True))
    fine = np.full(41, 10, dtype=np.int64)
    fine[14] = 500
    hybrid = hybrid_coding(schema, {"x": fine}, float(fine.sum()), 1.0, 3)
    assert hybrid.labels("x") == ["1 … 14, 16 … 20", "15", "21 … 40", "(null)"]


def test_decoding_follows_the_fine_marginal_inside_each_bin():
    schema = schema_of(integer("x", 0, 63, nullable=True))
    fine = np.array([(7 * index) % 50 for index in range(64)] + [40], dtype=np.int64)
    hybrid = hybrid_coding(schema, {"x": fine}, float(fine.sum()), 1.0, 8)
    sums = hybrid.binned(NoisyTable.measured(("x",), fine, Fraction(1))).values
    rows = np.repeat(np.arange(sums.size), sums)
    table = hybrid.decode({"x": rows}, np.random.default_rng(0))
    found = np.bincount(np.where(table.ticks["x"] < 0, 64, table.ticks["x"]), minlength=65)
    assert np.abs(found - fine).max() <= 1


def test_decoding_is_total_where_the_fine_marginal_of_a_bin_is_empty():
    schema = schema_of(integer("x", 0, 63))
    hybrid = hybrid_coding(schema, {"x": np.full(64, -3, dtype=np.int64)}, 1.0, 1.0, 8)
    table = hybrid.decode({"x": np.zeros(100, dtype=np.int64)}, np.random.default_rng(0))
    assert table.rows == 100
    assert hybrid.decode({"x": np.zeros(0, dtype=np.int64)}, np.random.default_rng(0)).rows == 0


def test_merged_categories_decode_to_every_declared_one_by_counts_drawn_towards_their_mean():
    schema = schema_of(categorical("c", 100))
    fine = np.full(100, 20, dtype=np.int64)
    fine[:2] = 4000, 60
    fine[50:] = -20
    hybrid = hybrid_coding(schema, {"c": fine}, 5000.0, 30.0, 4)
    numbers = hybrid.coding.bins["c"]
    assert hybrid.merged == {"c"}
    assert (numbers == numbers[2]).sum() == 98
    table = hybrid.decode({"c": np.full(9800, numbers[2])}, np.random.default_rng(0))
    found = np.bincount(table.ticks["c"], minlength=100)
    assert found[:2].tolist() == [0, 0]
    assert found[2:].min() > 50
    assert found[2:50].min() >= found[50:].max()
    clear = hybrid_coding(schema, {"c": fine}, 5000.0, 2.0, 4)
    kept = clear.coding.bins["c"]
    table = clear.decode({"c": np.full(960, kept[50])}, np.random.default_rng(0))
    assert set(table.ticks["c"].tolist()) == set(np.flatnonzero(kept == kept[50]).tolist())


def test_three_hundred_thousand_categories_are_decoded_within_the_declared_domain():
    schema = schema_of(categorical("c", 300_000, nullable=True))
    fine = np.rint(np.random.default_rng(0).normal(0, 40, 300_001)).astype(np.int64)
    fine[7] = 5000
    hybrid = hybrid_coding(schema, {"c": fine}, 20_000.0, 40.0, 16)
    assert hybrid.cells("c") <= 16 * 16 + 2
    rows = np.arange(20_000) % hybrid.cells("c")
    table = hybrid.decode({"c": rows}, np.random.default_rng(0))
    assert table.rows == 20_000
    assert table.ticks["c"].min() == -1
    assert np.unique(table.ticks["c"]).size > 200
