"""Each kernel against a naive twin in plain Python integers, and at the extremes of its proof."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.curator import counting
from accounting.curator.counting import (
    MAX_ANSWER_CELLS,
    SATURATION,
    check_question_size,
    count_tables,
    l1_error,
    l1_errors,
    selection_scores,
)
from accounting.curator.rows import CellTable
from accounting.errors import QueryRefused
from accounting.queries import ESTIMATE_LIMIT, MAX_GRID, MAX_WEIGHT, Coding, Errors, Marginals, Select, Total
from accounting.schema import Schema
from tests.accounting.curator.tables import categorical, schema_of

WIDTHS = {"a": 3, "b": 4, "c": 2, "d": 1}
SCHEMA = schema_of(
    categorical("a", "xyz", nullable=False, replacement="x"),
    categorical("b", "xyz"),
    categorical("c", "x"),
    categorical("d", "x", nullable=False, replacement="x"),
)
CLIQUES = tuple(clique for size in (1, 2, 3, 4) for clique in itertools.combinations("abcd", size))
COARSE = Coding({"a": np.array([1, 0, 1]), "b": np.array([0, 0, 0, 0])})


def table_of(rows: list[tuple[int, ...]]) -> CellTable:
    columns = zip(*rows, strict=True) if rows else [[]] * len(WIDTHS)
    return CellTable(
        {name: np.array(list(column), dtype=np.uint8) for name, column in zip(WIDTHS, columns, strict=True)}, len(rows)
    )


def naive_table(rows, schema: Schema, clique, coding: Coding) -> np.ndarray:
    names = list(WIDTHS)
    counts = np.zeros(coding.shape(schema, clique), dtype=object)
    for row in rows:
        place = []
        for name in clique:
            cell = row[names.index(name)]
            place.append(int(coding.bins[name][cell]) if name in coding.bins else cell)
        counts[tuple(place)] += 1
    return counts


def naive_error(counts: np.ndarray, estimate: np.ndarray, grid: int) -> int:
    return sum(abs(grid * int(c) - int(e)) for c, e in zip(counts.ravel(), estimate.ravel(), strict=True))


tables = st.lists(st.tuples(*(st.integers(0, width - 1) for width in WIDTHS.values())), max_size=12)


@settings(deadline=None, max_examples=40)
@given(rows=tables, order=st.permutations(CLIQUES), coding=st.sampled_from([Coding(), COARSE]))
def test_tables_equal_the_naive_count_in_any_order_of_cliques(rows, order, coding):
    found = list(count_tables(table_of(rows), SCHEMA, tuple(order), coding))
    for clique, counts in zip(order, found, strict=True):
        assert counts.dtype == np.int64
        assert counts.shape == coding.shape(SCHEMA, clique)
        assert np.array_equal(counts, naive_table(rows, SCHEMA, clique, coding))


@settings(deadline=None, max_examples=40)
@given(
    rows=tables, asked=st.lists(st.tuples(st.sampled_from(CLIQUES), st.sampled_from([Coding(), COARSE])), max_size=8)
)
@pytest.mark.parametrize("room", [0, 5, 2**23])
def test_tables_counted_before_change_nothing(rows, asked, room):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accounting.curator.rows.KNOWN_CELLS", room)
        cells = table_of(rows)
        for clique, coding in asked:
            (counts,) = count_tables(cells, SCHEMA, (clique,), coding)
            assert np.array_equal(counts, naive_table(rows, SCHEMA, clique, coding))


def test_a_table_is_counted_once_for_a_coding_while_there_is_room(monkeypatch):
    counted = []
    count = counting._count
    monkeypatch.setattr(counting, "_count", lambda *arguments: counted.append(arguments[-1]) or count(*arguments))
    monkeypatch.setattr("accounting.curator.rows.KNOWN_CELLS", 6)
    cells, coding = table_of([(0, 0, 0, 0), (1, 2, 1, 0)]), Coding()
    for _ in range(2):
        list(count_tables(cells, SCHEMA, (("b",), ("a",), ("c",)), coding))
    assert counted == [4, 3, 2, 3]  # b and c fit into six cells, a does not
    list(count_tables(cells, SCHEMA, (("b",),), Coding()))
    list(count_tables(cells, SCHEMA, (("b",),), coding))
    assert counted[4:] == [4, 4]  # another coding's tables are forgotten


def test_a_kept_table_cannot_be_changed():
    cells = table_of([(0, 0, 0, 0)])
    (counts,) = count_tables(cells, SCHEMA, (("a",),), Coding())
    with pytest.raises(ValueError, match="read-only"):
        counts += 1


@pytest.mark.parametrize("block", [1, 2, 3, 1000])
def test_blocks_do_not_change_counts(monkeypatch, block):
    rows = [(i % 3, i % 4, i % 2, 0) for i in range(25)]
    whole = [table.copy() for table in count_tables(table_of(rows), SCHEMA, CLIQUES, COARSE)]
    monkeypatch.setattr(counting, "_BLOCK", block)
    for one, other in zip(whole, count_tables(table_of(rows), SCHEMA, CLIQUES, COARSE), strict=True):
        assert np.array_equal(one, other)


def test_wide_columns_count_beyond_16_bits():
    schema = schema_of(
        {"name": "n", "kind": "integer", "min": 0, "max": 99_999, "nullable": False, "replacement": 0},
        categorical("b", "xyz"),
    )
    cells = CellTable({"n": np.array([99_999, 0, 99_999], np.uint32), "b": np.array([3, 0, 3], np.uint8)}, 3)
    (counts,) = count_tables(cells, schema, (("n", "b"),), Coding())
    assert counts[99_999, 3] == 2
    assert counts[0, 0] == 1
    assert counts.sum() == 3


@settings(deadline=None, max_examples=40)
@given(rows=tables, data=st.data())
def test_errors_and_scores_equal_the_naive_sums(rows, data):
    grid = 2 ** data.draw(st.integers(0, 20))
    estimates = tuple(
        np.array(
            data.draw(
                st.lists(
                    st.integers(-ESTIMATE_LIMIT, ESTIMATE_LIMIT) | st.integers(-grid * 12, grid * 12),
                    min_size=int(np.prod(COARSE.shape(SCHEMA, clique))),
                    max_size=int(np.prod(COARSE.shape(SCHEMA, clique))),
                )
            ),
            dtype=np.int64,
        ).reshape(COARSE.shape(SCHEMA, clique))
        for clique in CLIQUES
    )
    weights = tuple(data.draw(st.integers(1, MAX_WEIGHT)) for _ in CLIQUES)
    penalties = tuple(data.draw(st.integers(-ESTIMATE_LIMIT, ESTIMATE_LIMIT)) for _ in CLIQUES)
    naive = [
        naive_error(naive_table(rows, SCHEMA, clique, COARSE), estimate, grid)
        for clique, estimate in zip(CLIQUES, estimates, strict=True)
    ]
    errors = Errors(CLIQUES, estimates, grid, Fraction(1), COARSE)
    assert l1_errors(errors, table_of(rows), SCHEMA).tolist() == naive
    select = Select(CLIQUES, weights, estimates, penalties, grid, Fraction(1), COARSE)
    expected = [
        max(-(2**62), min(2**62, weight * (error - penalty)))
        for error, weight, penalty in zip(naive, weights, penalties, strict=True)
    ]
    assert selection_scores(select, table_of(rows), SCHEMA).tolist() == expected


def test_p21_an_error_beyond_64_bits_is_exact_and_never_wraps():
    counts = np.full(2**12, 2**31 - 1, dtype=np.int64)
    estimate = np.full(2**12, -ESTIMATE_LIMIT, dtype=np.int64)
    assert l1_error(counts, estimate, MAX_GRID) == 2**12 * (2**20 * (2**31 - 1) + 2**53)
    assert l1_error(counts, estimate, MAX_GRID) > 2**63


def test_p21_saturated_errors_and_scores_stay_lipschitz():
    big = 2**10
    schema = schema_of({"name": "n", "kind": "integer", "min": 0, "max": big - 1, "nullable": False, "replacement": 0})
    wide = (np.full(big, ESTIMATE_LIMIT, dtype=np.int64),)
    for rows in (0, 1, 2):
        cells = CellTable({"n": np.zeros(rows, np.uint16)}, rows)
        errors = l1_errors(Errors((("n",),), wide, MAX_GRID, Fraction(1)), cells, schema)
        assert errors.tolist() == [SATURATION]
        low = Select((("n",),), (MAX_WEIGHT,), (np.zeros(big, np.int64),), (ESTIMATE_LIMIT,), 1, Fraction(1))
        assert selection_scores(low, cells, schema).tolist() == [-SATURATION]
        high = Select((("n",),), (MAX_WEIGHT,), wide, (0,), 1, Fraction(1))
        assert selection_scores(high, cells, schema).tolist() == [SATURATION]


@settings(deadline=None, max_examples=40)
@given(rows=tables.filter(bool), data=st.data())
def test_p18_one_row_moves_no_error_by_more_than_a_grid(rows, data):
    place = data.draw(st.integers(0, len(rows) - 1))
    neighbour = rows[:place] + rows[place + 1 :]
    grid = 2 ** data.draw(st.integers(0, 20))
    clique = data.draw(st.sampled_from(CLIQUES))
    size = int(np.prod(Coding().shape(SCHEMA, clique)))
    estimate = np.array(
        data.draw(st.lists(st.integers(-5 * grid, 5 * grid), min_size=size, max_size=size)), dtype=np.int64
    ).reshape(Coding().shape(SCHEMA, clique))
    query = Errors((clique,), (estimate,), grid, Fraction(1))
    moved = abs(
        int(l1_errors(query, table_of(rows), SCHEMA)[0]) - int(l1_errors(query, table_of(neighbour), SCHEMA)[0])
    )
    assert moved <= grid


WIDE = {"kind": "integer", "min": 0, "max": 2**21 - 1, "nullable": False, "replacement": 0}


def test_an_answer_too_large_to_store_is_refused_before_it_costs():
    names = [f"n{index}" for index in range(17)]
    schema = schema_of(*({"name": name, **WIDE} for name in names))
    check_question_size(Marginals(tuple((name,) for name in names[:16]), Fraction(1)), schema)
    with pytest.raises(QueryRefused, match=f"{17 * 2**21} cells together; at most {MAX_ANSWER_CELLS}"):
        check_question_size(Marginals(tuple((name,) for name in names), Fraction(1)), schema)
    check_question_size(Total(Fraction(1)), schema)


def test_a_question_over_the_machines_memory_is_refused_before_it_costs(monkeypatch):
    schema = schema_of({"name": "n", **WIDE}, {"name": "m", **WIDE})
    estimates = (np.zeros(2**21, np.int64), np.zeros(2**21, np.int64))
    errors = Errors((("n",), ("m",)), estimates, 1, Fraction(1))
    marginal = Marginals((("n",),), Fraction(1))
    monkeypatch.setattr(counting, "memory_limit", lambda: 2**26)
    check_question_size(errors, schema)  # one table at a time
    with pytest.raises(QueryRefused, match="needs about 224 MiB, more than half"):
        check_question_size(marginal, schema)
    monkeypatch.setattr(counting, "memory_limit", lambda: 2**26 - 1)
    with pytest.raises(QueryRefused, match="needs about 64 MiB"):
        check_question_size(errors, schema)
