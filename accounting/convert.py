"""Convert a ρ or a μ into (ε, δ) and back: at the edges only, never inside the ledger's sums.

Every result is an exact rational on the safe side: ε and δ are rounded up, a budget is rounded down and evaluated
again. The arithmetic is mpmath's, with at least 50 digits beyond what the inputs' magnitudes consume.

zCDP: with β = α - 1, the bound of Canonne, Kamath and Steinke at order α is ln δ = β(αρ - ε) + β ln β - α ln α. It is
strictly convex in α, so its minimum is where the derivative vanishes: (2β + 1)ρ = ε + ln(1 + 1/β), and there
ln δ = -β²ρ - ln(1 + β). Both sides are monotone in β, so every conversion is one root of one increasing function. The
value reported is the bound at the order found, which holds for every order.

GDP: with x = ε/μ - μ/2, δ = Φ(-x) - e^ε Φ(-x - μ), exactly; it falls in ε and grows in μ.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from accounting.budget import Amount, Cap, EpsilonDelta, Law, Mu, Rho
from accounting.errors import ConfigError, DpReleaseError
from accounting.exact import non_negative, positive, short_below

Real: TypeAlias = Any
"""A real of mpmath, which ships no types."""

Curve: TypeAlias = Callable[[Real], tuple[Real, Real]]
"""An increasing function of one positive number with its derivative."""

MIN_EPSILON, MAX_EPSILON = Fraction(1, 10**6), Fraction(1000)
MIN_DELTA, MAX_DELTA = Fraction(1, 10**300), 1 - Fraction(1, 10**30)
MIN_AMOUNT, MAX_AMOUNT = Fraction(1, 10**100), Fraction(10**100)

DIGITS = 60
"""Significant decimal digits of every calculation, beyond those that cancel."""

RESULT_DIGITS = 20
"""Significant decimal digits of a returned ε, δ or α."""

ROOT_TOLERANCE = Fraction(1, 10**50)
"""Relative error at which a root is taken."""

SLACK = Fraction(1, 10**45)
"""Relative allowance for the arithmetic's own error, always taken on the safe side."""

BUDGET_SLACK = Fraction(1, 10**17)
"""Relative allowance by which a converted budget stays below the largest, so that its ε, rounded up, is still kept."""


def epsilon(budget: Amount | Cap, delta: Fraction) -> Fraction:
    """Return the ε at which a budget is (ε, δ)-DP: the smallest that the law's curve gives, rounded up.

    Args:
        budget: ρ, μ, or a cap; a cap's own δ is taken off ``delta`` first.
        delta: from 1e-300 to 1 - 1e-30.

    Returns:
        A decimal of ``RESULT_DIGITS`` digits; 0 when the curve at ε = 0 does not exceed δ, and only then.

    Raises:
        ConfigError: δ outside its range, or not above the cap's own δ; an amount outside [1e-100, 1e100].

    Source:
        zCDP: Canonne, Kamath and Steinke 2020, proposition 12 (arXiv:2004.00010).
        GDP: Balle and Wang 2018, theorem 8; Dong, Roth and Su 2022, corollary 1 (arXiv:1905.02383).
    """
    amount, base = _parts(budget)
    delta = _probability(positive(delta, "delta") - base)
    mp = _context(_value(amount), 1 - delta)
    if isinstance(amount, Rho):
        bound = _zcdp_epsilon(mp, _real(mp, amount.value), _zcdp_beta(mp, amount, delta), _log_inverse(mp, delta))
    else:
        bound = _gdp_epsilon(mp, mp.sqrt(_real(mp, amount.squared)), _real(mp, delta))
    return _rounded_up(bound) if bound > 0 else Fraction(0)


def delta(budget: Amount | Cap, epsilon: Fraction) -> Fraction:
    """Return the δ at which a budget is (ε, δ)-DP: the smallest that the law's curve gives, rounded up.

    Args:
        budget: ρ, μ, or a cap; a cap's own δ is added.
        epsilon: 0, or from 1e-6 to 1000.

    Returns:
        A decimal of ``RESULT_DIGITS`` digits (a cap's δ may lengthen it), at most 1; below 1e-300 it is given so.

    Raises:
        ConfigError: ε outside its range; an amount outside [1e-100, 1e100].

    Source:
        As for :func:`epsilon`.
    """
    amount, base = _parts(budget)
    epsilon = non_negative(epsilon, "epsilon")
    if epsilon:
        _check_epsilon(epsilon)
    mp = _context(_value(amount), epsilon or Fraction(1))
    real_epsilon = _real(mp, epsilon)
    if isinstance(amount, Rho):
        logarithm = _zcdp_log_delta(mp, _real(mp, amount.value), real_epsilon)
    else:
        logarithm = mp.log(_gdp_delta(mp, mp.sqrt(_real(mp, amount.squared)), real_epsilon)[0])
    if logarithm <= mp.log(_real(mp, MIN_DELTA)):
        return min(Fraction(1), MIN_DELTA + base)
    return min(Fraction(1), _rounded_up(mp.exp(logarithm)) + base)


def cap_for(statement: EpsilonDelta, law: Law) -> Rho | Mu:
    """Return the largest ρ or μ that keeps a statement: a short rational, rounded down and evaluated again.

    Args:
        statement: ε from 1e-6 to 1000, δ from 1e-300 to 1 - 1e-30.
        law: zcdp gives a ``Rho``, gdp a ``Mu``.

    Returns:
        An amount within a factor 1 - 2^-39 of the largest, whose ``epsilon`` at δ does not exceed the stated one.

    Raises:
        ConfigError: ε or δ outside its range.
    """
    _check_epsilon(statement.epsilon)
    target = _probability(statement.delta)
    mp = _context(statement.epsilon, 1 - target)
    if law is Law.ZCDP:
        largest = _zcdp_largest(mp, _real(mp, statement.epsilon), _log_inverse(mp, target))
        result: Rho | Mu = Rho(short_below(_exact(largest) * (1 - BUDGET_SLACK)))
    else:
        largest = _gdp_largest(mp, _real(mp, statement.epsilon), target) ** 2
        result = Mu(short_below(_exact(largest) * (1 - BUDGET_SLACK)))
    if epsilon(result, target) > statement.epsilon:
        raise DpReleaseError("a converted budget did not keep its statement; this is a fault of the program")
    return result


def alpha_used(rho: Rho, delta: Fraction) -> Fraction:
    """Return the order α > 1 at which :func:`epsilon` evaluates a ρ, to ``RESULT_DIGITS`` digits."""
    delta = _probability(positive(delta, "delta"))
    beta = _zcdp_beta(_context(_value(rho), 1 - delta), rho, delta)
    return _rounded_up(1 + beta)


def for_group(amount: Amount, units: int) -> Rho | Mu:
    """Return the budget that holds for adding or removing ``units`` units at once: m²ρ, or mμ.

    Source:
        Bun and Steinke 2016, proposition 1.9 (arXiv:1605.02065); Dong, Roth and Su 2022, theorem 2.
    """
    if isinstance(units, bool) or not isinstance(units, int) or units < 1:
        raise ConfigError("a group has a whole number of units, at least 1")
    square = units * units
    return Rho(amount.value * square) if isinstance(amount, Rho) else Mu(amount.squared * square)


def for_replacement(amount: Amount) -> Rho | Mu:
    """Return the budget that holds for replacing one unit by another, a removal and an addition: 4ρ, or 2μ."""
    return for_group(amount, 2)


def _parts(budget: Amount | Cap) -> tuple[Amount, Fraction]:
    return (budget.amount, budget.delta) if isinstance(budget, Cap) else (budget, Fraction(0))


def _value(amount: Amount) -> Fraction:
    if not isinstance(amount, (Rho, Mu)):
        raise ConfigError("a budget to convert is a Rho, a Mu or a Cap")
    value = amount.value if isinstance(amount, Rho) else amount.squared
    if not MIN_AMOUNT <= value <= MAX_AMOUNT:
        raise ConfigError("conversions cover ρ and μ² from 1e-100 to 1e100")
    return value


def _probability(delta: Fraction) -> Fraction:
    if not MIN_DELTA <= delta <= MAX_DELTA:
        raise ConfigError("conversions cover delta from 1e-300 to 1 - 1e-30, beyond a cap's own delta")
    return delta


def _check_epsilon(epsilon: Fraction) -> None:
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise ConfigError("conversions cover epsilon from 1e-6 to 1000")


def _context(*inputs: Fraction) -> Real:
    """Return an arithmetic of its own, so that no caller's precision is touched.

    What cancels in the formulas is bounded by the squares of the inputs' magnitudes; so are the digits added.
    """
    from mpmath.ctx_mp import MPContext

    mp = MPContext()
    bits = sum(abs(value.numerator.bit_length() - value.denominator.bit_length()) for value in inputs)
    mp.dps = DIGITS + math.ceil(bits * 2 * math.log10(2))
    return mp


def _real(mp: Real, value: Fraction) -> Real:
    return mp.mpf(value.numerator) / value.denominator


def _exact(value: Real) -> Fraction:
    """Return a positive real of mpmath, which is an integer times a power of two, as that rational."""
    mantissa, exponent = value.man_exp
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _rounded_up(value: Real) -> Fraction:
    """Round a positive real up to ``RESULT_DIGITS`` digits, after adding the arithmetic's allowance."""
    exact = _exact(value) * (1 + SLACK)
    scale = Fraction(10) ** (
        RESULT_DIGITS - 1 - math.floor(math.log10(exact.numerator) - math.log10(exact.denominator))
    )
    return Fraction(math.ceil(exact * scale)) / scale


def _log_inverse(mp: Real, delta: Fraction) -> Real:
    """Return ln(1/δ) > 0, without loss where δ is close to 1."""
    return -mp.log(_real(mp, delta)) if 2 * delta < 1 else -mp.log1p(_real(mp, delta - 1))


def _zcdp_beta(mp: Real, amount: Rho, delta: Fraction) -> Real:
    """Return the β at which β²ρ + ln(1 + β) = ln(1/δ)."""
    rho, target = _real(mp, amount.value), _log_inverse(mp, delta)

    def excess(beta: Real) -> tuple[Real, Real]:
        return beta * beta * rho + mp.log1p(beta) - target, 2 * beta * rho + 1 / (1 + beta)

    return _root(mp, excess, min(mp.sqrt(target / rho), mp.expm1(target)))


def _zcdp_epsilon(mp: Real, rho: Real, beta: Real, log_inverse_delta: Real) -> Real:
    """Return the bound on ε at order 1 + β, plus an allowance for what cancels in it."""
    terms = (
        (1 + beta) * rho,
        -mp.log1p(1 / beta),
        (log_inverse_delta - mp.log1p(beta)) / beta,
    )
    return mp.fsum(terms) + mp.fsum(terms, absolute=True) * _real(mp, SLACK)


def _zcdp_log_delta(mp: Real, rho: Real, epsilon: Real) -> Real:
    """Return the bound on ln δ at the order 1 + β where (2β + 1)ρ - ln(1 + 1/β) = ε."""

    def excess(beta: Real) -> tuple[Real, Real]:
        return (2 * beta + 1) * rho - mp.log1p(1 / beta) - epsilon, 2 * rho + 1 / (beta * (1 + beta))

    beta = _root(mp, excess, mp.mpf(1))
    return beta * ((1 + beta) * rho - epsilon) - beta * mp.log1p(1 / beta) - mp.log1p(beta)


def _zcdp_largest(mp: Real, epsilon: Real, log_inverse_delta: Real) -> Real:
    """Return the ρ whose curve passes through (ε, δ): both equations of the minimum, with ρ eliminated."""

    def rho_at(beta: Real) -> Real:
        return (epsilon + mp.log1p(1 / beta)) / (2 * beta + 1)

    def excess(beta: Real) -> tuple[Real, Real]:
        rho = rho_at(beta)
        slope = -(1 / (beta * (1 + beta)) + 2 * rho) / (2 * beta + 1)
        value = beta * beta * rho + mp.log1p(beta) - log_inverse_delta
        return value, 2 * beta * rho + beta * beta * slope + 1 / (1 + beta)

    return rho_at(_root(mp, excess, mp.expm1(log_inverse_delta)))


def _gdp_delta(mp: Real, mu: Real, epsilon: Real) -> tuple[Real, Real, Real]:
    """Return δ of the Gaussian curve, -dδ/dε and dδ/dμ."""
    x = epsilon / mu - mu / 2
    upper = mp.exp(epsilon) * mp.ncdf(-x - mu)
    return mp.ncdf(-x) - upper, upper, mp.npdf(x)


def _gdp_epsilon(mp: Real, mu: Real, delta: Real) -> Real:
    """Return the ε at which the Gaussian curve falls to δ, or 0 where it starts at or below δ."""
    if _gdp_delta(mp, mu, mp.mpf(0))[0] * (1 + _real(mp, SLACK)) <= delta:
        return mp.mpf(0)
    # The tail bound δ(ε) ≤ exp(-x²/2) at x = ε/μ - μ/2 gives an ε that is large enough.
    largest = mu * mu / 2 + mu * mp.sqrt(-2 * mp.log(delta))

    def deficit(epsilon: Real) -> tuple[Real, Real]:
        value, fall, _ = _gdp_delta(mp, mu, epsilon)
        return mp.log(delta / value), fall / value

    smallest = largest * _real(mp, SLACK)
    return smallest if deficit(smallest)[0] >= 0 else smallest + _root(mp, deficit, largest)


def _gdp_largest(mp: Real, epsilon: Real, delta: Fraction) -> Real:
    """Return the μ whose Gaussian curve passes through (ε, δ)."""
    target = _real(mp, delta)

    def excess(mu: Real) -> tuple[Real, Real]:
        value, _, growth = _gdp_delta(mp, mu, epsilon)
        return mp.log(value / target), growth / value

    tail = mp.sqrt(2 * _log_inverse(mp, delta))
    return _root(mp, excess, 2 * epsilon / (tail + mp.sqrt(tail * tail + 2 * epsilon)))


def _root(mp: Real, curve: Curve, start: Real) -> Real:
    """Return the positive zero of an increasing function: a bracket that grows until it holds, then guarded Newton."""
    low = high = start
    factor = mp.mpf(2)
    while curve(high)[0] < 0:
        low, high, factor = high, high * factor, factor * factor
    factor = mp.mpf(2)
    while curve(low)[0] > 0:
        low, high, factor = low / factor, low, factor * factor
    point, before = high, high - low
    while True:
        value, slope = curve(point)
        low, high = (point, high) if value < 0 else (low, point)
        step = value / slope
        if min(abs(step), high - low) <= point * _real(mp, ROOT_TOLERANCE):
            return point
        if low < point - step < high and abs(step) < before / 2:
            point, before = point - step, abs(step)
        else:
            point, before = mp.sqrt(low * high), high - low
