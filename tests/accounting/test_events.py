import dataclasses
from fractions import Fraction

import pytest
from mpmath import mp

from accounting import events
from accounting.budget import Law, Mu, Rho
from accounting.errors import ConfigError
from accounting.events import (
    MAX_THRESHOLD,
    MU_SQUARED_PER_EPSILON_SQUARED,
    TAIL_BITS,
    GaussianEvent,
    SelectionEvent,
    ThresholdEvent,
    delta_price,
    gaussian_variance,
    price,
    selection_epsilon,
    threshold_for,
)

NOT_NUMBERS = [0, -1, True, None, 0.5, float("nan"), float("inf"), Rho(Fraction(1)), Mu(Fraction(1))]


def test_the_closed_table_of_prices():
    gaussian = GaussianEvent(Fraction(9), Fraction(2))
    assert price(gaussian, Law.ZCDP) == Fraction(9, 4)
    assert price(gaussian, Law.GDP) == Fraction(9, 2)
    selection = SelectionEvent(Fraction(2, 3))
    assert price(selection, Law.ZCDP) == Fraction(4, 9) / 8
    assert price(selection, Law.GDP) == Fraction(4, 9) * Fraction(11, 28)
    threshold = ThresholdEvent(Fraction(9), Fraction(2), 5, 9)
    assert price(threshold, Law.ZCDP) == Fraction(9, 4)
    assert price(threshold, Law.GDP) == Fraction(9, 2)
    assert delta_price(gaussian) == delta_price(selection) == 0 < delta_price(threshold)


def test_every_event_type_has_a_price_under_every_law_and_nothing_else_has():
    kinds = {item for item in vars(events).values() if isinstance(item, type) and dataclasses.is_dataclass(item)}
    assert kinds == {GaussianEvent, SelectionEvent, ThresholdEvent}

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
        lambda: ThresholdEvent(value, Fraction(1), 2, 1),
        lambda: ThresholdEvent(Fraction(1), value, 2, 1),
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


def tail(threshold: int, variance: Fraction) -> object:
    """P(1 + R ≥ threshold) for R the integer nearest to N(0, variance), at the precision of the context."""
    return mp.ncdf(-(mp.mpf(threshold) - mp.mpf(3) / 2) / mp.sqrt(mp.mpf(variance.numerator) / variance.denominator))


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1, 4), Fraction(1), Fraction(37, 3), Fraction(10**6)])
@pytest.mark.parametrize("names", [1, 2, 5])
@pytest.mark.parametrize("threshold", [2, 3, 4, 7, 40])
def test_p10_the_tail_begins_with_the_mass_at_the_threshold(variance, names, threshold):
    charged = delta_price(ThresholdEvent(Fraction(names), variance, threshold, names))
    with mp.workdps(50):
        least = min(mp.mpf(1), names * tail(threshold, variance))
        stated = mp.mpf(charged.numerator) / charged.denominator
        assert least <= stated <= least * (1 + mp.mpf(2) ** -39) + names * mp.mpf(2) ** -TAIL_BITS
        if stated < 1 and least > mp.mpf(10) ** -300:
            assert stated > names * tail(threshold + 1, variance)  # what a strict inequality would charge


def test_p48_delta_counts_every_name_that_a_unit_may_bring():
    one, five = (delta_price(ThresholdEvent(Fraction(1), Fraction(9), 12, names)) for names in (1, 5))
    assert 5 * one * (1 - Fraction(1, 2**38)) < five < 5 * one * (1 + Fraction(1, 2**38))


@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 10**12), Fraction(1, 3)])
@pytest.mark.parametrize(("variance", "names"), [(Fraction(1, 100), 1), (Fraction(50), 3), (Fraction(10**9), 1000)])
def test_the_least_threshold_that_keeps_a_delta(variance, names, delta):
    threshold = threshold_for(variance, names, delta)
    assert delta_price(ThresholdEvent(Fraction(names), variance, threshold, names)) <= delta
    if threshold > 2:
        assert delta_price(ThresholdEvent(Fraction(names), variance, threshold - 1, names)) > delta


def test_a_delta_that_no_threshold_keeps_is_refused():
    with pytest.raises(ConfigError, match="larger delta"):
        threshold_for(Fraction(10**30), 1, Fraction(1, 10**9))
    with pytest.raises(ConfigError):
        threshold_for(Fraction(1), 1, Fraction(0))


@pytest.mark.parametrize(
    ("threshold", "names"), [(1, 1), (True, 1), (2.0, 1), (MAX_THRESHOLD + 1, 1), (2, 0), (2, True)]
)
def test_thresholds_and_names_are_whole_numbers_of_their_range(threshold, names):
    with pytest.raises(ConfigError):
        ThresholdEvent(Fraction(1), Fraction(1), threshold, names)
