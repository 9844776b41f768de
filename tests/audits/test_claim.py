"""The claim check: right claims hold, and each kind of wrong one is found."""

from fractions import Fraction

import pytest

from accounting.budget import EpsilonDelta, Law, Mu
from accounting.convert import cap_for, epsilon
from audits.claim import NotComputable, check_epsilon, check_sum


@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize(("stated", "delta"), [("1", "1e-6"), ("1/1000", "1e-6"), ("50", "1e-12"), ("1/10", "1/100")])
def test_a_right_epsilon_holds_and_one_a_millionth_off_does_not(law, stated, delta):
    amount = cap_for(EpsilonDelta(Fraction(stated), Fraction(delta)), law)
    value = amount.squared if isinstance(amount, Mu) else amount.value
    right = epsilon(amount, Fraction(delta))
    assert all(check.holds for check in check_epsilon(law, value, Fraction(delta), right))
    wrong = check_epsilon(law, value, Fraction(delta), right * (1 + Fraction(1, 10**6)))
    assert not wrong[0].holds


def test_an_epsilon_of_zero_holds():
    assert check_epsilon(Law.GDP, Fraction(1, 10**6), Fraction(1, 2), Fraction(0))[0].holds


def test_an_oracle_that_cannot_answer_says_why():
    checks = check_epsilon(Law.ZCDP, Fraction(10**14), Fraction(1, 10), epsilon(cap(10**14), Fraction(1, 10)))
    assert isinstance(checks[1].recomputed, NotComputable)
    assert checks[0].holds


def cap(rho):
    from accounting.budget import Rho

    return Rho(Fraction(rho))


def test_sums_are_exact():
    amounts = [Fraction(1, 3), Fraction(1, 7), Fraction(2, 21)]
    assert check_sum("rho", amounts, Fraction(4, 7)).holds
    assert not check_sum("rho", amounts, Fraction(4, 7) + Fraction(1, 10**30)).holds
    assert check_sum("rho", [], Fraction(0)).holds
