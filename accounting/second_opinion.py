"""Convert a ρ or a μ into (ε, δ) a second time, by other formulas than :mod:`accounting.convert`, to check it.

zCDP: the published bound is minimised over α directly, by golden section, without its derivative.
GDP: the hockey-stick divergence of N(μ, 1) from N(0, 1) is integrated from its definition, without the normal
distribution function.

Both work at 50 digits or more; the integral is good to about 15. Nothing here is rounded to a side: compare with
:func:`agree`.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from accounting.budget import Amount, Rho
from accounting.errors import ConfigError

Real: TypeAlias = Any
"""A real of mpmath, which ships no types."""

RELATIVE, ABSOLUTE = Fraction(1, 10**9), Fraction(1, 10**12)
"""How far two conversions may lie apart: relative, with an absolute floor."""

_DIGITS = 50
_SMALLEST, _LARGEST = Fraction(1, 10**300), 1 - Fraction(1, 10**30)
_STEPS_PER_UNIT = 10
_REACH = 4
_FLOAT_MU, _FLOAT_DELTA = (1e-5, 1e3), (1e-200, 0.999)
"""Where float64 finds ε well enough to begin with: no underflow, no cancellation to nothing."""


def epsilon(amount: Amount, delta: Fraction) -> Fraction:
    """Return the ε of a budget at δ by the second formula, to about 15 digits; 0 where the curve starts at or below δ.

    Args:
        amount: ρ or μ, as in ``accounting.convert.epsilon``.
        delta: from 1e-300 to 1 - 1e-30.
    """
    if not _SMALLEST <= delta <= _LARGEST:
        raise ConfigError("the second formula covers delta from 1e-300 to 1 - 1e-30")
    mp = _context(_amount(amount), 1 - delta)
    if isinstance(amount, Rho):
        return _zcdp_epsilon(mp, _real(mp, amount.value), _real(mp, delta))
    return _gdp_epsilon(mp, mp.sqrt(_real(mp, amount.squared)), _real(mp, delta))


def delta(amount: Amount, epsilon: Fraction) -> Fraction:
    """Return the δ of a budget at ε ≥ 0 by the second formula, to about 15 digits; below 1e-300 it is given so."""
    mp = _context(_amount(amount), max(epsilon, Fraction(1)))
    real_epsilon = _real(mp, epsilon)
    if isinstance(amount, Rho):
        rho = _real(mp, amount.value)
        logarithm = _minimum(mp, lambda beta: _zcdp_log_delta(mp, beta, rho, real_epsilon))
        value = mp.exp(logarithm)
    else:
        value = _gdp_delta(mp, mp.sqrt(_real(mp, amount.squared)), real_epsilon)[0]
    return max(_SMALLEST, min(Fraction(1), _exact(value)))


def agree(first: Fraction, second: Fraction) -> bool:
    """Say whether two conversions of the same budget are equal up to ``RELATIVE``, or up to ``ABSOLUTE``."""
    return abs(first - second) <= max(RELATIVE * abs(second), ABSOLUTE)


def _amount(amount: Amount) -> Fraction:
    return amount.value if isinstance(amount, Rho) else amount.squared


def _context(*inputs: Fraction) -> Real:
    from mpmath.ctx_mp import MPContext

    mp = MPContext()
    mp.dps = _DIGITS + sum(abs(value.numerator.bit_length() - value.denominator.bit_length()) for value in inputs)
    return mp


def _real(mp: Real, value: Fraction) -> Real:
    return mp.mpf(value.numerator) / value.denominator


def _exact(value: Real) -> Fraction:
    mantissa, exponent = value.man_exp
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent) if exponent > -(10**5) else Fraction(0)


def _zcdp_epsilon(mp: Real, rho: Real, delta: Real) -> Fraction:
    """Return min over α of αρ + ln(1/(αδ))/(α - 1) + ln(1 - 1/α), or 0, with β = α - 1."""

    def bound(beta: Real) -> Real:
        return (1 + beta) * rho - mp.log((1 + beta) * delta) / beta + mp.log(beta / (1 + beta))

    smallest = _minimum(mp, bound)
    return _exact(smallest) if smallest > 0 else Fraction(0)


def _zcdp_log_delta(mp: Real, beta: Real, rho: Real, epsilon: Real) -> Real:
    """Return the logarithm of exp((α - 1)(αρ - ε)) / (α - 1) · (1 - 1/α)^α, with β = α - 1."""
    return beta * ((1 + beta) * rho - epsilon) - mp.log(beta) + (1 + beta) * mp.log(beta / (1 + beta))


def _minimum(mp: Real, bound: Callable[[Real], Real]) -> Real:
    """Return the minimum over β > 0 of a function that falls and then rises, by golden section in ln β."""

    def at(place: Real) -> Real:
        return bound(mp.exp(place))

    left, width = mp.mpf(-1), mp.mpf(2)
    while at(left) < at(left + 1):
        left, width = left - width, 2 * width
    right, width = mp.mpf(1), mp.mpf(2)
    while at(right) < at(right - 1):
        right, width = right + width, 2 * width
    golden = (mp.sqrt(5) - 1) / 2
    first, second = right - golden * (right - left), left + golden * (right - left)
    at_first, at_second = at(first), at(second)
    while right - left > mp.mpf(10) ** (-_DIGITS // 4):
        if at_first <= at_second:
            right, second, at_second = second, first, at_first
            first = right - golden * (right - left)
            at_first = at(first)
        else:
            left, first, at_first = first, second, at_second
            second = left + golden * (right - left)
            at_second = at(second)
    return min(at_first, at_second)


def _gdp_delta(mp: Real, mu: Real, epsilon: Real) -> tuple[Real, Real]:
    """Return δ and -dδ/dε of one point of the Gaussian curve."""
    return _gdp_curve(mp, mu, abs(epsilon / mu - mu / 2))(epsilon)


def _gdp_curve(mp: Real, mu: Real, reach: Real) -> Callable[[Real], tuple[Real, Real]]:
    """Return the hockey-stick divergence as a function of ε, for |ε/μ - μ/2| up to about ``reach``.

    With x = ε/μ - μ/2 and φ the normal density, the definition δ = ∫ max(0, φ(t - μ) - e^ε φ(t)) dt becomes, from the
    point where the two densities cross, φ(x) ∫ exp(-s²/2 - xs) (1 - exp(-μs)) ds over s > 0. For x < -1 the complement
    1 - δ = φ(x) ∫ exp(-s²/2) (exp(xs) + exp(-(x + μ)s)) ds is taken, whose terms are positive too. With the
    substitution s = exp(u - exp(-u)) the integrand falls double-exponentially at both ends, so that the trapezoidal
    rule converges geometrically.
    """
    nodes = []
    for index in range(-_REACH * _STEPS_PER_UNIT, _REACH * _STEPS_PER_UNIT + 1):
        place = mp.mpf(index) / _STEPS_PER_UNIT
        inner = mp.exp(-place)
        s = mp.exp(place - inner) / (1 + reach)
        nodes.append((s, s * (1 + inner) / _STEPS_PER_UNIT * mp.exp(-s * s / 2)))

    def tail(x: Real) -> Real:
        return mp.fsum(weight * mp.exp(-x * s) for s, weight in nodes)

    def curve(epsilon: Real) -> tuple[Real, Real]:
        x = epsilon / mu - mu / 2
        density = mp.npdf(x)
        far = density * tail(x + mu)
        return (density * tail(x) - far if x >= -1 else 1 - density * tail(-x) - far), far

    return curve


def _gdp_epsilon(mp: Real, mu: Real, delta: Real) -> Fraction:
    """Return the ε at which the integral falls to δ, by Newton's method from above: in float64, then at full precision.

    ln δ is concave in ε, since the integrand is log-concave in (ε, s); so from above every step stays above the root,
    and from anywhere the second step is above it.
    """
    from mpmath import fp

    if _gdp_delta(mp, mu, mp.mpf(0))[0] <= delta:
        return Fraction(0)
    reach = mp.sqrt(-2 * mp.log(delta))
    epsilon = mu * (mu / 2 + reach)
    if _FLOAT_MU[0] < mu < _FLOAT_MU[1] and _FLOAT_DELTA[0] < delta < _FLOAT_DELTA[1]:
        rough = _gdp_curve(fp, fp.mpf(mu), fp.mpf(reach))
        epsilon = mp.mpf(_newton(fp, rough, fp.mpf(delta), fp.mpf(epsilon), fp.mpf(mu) * 1e-6))
    exact = _gdp_curve(mp, mu, reach)
    return _exact(_newton(mp, exact, delta, epsilon, mu * mp.mpf(10) ** (-_DIGITS // 2)))


def _newton(mp: Real, curve: Callable[[Real], tuple[Real, Real]], delta: Real, epsilon: Real, error: Real) -> Real:
    """Return the root once a step is at most ``error``; the step after it would be about its square."""
    while True:
        value, fall = curve(epsilon)
        step = mp.log(delta / value) * value / fall
        epsilon -= step
        if abs(step) <= error:
            return epsilon
