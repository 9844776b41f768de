"""What must hold for all amounts: costs are monotone, sums are exact and free of order, texts are faithful."""

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accounting.budget import Law, Mu, Rho, cap
from accounting.convert import delta, epsilon, for_group
from accounting.errors import BudgetRefused
from accounting.events import GaussianEvent, SelectionEvent, gaussian_variance, price, selection_epsilon
from accounting.exact import from_text, to_text
from accounting.filters import Filter

LAWS = st.sampled_from(list(Law))
AMOUNTS = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9))
MANY = settings(max_examples=80, deadline=None)
FEW = settings(max_examples=25, deadline=None)


def exponents(low, high):
    """Draw numbers of all magnitudes from 10^low to 10^high."""
    return st.builds(
        lambda exponent, digits: Fraction(digits, 100) * Fraction(10) ** exponent,
        st.integers(low, high - 1),
        st.integers(100, 999),
    )


@MANY
@given(st.fractions())
def test_texts_are_faithful(value):
    assert from_text(to_text(value)) == value


@MANY
@given(LAWS, st.lists(AMOUNTS, min_size=1, max_size=12), st.randoms())
def test_p03_p13_sums_are_exact_and_free_of_order(law, amounts, shuffler):
    total = sum(amounts, Fraction(0))
    shuffled = list(amounts)
    shuffler.shuffle(shuffled)
    ends = []
    for order in (amounts, shuffled):
        spent = Filter(cap(law, total))
        for amount in order:
            spent = spent.after(amount)
        ends.append(spent)
    assert ends[0] == ends[1]
    assert ends[0].spent == total
    assert ends[0].left == 0


@MANY
@given(LAWS, AMOUNTS, st.lists(AMOUNTS, max_size=12))
def test_p14_no_order_of_grants_ever_passes_the_cap(law, limit, amounts):
    spent, granted = Filter(cap(law, limit)), Fraction(0)
    for amount in amounts:
        try:
            spent = spent.after(amount)
        except BudgetRefused:
            assert granted + amount > limit
        else:
            granted += amount
            assert granted <= limit
    assert spent.spent == granted
    assert spent.left == limit - granted


@MANY
@given(LAWS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_p13_prices_fall_with_noise_and_grow_with_sensitivity(law, sensitivity_squared, first, second):
    assume(first < second)
    less, more = (price(GaussianEvent(sensitivity_squared, variance), law) for variance in (second, first))
    assert less < more
    assert price(GaussianEvent(first, sensitivity_squared), law) < price(
        GaussianEvent(second, sensitivity_squared), law
    )
    assert price(SelectionEvent(first), law) < price(SelectionEvent(second), law)


@MANY
@given(LAWS, AMOUNTS, AMOUNTS)
def test_a_share_is_spent_exactly_by_gaussian_noise_and_never_passed_by_a_selection(law, sensitivity_squared, amount):
    variance = gaussian_variance(sensitivity_squared, amount, law)
    assert price(GaussianEvent(sensitivity_squared, variance), law) == amount
    cost = price(SelectionEvent(selection_epsilon(amount, law)), law)
    assert amount * (1 - Fraction(1, 2**38)) < cost <= amount


@FEW
@given(st.sampled_from([Rho, Mu]), exponents(-15, 4), exponents(-30, 0))
def test_epsilon_is_monotone_and_never_negative(kind, amount, at_delta):
    assume(at_delta < 1)
    base = epsilon(kind(amount), at_delta)
    assert base >= 0
    assert epsilon(kind(amount * Fraction(11, 10)), at_delta) >= base
    assert epsilon(kind(amount), at_delta / 2) >= base
    assert epsilon(for_group(kind(amount), 2), at_delta) >= base


@FEW
@given(st.sampled_from([Rho, Mu]), exponents(-12, 3), exponents(-6, 3))
def test_epsilon_and_delta_are_inverse_on_the_safe_side(kind, amount, at_epsilon):
    at_delta = delta(kind(amount), at_epsilon)
    assume(Fraction(1, 10**290) < at_delta < 1 - Fraction(1, 10**15))
    # δ was rounded up, so its ε is at most the first one; a δ smaller by far more than the rounding needs more.
    assert epsilon(kind(amount), at_delta) <= at_epsilon * (1 + Fraction(1, 10**19))
    assert epsilon(kind(amount), at_delta * (1 - Fraction(1, 10**3))) > at_epsilon * (1 - Fraction(1, 10**18))
