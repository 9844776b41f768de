import dataclasses
from fractions import Fraction

import pytest
from mpmath import mp

from accounting import events
from accounting.budget import Law, Mu, Rho
from accounting.errors import ConfigError
from accounting.events import (
    MU_SQUARED_PER_EPSILON_SQUARED,
    GaussianEvent,
    SelectionEvent,
    gaussian_variance,
    price,
    selection_epsilon,
)

NOT_NUMBERS = [0, -1, True, None, 0.5, float("nan"), float("inf"), Rho(Fraction(1)), Mu(Fraction(1))]


def test_the_closed_table_of_prices():
    gaussian = GaussianEvent(Fraction(9), Fraction(2))
    assert price(gaussian, Law.ZCDP) == Fraction(9, 4)
    assert price(gaussian, Law.GDP) == Fraction(9, 2)
    selection = SelectionEvent(Fraction(2, 3))
    assert price(selection, Law.ZCDP) == Fraction(4, 9) / 8
    assert price(selection, Law.GDP) == Fraction(4, 9) * Fraction(11, 28)


def test_every_event_type_has_a_price_under_every_law_and_nothing_else_has():
    kinds = {item for item in vars(events).values() if isinstance(item, type) and dataclasses.is_dataclass(item)}
    assert kinds == {GaussianEvent, SelectionEvent}

    class Cheaper(GaussianEvent):
        pass

    for law in Law:
        for other in (None, object(), Cheaper(Fraction(1), Fraction(1)), Fraction(1), "gaussian"):
            with pytest.raises(ConfigError, match="closed table"):
                price(other, law)


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_p01_a_budget_cannot_stand_for_a_noise_scale(value):
    for build in (
        lambda: GaussianEvent(value, Fraction(1)),
        lambda: GaussianEvent(Fraction(1), value),
        lambda: SelectionEvent(value),
        lambda: gaussian_variance(value, Fraction(1), Law.ZCDP),
        lambda: gaussian_variance(Fraction(1), value, Law.GDP),
        lambda: selection_epsilon(value, Law.ZCDP),
    ):
        with pytest.raises(ConfigError):
            build()


@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize("amount", [Fraction(1, 100), Fraction(1, 3), Fraction(7)])
def test_p01_a_share_of_one_hundredth_gives_the_noise_it_should(law, amount):
    variance = gaussian_variance(Fraction(5), amount, law)
    assert price(GaussianEvent(Fraction(5), variance), law) == amount
    assert gaussian_variance(Fraction(1), Fraction(1, 100), Law.ZCDP) == 50


@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize("amount", [Fraction(1, 10**12), Fraction(1, 800), Fraction(1, 3), Fraction(2), Fraction(900)])
def test_p14_a_selections_epsilon_never_costs_more_than_its_share(law, amount):
    cost = price(SelectionEvent(selection_epsilon(amount, law)), law)
    assert amount * (1 - Fraction(1, 2**38)) < cost <= amount


def test_p02_selection_is_priced_for_the_softmax_with_the_factor_one_half():
    # Without the factor 1/2 in the softmax, or with permute-and-flip, the range is 2ε and ρ is four times as much.
    epsilon = Fraction(1, 2)
    assert price(SelectionEvent(epsilon), Law.ZCDP) == epsilon**2 / 8
    assert price(SelectionEvent(2 * epsilon), Law.ZCDP) == 4 * price(SelectionEvent(epsilon), Law.ZCDP)
    assert "one exact draw from the softmax" in SelectionEvent.__doc__.lower()


def test_p49_a_selections_mu_is_not_the_square_root_of_two_rho():
    event = SelectionEvent(Fraction(1))
    assert price(event, Law.GDP) > 2 * price(event, Law.ZCDP)
    gaussian = GaussianEvent(Fraction(1), Fraction(4))
    assert price(gaussian, Law.GDP) == 2 * price(gaussian, Law.ZCDP)


def test_the_rational_in_selections_price_lies_just_above_an_eighth_of_pi():
    with mp.workdps(50):
        excess = mp.mpf(11) / 28 / (mp.pi / 8)
        assert Fraction(11, 28) == MU_SQUARED_PER_EPSILON_SQUARED
        assert 1 < excess < 1.0005


@pytest.mark.parametrize("law", list(Law))
def test_p13_less_noise_costs_more(law):
    prices = [price(GaussianEvent(Fraction(1), Fraction(variance)), law) for variance in (1, 2, 3, 100)]
    assert prices == sorted(prices, reverse=True)
    assert len(set(prices)) == 4


def test_events_are_frozen():
    for event in (GaussianEvent(Fraction(1), Fraction(1)), SelectionEvent(Fraction(1))):
        for field in dataclasses.fields(event):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(event, field.name, Fraction(2))


def test_p11_p12_no_event_claims_amplification_by_sampling():
    fields = {field.name for kind in (GaussianEvent, SelectionEvent) for field in dataclasses.fields(kind)}
    assert fields == {"sensitivity_squared", "variance", "epsilon"}
