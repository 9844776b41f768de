import dataclasses
from fractions import Fraction

import pytest

from accounting.budget import Cap, Law, Mu, Rho, cap
from accounting.errors import BudgetRefused, ConfigError, LedgerError
from accounting.filters import THEOREMS, Filter

TENTH = Fraction(1, 10)


@pytest.mark.parametrize("law", list(Law))
def test_f13_a_tenth_and_nine_tenths_use_up_exactly_one(law):
    spent = Filter(cap(law, Fraction(1))).after(TENTH).after(9 * TENTH)
    assert spent.left == 0
    with pytest.raises(BudgetRefused):
        spent.check(Fraction(1, 10**30))


@pytest.mark.parametrize("law", list(Law))
def test_f14_eleven_elevenths_fit_and_twelve_do_not(law):
    filtered = Filter(cap(law, Fraction(1)))
    for _ in range(11):
        filtered = filtered.after(Fraction(1, 11))
    assert filtered.left == 0
    with pytest.raises(BudgetRefused):
        filtered.after(Fraction(1, 11))


@pytest.mark.parametrize("law", list(Law))
def test_p14_a_cost_above_the_cap_by_the_least_is_refused(law):
    filtered = Filter(cap(law, TENTH))
    filtered.check(TENTH)
    with pytest.raises(BudgetRefused):
        filtered.check(TENTH + Fraction(1, 10**60))


@pytest.mark.parametrize(("amount", "unit", "symbol"), [(Rho(TENTH), "rho", "ρ"), (Mu(TENTH), "mu_squared", "μ²")])
def test_a_refusal_says_what_was_asked_and_what_is_left(amount, unit, symbol):
    filtered = Filter(Cap(amount), spent=Fraction(1, 30))
    with pytest.raises(BudgetRefused) as caught:
        filtered.check(Fraction(1, 3))
    error = caught.value
    assert (error.asked, error.left, error.unit) == (Fraction(1, 3), Fraction(1, 15), unit)
    assert str(error) == (
        f"the budget does not allow this: {symbol} = 0.333334 was asked for (exactly 1/3), "
        f"{symbol} = 0.0666666 is left (exactly 1/15). Nothing was spent. Ask for at most what is left."
    )
    assert filtered.spent == Fraction(1, 30)


@pytest.mark.parametrize("law", list(Law))
def test_delta_has_its_own_filter(law):
    filtered = Filter(cap(law, Fraction(1), Fraction(1, 10**9))).after(TENTH, Fraction(1, 10**9))
    assert filtered.delta_left == 0
    with pytest.raises(BudgetRefused) as caught:
        filtered.check(TENTH, Fraction(1, 10**12))
    assert (caught.value.unit, caught.value.left) == ("delta", 0)
    assert "δ = 1e-12" in str(caught.value)
    filtered.check(TENTH)


@pytest.mark.parametrize("law", list(Law))
def test_a_cap_without_delta_admits_none(law):
    with pytest.raises(BudgetRefused) as caught:
        Filter(cap(law, Fraction(1))).check(TENTH, Fraction(1, 10**300))
    assert caught.value.unit == "delta"


def test_each_law_names_its_theorem():
    assert Filter(Cap(Rho(TENTH))).theorem.startswith("Whitehouse, Ramdas, Rogers and Wu 2023")
    assert Filter(Cap(Mu(TENTH))).theorem.startswith("Smith and Thakurta 2022")
    assert set(THEOREMS) == set(Law)


@pytest.mark.parametrize("amount", [0, -1, True, 0.1, float("nan"), float("inf"), None, "x", Rho(TENTH)])
def test_costs_that_are_not_exact_positive_numbers_are_refused(amount):
    filtered = Filter(Cap(Rho(Fraction(1))))
    for ask in (filtered.check, filtered.after):
        with pytest.raises(ConfigError):
            ask(amount)


@pytest.mark.parametrize("delta", [-1, True, 0.1, float("nan"), None])
def test_deltas_that_are_not_exact_numbers_are_refused(delta):
    with pytest.raises(ConfigError):
        Filter(Cap(Rho(Fraction(1)))).check(TENTH, delta)


@pytest.mark.parametrize(
    ("spent", "delta"), [(Fraction(11, 10), 0), (1, Fraction(1, 2)), (Fraction(10**30 + 1, 10**30), 0)]
)
def test_a_history_beyond_its_cap_is_damage(spent, delta):
    with pytest.raises(LedgerError, match="damaged"):
        Filter(Cap(Rho(Fraction(1))), spent, delta)


def test_a_filter_is_built_from_a_cap_and_exact_sums():
    for wrong in (Rho(TENTH), TENTH, None):
        with pytest.raises(ConfigError, match="Cap"):
            Filter(wrong)
    for wrong in (-1, 0.5, None):
        with pytest.raises(ConfigError):
            Filter(Cap(Rho(Fraction(1))), spent=wrong)


def test_a_filter_is_a_frozen_value():
    filtered = Filter(Cap(Rho(Fraction(1))))
    after = filtered.after(TENTH)
    assert (filtered.spent, after.spent) == (0, TENTH)
    with pytest.raises(dataclasses.FrozenInstanceError):
        filtered.spent = Fraction(0)
    assert after == Filter(Cap(Rho(Fraction(1))), spent=TENTH)
