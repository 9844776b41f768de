"""The second sums take every question's price from its public fields: equal to the first code's."""

from fractions import Fraction

import pytest

from accounting.budget import Law
from accounting.events import price
from accounting.ledger.content import shorten_question
from accounting.queries import Votes, describe_query, question_event
from accounting.unit import PersonUnit, RowUnit
from release.verify.sums import _price
from tests.contracts.test_private_table import QUESTIONS


@pytest.mark.parametrize("name", list(QUESTIONS))
@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("who", 3)], ids=["row", "person"])
@pytest.mark.parametrize("law", list(Law))
def test_both_codes_price_every_question_alike(name, unit, law):
    query = QUESTIONS[name]
    top, bottom = _price(shorten_question(describe_query(query)), unit.max_rows, law.value)
    assert Fraction(top, bottom) == price(question_event(query, unit), law)


def test_votes_cost_the_square_of_k_root_v():
    query = QUESTIONS["votes"]
    assert isinstance(query, Votes)
    assert query.votes == 2
    assert Fraction(*_price(shorten_question(describe_query(query)), 3, "gdp")) == Fraction(9 * 2) / query.variance
