from fractions import Fraction

import numpy as np
import pytest

from accounting.budget import Cap, Law, Rho
from accounting.errors import DpReleaseError
from accounting.queries import Marginals, Total
from accounting.unit import PersonUnit, RowUnit
from mechanisms.asking import Asker, spendable
from mechanisms.base import Plan, PlannedQuestions
from tests.mechanisms.fakes import NumpyTable, categorical, schema_of

SCHEMA = schema_of({"name": "id", "kind": "identifier"}, categorical("a", 2), categorical("b", 3))
TICKS = {"a": np.array([0, 1]), "b": np.array([2, 2])}
CAP = Cap(Rho("1/2"))


def asker_for(table, *lines, unit=None, total=CAP.value):
    return Asker(table, SCHEMA, RowUnit() if unit is None else unit, CAP, Plan(Law.ZCDP, lines, total))


def test_p04_the_remainder_is_the_cap_less_every_price_paid():
    table = NumpyTable(SCHEMA, TICKS, CAP)
    asker = asker_for(table, PlannedQuestions("marginals", "", 2, CAP.value))
    asker.marginals((("a",), ("b",)), Fraction(1, 8))
    assert asker.left == table.remaining == Fraction(3, 8)
    asker.marginals((("a", "b"),), Fraction(3, 8))
    assert asker.left == table.remaining == 0
    assert [asked.cost for asked in asker.transcript] == [Fraction(1, 8), Fraction(3, 8)]
    assert asker.share == 1.0


def test_p05_a_question_beyond_the_remainder_is_never_asked():
    table = NumpyTable(SCHEMA, TICKS, Cap(Rho(9)))
    asker = asker_for(table, PlannedQuestions("marginals", "", 2, CAP.value))
    with pytest.raises(DpReleaseError, match="beyond its plan"):
        asker.marginals((("a",),), Fraction(51, 100))
    assert table.asked == []
    assert asker.left == CAP.value


def test_a_question_beyond_the_plans_number_or_kind_is_never_asked():
    table = NumpyTable(SCHEMA, TICKS, CAP)
    asker = asker_for(table, PlannedQuestions("marginals", "", 1, CAP.value))
    with pytest.raises(DpReleaseError, match="total"):
        asker.ask(Total(Fraction(100)))
    asker.marginals((("a",),), Fraction(1, 100))
    with pytest.raises(DpReleaseError, match="marginals"):
        asker.marginals((("a",),), Fraction(1, 100))
    assert len(table.asked) == 1


def test_p17_the_noise_follows_the_unit_and_the_number_of_tables():
    table = NumpyTable(SCHEMA, TICKS, CAP, unit=PersonUnit("id", 3))
    asker = asker_for(table, PlannedQuestions("marginals", "", 1, CAP.value), unit=table.unit)
    tables = asker.marginals((("a",), ("b",)), Fraction(1, 8))
    variance = tables[0].variance
    assert variance == Fraction(9 * 2, 1) / (2 * Fraction(1, 8))
    (query,) = table.asked
    assert isinstance(query, Marginals)
    assert query.variance == variance


def test_long_amounts_are_rounded_down_to_short_ones():
    assert spendable(Fraction(1, 3)) == Fraction(1, 3)
    long = Fraction(3**50, 7**40)
    short = spendable(long)
    assert short < long
    assert short > long * (1 - Fraction(1, 2**38))
    assert short.numerator.bit_length() <= 41
