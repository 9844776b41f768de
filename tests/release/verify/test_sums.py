"""The second sums take every question's price from its public fields: equal to the first code's."""

from fractions import Fraction

import numpy as np
import pytest

from accounting.budget import Cap, Law, Rho
from accounting.errors import VerificationFailed
from accounting.events import ThresholdEvent, delta_price, price
from accounting.ledger import Ledger
from accounting.ledger.content import shorten_question
from accounting.queries import Categories, Quantiles, Votes, describe_query, query_digest, question_event
from accounting.unit import PersonUnit, RowUnit
from release.verify.sums import _costs, _price, sum_lines
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


@pytest.mark.parametrize("unit", [RowUnit(), PersonUnit("who", 3)], ids=["row", "person"])
@pytest.mark.parametrize("law", list(Law))
def test_both_codes_price_questions_about_domains_alike(unit, law):
    for query in (Categories("c", Fraction(9, 2), 12, 5), Quantiles("n", np.array([[0, 4], [5, 5]]), Fraction(9, 2))):
        described = shorten_question(describe_query(query))
        event = question_event(query, unit)
        assert Fraction(*_price(described, unit.max_rows, law.value)) == price(event, law)
        delta = delta_price(event)
        assert _costs(described, unit.max_rows, (delta.numerator, delta.denominator))


@pytest.mark.parametrize(
    ("threshold", "variance"),
    [(3, Fraction(1)), (6, Fraction(9, 2)), (30, Fraction(9, 2)), (60, Fraction(100)), (4000, Fraction(10**6))],
)
def test_p10_p48_the_second_code_refuses_any_other_delta(threshold, variance):
    question = {"question": "categories", "column": "c", "variance": f"{variance.numerator}/{variance.denominator}"}
    question |= {"threshold": threshold, "most": 5}
    own = delta_price(ThresholdEvent(Fraction(3), variance, threshold, 3))
    for rows, delta, right in (
        (3, own, True),
        (3, own * Fraction(99, 100), False),
        (3, delta_price(ThresholdEvent(Fraction(3), variance, threshold + 1, 3)), False),
        (3, own / 3, False),
        (3, Fraction(0), False),
    ):
        assert _costs(question, rows, (delta.numerator, delta.denominator)) is right


def test_delta_is_added_up_and_a_changed_one_is_found():
    cap = Cap(Rho(Fraction(1)), Fraction(1, 10**3))
    unit, query = PersonUnit("who", 3), Categories("town", Fraction(9), 20, 5)
    ledger, event = Ledger.in_memory(), question_event(query, unit)
    ledger.open_dataset("towns", unit=unit, cap=cap)
    account = ledger.allot("towns", "t1", cap, purpose="test", noise="seeded", context={}, commitment=None)
    account.start(account.authorise("1", query_digest(query), event, describe_query(query)))
    account.close()
    lines = [line.rstrip() for line in ledger.export("towns")]
    sums, delta = sum_lines(lines, "t1", file="ledger.jsonl"), delta_price(event)
    text = f"{delta.numerator}/{delta.denominator}"
    assert (sums.granted_delta, sums.settled_delta, sums.allotted_delta) == (text, "0/1", text)
    assert (sums.cap_delta, sums.dataset_delta) == ("1/1000", "1/1000")
    for wrong in ("0/1", "1/999"):
        forged = [line.replace(f'"delta":"{text}"'.encode(), f'"delta":"{wrong}"'.encode()) for line in lines]
        with pytest.raises(VerificationFailed, match="another price"):
            sum_lines(forged, "t1", file="ledger.jsonl")
    small = [line.replace(b'"cap_delta":"1/1000"', b'"cap_delta":"1/1000000000000"') for line in lines]
    with pytest.raises(VerificationFailed, match="more than the dataset's cap"):
        sum_lines(small, "t1", file="ledger.jsonl")
