"""Candidates: placed so that distances are exact, drawn and varied within the declared domain."""

from fractions import Fraction

import numpy as np
import pytest

from accounting.queries import Votes, check_query
from accounting.schema import Schema
from mechanisms.tab_pe.space import draw_uniform, embedding, line_of, moved, mutation_rate, table_bins, vary
from tests.contracts.test_mechanisms import KINDS_OF_COLUMN
from tests.mechanisms.fakes import categorical, integer, schema_of

KINDS = Schema.from_text(KINDS_OF_COLUMN)


def test_points_and_null_stand_beside_the_line():
    line = line_of(KINDS.column("cost"))
    zero = int(KINDS.column("cost").cell_of_tick(np.array([0]))[0])
    assert line.beside.tolist() == [zero, KINDS.column("cost").null_cell]
    assert zero not in line.cells
    assert np.all(np.diff(line.cells) > 0)
    assert line_of(KINDS.column("flag")) is None
    assert line_of(schema_of(integer("a", 4, 4)).column("a")) is None


def test_p24_p26_the_embedding_follows_from_the_schema_alone():
    """Same schema, any table: nothing that a row could change enters."""
    placed = embedding(KINDS, "group", Fraction(1))
    assert set(placed) == {"flag", "cost", "day", "hour"}
    cost = placed["cost"]
    line = line_of(KINDS.column("cost"))
    ends = cost.coordinates[line.cells[[0, -1]]]
    assert int(ends[1]) - int(ends[0]) == -2 * int(ends[0])
    assert cost.apart == (2 * int(ends[1])) ** 2
    assert np.all(np.diff(cost.coordinates[line.cells]) > 0)
    assert len(set(cost.classes[line.beside].tolist())) == line.beside.size


@pytest.mark.parametrize("columns", [1, 5, 30, 400, 6000])
def test_p41_distances_of_narrow_and_wide_tables_are_exact(columns):
    names = [f"x{place}" for place in range(columns)]
    placed = embedding(schema_of(*(integer(name, 0, 99) for name in names)), None, Fraction(1))
    candidates = np.zeros((1, columns), dtype=np.int32)
    query = Votes(candidates, placed, 1, None, Fraction(1))
    check_query(query, schema_of(*(integer(name, 0, 99) for name in names)))
    assert (query.reach < 2**24) == (columns < 6000)


def test_candidates_stay_in_the_declared_domain_and_keep_their_label():
    rng = np.random.default_rng(0)
    candidates = draw_uniform(KINDS, 500, rng)
    for rate in (0.02, 1.0):
        varied = vary(candidates, KINDS, "group", rate, rng)
        assert varied.dtype == np.int32
        for place, column in enumerate(KINDS.columns):
            assert varied[:, place].min() >= 0
            assert varied[:, place].max() < column.cells
            changed = np.mean(varied[:, place] != candidates[:, place])
            assert (changed == 0) if column.name == "group" else changed > 0
    assert not np.shares_memory(varied, candidates)


def test_a_value_moves_by_at_most_its_rate_and_a_state_rarely_changes():
    schema = schema_of(integer("a", 0, 1000), categorical("b", 50))
    rng = np.random.default_rng(1)
    start = np.full((4000, 2), (500, 7), dtype=np.int32)
    varied = vary(start, schema, None, 0.1, rng)
    assert np.abs(varied[:, 0] - 500).max() <= 100
    assert varied[:, 0].std() == pytest.approx(100 / 3**0.5, rel=0.05)
    assert np.mean(varied[:, 1] != 7) == pytest.approx(0.1 * 49 / 50, abs=0.03)


def test_cells_beside_a_line_do_not_move_along_it():
    column = KINDS.column("cost")
    line = line_of(column)
    cells = np.repeat(line.beside, 50).astype(np.int32)
    assert np.array_equal(moved(cells, line, 0.5, np.random.default_rng(0)), cells)
    inside = np.repeat(line.cells[:1], 50).astype(np.int32)
    assert np.isin(moved(inside, line, 0.5, np.random.default_rng(0)), line.cells).all()


def test_the_mutation_rate_decays_from_first_to_last():
    rates = [mutation_rate(Fraction(1, 2), Fraction(1, 20), Fraction(1, 5), number, 10) for number in range(11)]
    assert rates[0] == 0.5
    assert rates[-1] == pytest.approx(0.05)
    assert rates == sorted(rates, reverse=True)
    assert rates[1] == pytest.approx(0.5 - 0.45 * 0.1**0.2)


def test_table_bins_cut_the_line_and_leave_the_rest_alone():
    bins = table_bins(KINDS.column("cost"), 10)
    line = line_of(KINDS.column("cost"))
    assert sorted(set(bins[line.cells].tolist())) == list(range(10))
    assert bins[line.beside].tolist() == [10, 11]
    assert table_bins(KINDS.column("flag"), 10) is None
    assert table_bins(schema_of(integer("a", 0, 9)).column("a"), 10) is None
