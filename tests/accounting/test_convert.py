from fractions import Fraction

import mpmath
import pytest

from accounting import convert, second_opinion
from accounting.budget import Cap, EpsilonDelta, Law, Mu, Rho
from accounting.convert import alpha_used, cap_for, delta, epsilon, for_group, for_replacement
from accounting.errors import ConfigError, DpReleaseError

MILLIONTH = Fraction(1, 10**6)
EPSILONS = [Fraction(text) for text in ("1e-6", "1e-3", "0.01", "0.5", "1", "3", "10", "30", "100", "1000")]
DELTAS = [Fraction(text) for text in ("0.99", "0.5", "0.1", "1e-2", "1e-6", "1e-18", "1e-100", "1e-300")]
LAWS = list(Law)


def raised(amount, factor):
    return Rho(amount.value * factor) if isinstance(amount, Rho) else Mu(amount.squared * factor)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("at_delta", DELTAS)
def test_f4_f6_f7_p14_a_converted_budget_keeps_its_statement_and_is_the_largest(law, at_delta):
    for stated in EPSILONS:
        amount = cap_for(EpsilonDelta(stated, at_delta), law)
        kept = epsilon(amount, at_delta)
        assert 0 < kept <= stated
        assert epsilon(raised(amount, 1 + Fraction(1, 2**38)), at_delta) > stated
        assert delta(amount, stated) <= at_delta


@pytest.mark.parametrize("law", LAWS)
def test_a_converted_budget_is_a_short_rational(law):
    amount = cap_for(EpsilonDelta(Fraction(3), MILLIONTH), law)
    value = amount.value if law is Law.ZCDP else amount.squared
    assert value.denominator & (value.denominator - 1) == 0
    assert value.numerator.bit_length() <= 42


def test_known_values():
    # δ = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2) at μ = 1, ε = 1, and 2Φ(1/2) - 1 at ε = 0, to 12 digits.
    assert abs(delta(Mu(Fraction(1)), Fraction(1)) - Fraction("0.126936737507")) < Fraction(1, 10**12)
    assert abs(delta(Mu(Fraction(1)), Fraction(0)) - Fraction("0.382924922548")) < Fraction(1, 10**12)
    assert abs(epsilon(Mu(Fraction(1)), Fraction("0.126936737507")) - 1) < Fraction(1, 10**11)


@pytest.mark.parametrize("amount", [Rho(Fraction(1, 10**15)), Mu(Fraction(1, 10**15)), Rho(Fraction(1, 10**90))])
def test_f3_very_large_noise_gives_exactly_0_and_never_less(amount):
    assert epsilon(amount, Fraction(1, 10)) == 0


@pytest.mark.parametrize("squared", [Fraction(1, 10**9), Fraction(1, 100), Fraction(1), Fraction(9)])
def test_f3_epsilon_is_0_exactly_where_the_curve_starts_at_or_below_delta(squared):
    start = delta(Mu(squared), Fraction(0))
    assert epsilon(Mu(squared), start) == 0
    assert epsilon(Mu(squared), start + Fraction(1, 10**30)) == 0
    assert 0 < epsilon(Mu(squared), start * (1 - Fraction(1, 10**15))) < Fraction(1, 10**5)


@pytest.mark.parametrize("value", [Fraction(1, 10**9), Fraction(1, 100), Fraction(1), Fraction(9)])
def test_f3_the_same_for_rho(value):
    start = delta(Rho(value), Fraction(0))
    assert epsilon(Rho(value), start) == 0
    assert 0 < epsilon(Rho(value), start * (1 - Fraction(1, 10**15))) < Fraction(1, 10**5)


def test_f8_a_spend_that_needs_more_is_never_0():
    # A δ below δ(0) by one part in 10^60, closer than the arithmetic's own allowance.
    with mpmath.workdps(120):
        start = 2 * mpmath.ncdf(mpmath.mpf(1) / 2) - 1
        below = Fraction(int(mpmath.floor(start * mpmath.mpf(10) ** 60)), 10**60) - Fraction(1, 10**60)
    assert 0 < epsilon(Mu(Fraction(1)), below) < Fraction(1, 10**30)
    for tiny in (Rho(Fraction(1, 10**40)), Mu(Fraction(1, 10**40))):
        assert epsilon(tiny, Fraction(1, 10**25)) > 0
        assert delta(tiny, Fraction(0)) > 0


@pytest.mark.parametrize("law", LAWS)
def test_f7_deltas_of_1e_18_and_1e_100_are_exact_tails(law):
    for at_delta in (Fraction(1, 10**18), Fraction(1, 10**100)):
        amount = cap_for(EpsilonDelta(Fraction(1), at_delta), law)
        second = second_opinion.delta(amount, Fraction(1))
        assert abs(second - at_delta) < at_delta / 10**9


@pytest.mark.parametrize("law", LAWS)
def test_f17_the_cases_that_break_fixed_brackets(law):
    for stated, at_delta in [
        (Fraction(3, 100), Fraction(1, 10**5)),
        (Fraction(100), Fraction(1, 10**5)),
        (Fraction(1), Fraction(100, 402)),
        (Fraction(1), Fraction(1, 1250)),
        (Fraction(1000), 1 - Fraction(1, 10**30)),
        (Fraction(1, 10**6), Fraction(1, 10**300)),
    ]:
        assert epsilon(cap_for(EpsilonDelta(stated, at_delta), law), at_delta) <= stated
    assert epsilon(Mu(Fraction(1, 10**4)), Fraction(1, 100)) == 0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("stated", [Fraction(1, 100), Fraction(1000)])
def test_f1_calibration_takes_a_few_dozen_evaluations(law, stated, monkeypatch):
    evaluations = []

    def counting(mp, curve, start):
        def counted(point):
            evaluations.append(point)
            return curve(point)

        return root(mp, counted, start)

    root = convert._root
    monkeypatch.setattr(convert, "_root", counting)
    for at_delta in (Fraction(1, 10**5), Fraction(1, 10**100), 1 - Fraction(1, 10**9)):
        evaluations.clear()
        cap_for(EpsilonDelta(stated, at_delta), law)
        assert 0 < len(evaluations) < 80


def test_p11_many_gaussian_answers_are_one_gaussian_and_no_central_limit_is_used():
    # 100 answers at μ = 1/10 are exactly one at μ = 1; the curve is the Gaussian's own, never below it.
    together = Mu(100 * Mu(Fraction(1, 100)).squared)
    assert together == Mu(Fraction(1))
    exact = second_opinion.epsilon(together, MILLIONTH)
    assert exact * (1 - Fraction(1, 10**14)) <= epsilon(together, MILLIONTH) <= exact * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize("law", LAWS)
def test_results_are_rounded_up(law):
    for at_delta in (MILLIONTH, Fraction(1, 10**18), Fraction(1, 3)):
        amount = Rho(Fraction(2, 7)) if law is Law.ZCDP else Mu(Fraction(22, 7))
        value = epsilon(amount, at_delta)
        with mpmath.workdps(70):
            assert _true_delta(amount, value) <= mpmath.mpf(at_delta.numerator) / at_delta.denominator
            assert _true_delta(amount, value * (1 - Fraction(1, 10**18))) * at_delta.denominator > at_delta.numerator


def _true_delta(amount, at_epsilon):
    at_epsilon = mpmath.mpf(at_epsilon.numerator) / at_epsilon.denominator
    if isinstance(amount, Rho):
        rho = mpmath.mpf(amount.value.numerator) / amount.value.denominator

        def slope(alpha):
            return (2 * alpha - 1) * rho - at_epsilon + mpmath.log(1 - 1 / alpha)

        low, high = mpmath.mpf(1) + mpmath.mpf(10) ** -40, mpmath.mpf(10) ** 40
        for _ in range(400):
            middle = 1 + mpmath.sqrt((low - 1) * (high - 1))
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        return mpmath.exp((low - 1) * (low * rho - at_epsilon)) / (low - 1) * (1 - 1 / low) ** low
    mu = mpmath.sqrt(mpmath.mpf(amount.squared.numerator) / amount.squared.denominator)
    first = mpmath.erfc((at_epsilon / mu - mu / 2) / mpmath.sqrt(2)) / 2
    return first - mpmath.exp(at_epsilon) * mpmath.erfc((at_epsilon / mu + mu / 2) / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("amount", [Rho(Fraction(1, 10)), Mu(Fraction(1, 10))])
def test_a_delta_below_the_limit_is_given_as_the_limit(amount):
    assert delta(amount, Fraction(1000)) == Fraction(1, 10**300)
    assert delta(Cap(amount, Fraction(1, 10**9)), Fraction(1000)) == Fraction(1, 10**9) + Fraction(1, 10**300)


def test_a_delta_is_at_most_1():
    assert delta(Rho(Fraction(10**50)), Fraction(1)) == 1
    assert delta(Mu(Fraction(10**50)), Fraction(1)) == 1
    assert delta(Cap(Rho(Fraction(9)), Fraction(999, 1000)), Fraction(0)) == 1
    assert delta(Cap(Rho(Fraction(1, 10**50)), 1 - Fraction(1, 10**400)), Fraction(1000)) == 1


@pytest.mark.parametrize("law", LAWS)
def test_a_caps_own_delta_counts(law):
    amount = Rho(Fraction(1, 8)) if law is Law.ZCDP else Mu(Fraction(1, 4))
    plain, charged = Cap(amount), Cap(amount, Fraction(1, 10**7))
    assert epsilon(plain, MILLIONTH) == epsilon(amount, MILLIONTH)
    assert epsilon(charged, MILLIONTH) == epsilon(amount, MILLIONTH - Fraction(1, 10**7))
    assert epsilon(charged, MILLIONTH) > epsilon(plain, MILLIONTH)
    assert delta(charged, Fraction(1)) == delta(amount, Fraction(1)) + Fraction(1, 10**7)
    with pytest.raises(ConfigError, match="beyond a cap's own delta"):
        epsilon(charged, Fraction(1, 10**7))


@pytest.mark.parametrize("value", [0, -1, True, 0.1, None, float("nan"), float("inf"), 1, 2, Fraction(1, 10**301)])
def test_p06_f17_delta_is_exact_and_in_range(value):
    for amount in (Rho(Fraction(1)), Mu(Fraction(1))):
        with pytest.raises(ConfigError, match="delta"):
            epsilon(amount, value)
    with pytest.raises(ConfigError, match="delta"):
        alpha_used(Rho(Fraction(1)), value)


@pytest.mark.parametrize("law", LAWS)
def test_a_statements_delta_is_in_range(law):
    for value in (Fraction(1, 10**301), 1 - Fraction(1, 10**31)):
        with pytest.raises(ConfigError, match="delta"):
            cap_for(EpsilonDelta(Fraction(1), value), law)


@pytest.mark.parametrize("value", [-1, True, 0.1, None, float("nan"), Fraction(1, 10**7), 1001, "1e300"])
def test_f12_epsilon_is_exact_and_in_range(value):
    for amount in (Rho(Fraction(1)), Mu(Fraction(1))):
        with pytest.raises(ConfigError, match="epsilon"):
            delta(amount, value)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("value", [Fraction(1, 10**7), Fraction(1001)])
def test_a_statements_epsilon_is_in_range(law, value):
    with pytest.raises(ConfigError, match="from 1e-6 to 1000"):
        cap_for(EpsilonDelta(value, MILLIONTH), law)


@pytest.mark.parametrize("amount", [Rho(Fraction(1, 10**101)), Mu(Fraction(10**101))])
def test_amounts_are_in_range(amount):
    for ask in (lambda: epsilon(amount, MILLIONTH), lambda: delta(amount, Fraction(1))):
        with pytest.raises(ConfigError, match="1e-100 to 1e100"):
            ask()


@pytest.mark.parametrize("budget", [1, 0.5, Fraction(1), None, EpsilonDelta(Fraction(1), MILLIONTH), Law.GDP])
def test_p01_only_budgets_are_converted(budget):
    for ask in (lambda: epsilon(budget, MILLIONTH), lambda: delta(budget, Fraction(1))):
        with pytest.raises(ConfigError, match="a Rho, a Mu or a Cap"):
            ask()


@pytest.mark.parametrize("law", LAWS)
def test_f4_a_budget_that_did_not_keep_its_statement_is_never_returned(law, monkeypatch):
    monkeypatch.setattr(convert, "short_below", lambda value: value * 2)
    with pytest.raises(DpReleaseError, match="did not keep its statement") as caught:
        cap_for(EpsilonDelta(Fraction(1), MILLIONTH), law)
    assert caught.value.exit_code == 70


def test_groups_and_replacement():
    assert for_group(Rho(Fraction(1, 8)), 3) == Rho(Fraction(9, 8))
    assert for_group(Mu(Fraction(1, 4)), 3) == Mu(Fraction(9, 4))
    assert for_replacement(Rho(Fraction(1, 8))) == Rho(Fraction(1, 2))
    assert for_replacement(Mu(Fraction(1, 4))) == Mu(Fraction(1))
    assert for_group(Rho(Fraction(1, 8)), 1) == Rho(Fraction(1, 8))


@pytest.mark.parametrize("units", [0, -1, True, 1.0, "2", None])
def test_a_group_is_a_whole_number_of_units(units):
    with pytest.raises(ConfigError, match="whole number"):
        for_group(Rho(Fraction(1)), units)


def test_conversions_leave_the_callers_precision_alone():
    with mpmath.workdps(17):
        before = mpmath.mp.prec
        epsilon(Mu(Fraction(1)), MILLIONTH)
        second_opinion.epsilon(Mu(Fraction(1)), MILLIONTH)
        assert mpmath.mp.prec == before


def test_guarded_newton_falls_back_to_bisection():
    mp = convert._context()

    def step_then_line(point):
        # A cliff whose slope misleads Newton on both sides.
        value = mp.atan((point - 5) * 1000)
        return value, 1000 / (1 + ((point - 5) * 1000) ** 2)

    assert abs(convert._root(mp, step_then_line, mp.mpf(1)) - 5) < mp.mpf(10) ** -45
    assert abs(convert._root(mp, step_then_line, mp.mpf(10) ** 30) - 5) < mp.mpf(10) ** -45
