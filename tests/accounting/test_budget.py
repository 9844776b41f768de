import dataclasses
from fractions import Fraction

import pytest

from accounting.budget import Cap, EpsilonDelta, Law, Mu, Rho, cap
from accounting.errors import ConfigError

NOT_NUMBERS = [True, None, 0.1, float("nan"), float("inf"), 5e-324, "nan", "", object()]


def test_laws_name_their_units():
    assert [law.value for law in Law] == ["zcdp", "gdp"]
    assert (Law.ZCDP.unit, Law.GDP.unit) == ("rho", "mu_squared")


def test_budgets_are_distinct_types_and_never_equal():
    assert Rho(Fraction(1, 2)) != Mu(Fraction(1, 2))
    assert Rho("0.5") == Rho(Fraction(1, 2))
    assert Mu("1/3").squared == Fraction(1, 3)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, -1, "0", "-1/2"])
@pytest.mark.parametrize("kind", [Rho, Mu])
def test_an_amount_is_exact_and_positive(kind, value):
    with pytest.raises(ConfigError):
        kind(value)


@pytest.mark.parametrize("kind", [Rho, Mu])
@pytest.mark.parametrize("other", [Rho(Fraction(1)), Mu(Fraction(1)), EpsilonDelta(Fraction(1), Fraction(1, 2))])
def test_p01_a_budget_is_not_a_number(kind, other):
    with pytest.raises(ConfigError):
        kind(other)
    with pytest.raises(ConfigError):
        EpsilonDelta(other, Fraction(1, 2))


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, "0", "0.0", -1])
def test_p06_f12_epsilon_zero_none_or_not_a_number_is_refused(value):
    with pytest.raises(ConfigError, match="epsilon"):
        EpsilonDelta(value, Fraction(1, 10**6))


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, -1, 1, 2, "1"])
def test_f17_delta_lies_strictly_between_0_and_1(value):
    with pytest.raises(ConfigError, match="delta"):
        EpsilonDelta(Fraction(1), value)


def test_a_cap_has_a_law_and_a_value():
    assert Cap(Rho(Fraction(1, 8))).law is Law.ZCDP
    assert Cap(Rho(Fraction(1, 8))).value == Fraction(1, 8)
    assert Cap(Mu(Fraction(1, 4))).law is Law.GDP
    assert Cap(Mu(Fraction(1, 4))).value == Fraction(1, 4)
    assert Cap(Rho(Fraction(1))).delta == 0
    assert Cap(Rho(Fraction(1)), "1e-9").delta == Fraction(1, 10**9)


@pytest.mark.parametrize("law", list(Law))
def test_a_cap_is_built_from_an_amount_in_the_laws_unit(law):
    built = cap(law, Fraction(3, 7), Fraction(1, 10))
    assert (built.law, built.value, built.delta) == (law, Fraction(3, 7), Fraction(1, 10))


@pytest.mark.parametrize("amount", [Fraction(1), 1, None, EpsilonDelta(Fraction(1), Fraction(1, 2)), Law.ZCDP])
def test_only_rho_and_mu_can_be_caps(amount):
    with pytest.raises(ConfigError, match="Rho or a Mu"):
        Cap(amount)


@pytest.mark.parametrize("delta", [1, 2, -1, 0.5, True, float("nan")])
def test_a_caps_delta_is_exact_and_below_1(delta):
    with pytest.raises(ConfigError, match="delta"):
        Cap(Rho(Fraction(1)), delta)


@pytest.mark.parametrize(
    "value", [Rho(Fraction(1)), Mu(Fraction(1)), EpsilonDelta(Fraction(1), Fraction(1, 2)), Cap(Rho(Fraction(1)))]
)
def test_budgets_cannot_be_changed(value):
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, Fraction(10))
