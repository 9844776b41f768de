"""The declared sensitivity of each question is the largest movement over all neighbours: neither exceeded nor slack."""

from fractions import Fraction

import numpy as np
import pytest

from accounting import planted
from accounting.curator import counting
from accounting.curator import measured as measured_columns
from accounting.events import GaussianEvent
from accounting.queries import Select, question_event, selection_scale
from accounting.unit import NEIGHBOURING, PersonUnit, RowUnit, unit_to_json
from tests.exact import worlds
from tests.exact.worlds import QUESTIONS, UNITS, World, exact_pairs, vector

GAUSSIAN = [name for name, query in QUESTIONS.items() if not isinstance(query, Select)]


def measured(pairs) -> int:
    """The largest squared L2 movement."""
    return max(int(((one - other) ** 2).sum()) for one, other in pairs)


def is_tight(pairs, declared_squared: Fraction) -> bool:
    return measured(pairs) == declared_squared


@pytest.fixture(params=list(UNITS))
def unit(request):
    return UNITS[request.param]


@pytest.mark.parametrize("name", GAUSSIAN)
def test_p18_declared_sensitivity_is_attained_and_never_exceeded(name, unit):
    event = question_event(QUESTIONS[name], unit)
    assert isinstance(event, GaussianEvent)
    pairs = exact_pairs(name, unit)
    assert is_tight(pairs, event.sensitivity_squared)
    assert not is_tight(pairs, event.sensitivity_squared * 4)  # declared twice too large
    assert not is_tight(pairs, event.sensitivity_squared / 4)  # declared half


def test_declared_score_movement_is_attained_and_never_exceeded(unit):
    query = QUESTIONS["selection"]
    declared = query.epsilon / (2 * selection_scale(query, unit))
    moved = max(int(np.abs(one - other).max()) for one, other in exact_pairs("selection", unit))
    assert moved == declared == unit.max_rows * query.grid * max(query.weights)


def test_each_candidates_score_moves_by_its_own_weight_at_most(unit):
    query = QUESTIONS["selection"]
    for place, weight in enumerate(query.weights):
        moved = max(abs(int(one[place] - other[place])) for one, other in exact_pairs("selection", unit))
        assert moved == unit.max_rows * query.grid * weight


def test_l1_errors_are_not_monotonic_so_that_the_factor_two_is_needed():
    moves = {tuple(np.sign(other - one)) for one, other in exact_pairs("selection", RowUnit())}
    assert any({-1, 1} <= set(move) for move in moves)


def test_p22_only_add_or_remove_is_claimed():
    """Replacing one row moves a marginal by more than is declared: the neighbouring relation is part of the claim."""
    unit = RowUnit()
    query = QUESTIONS["one marginal"]
    one, other = (vector(World(((row,),)).exact(query, unit)) for row in worlds.ROW_KINDS[:2])
    assert int(((one - other) ** 2).sum()) > question_event(query, unit).sensitivity_squared
    assert NEIGHBOURING == "add-or-remove-one-unit"
    assert unit_to_json(PersonUnit("who", 3))["max_rows"] == 3


class TestWrongTwins:
    """Kernels with a fault of a public system: each is told apart from the declared sensitivity."""

    def changed(self, name, unit):
        exact_pairs.cache_clear()
        try:
            return exact_pairs(name, unit)
        finally:
            exact_pairs.cache_clear()

    def test_p19_rows_that_are_bounded_but_not_used(self, monkeypatch):
        monkeypatch.setattr(measured_columns, "kept_rows", lambda columns, *_: np.ones(columns[0].size, dtype=bool))
        unit = UNITS["two rows"]
        pairs = self.changed("total", unit)
        assert measured(pairs) > question_event(QUESTIONS["total"], unit).sensitivity_squared

    def test_p17_shares_instead_of_counts(self, monkeypatch):
        real = counting.count_tables

        def shares(cells, *rest):
            return (table * 100 // max(1, cells.rows) for table in real(cells, *rest))

        monkeypatch.setattr(planted, "count_tables", shares)
        assert not is_tight(self.changed("one marginal", RowUnit()), Fraction(1))

    def test_p21_halved_counts(self, monkeypatch):
        real = counting.count_tables
        monkeypatch.setattr(planted, "count_tables", lambda *args: (table // 2 for table in real(*args)))
        assert is_tight(
            self.changed("one marginal", RowUnit()), Fraction(1)
        )  # at an odd count it moves by 1 all the same
        monkeypatch.setattr(planted, "count_tables", lambda *args: (table // 2 * 2 for table in real(*args)))
        assert not is_tight(self.changed("one marginal", RowUnit()), Fraction(1))

    def test_p21_errors_that_wrap(self, monkeypatch):
        monkeypatch.setattr(
            counting, "l1_error", lambda counts, estimate, grid: int(np.abs(counts * grid - estimate).sum()) % 8
        )
        assert not is_tight(self.changed("one error", RowUnit()), Fraction(worlds.GRID**2))

    def test_p46_rows_without_an_id_as_one_person(self, monkeypatch):
        """Ids that run into one another: the rows of one person push out another's."""
        monkeypatch.setattr(planted, "number_persons", lambda ids, _: (0 for _ in ids))
        unit = UNITS["two rows"]
        pairs = self.changed("one marginal", unit)
        assert any(int(((one - other) ** 2).sum()) > 0 and one.sum() == other.sum() for one, other in pairs)
