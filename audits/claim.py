"""Check a stated claim: sums of costs by two codes, and ε(δ) by 50-digit arithmetic and by dp-accounting."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from accounting.budget import Law, Mu, Rho
from accounting.convert import alpha_used
from audits.results import NotComputable

RELATIVE = 1e-9
FLOOR = 1e-12
ORACLE_FLOOR = 3e-11
"""How closely dp-accounting's Gaussian curve agrees, in ε: its own root finder stops there."""
_DIGITS = 50


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One recomputed figure.

    Args:
        what: what was recomputed, and how.
        stated: what the release states.
        recomputed: what comes out.
        holds: whether they agree.
    """

    what: str
    stated: str
    recomputed: str | NotComputable
    holds: bool


def check_sum(what: str, amounts: Sequence[Fraction], stated: Fraction) -> ClaimCheck:
    """Add amounts as rationals and again as integers over a common denominator; compare both with the statement."""
    rational = sum(amounts, Fraction(0))
    common = math.lcm(*(amount.denominator for amount in amounts)) if amounts else 1
    numerator = 0
    for amount in amounts:
        numerator += amount.numerator * (common // amount.denominator)
    equal = rational.numerator * common == numerator * rational.denominator
    return ClaimCheck(f"{what}, by two codes", str(stated), str(rational), equal and rational == stated)


def check_epsilon(law: Law, amount: Fraction, delta: Fraction, stated: Fraction) -> tuple[ClaimCheck, ...]:
    """Recompute a stated ε at δ by the closed form at 50 digits and by dp-accounting.

    Args:
        law: what ``amount`` is: ρ under zcdp, μ² under gdp.
        amount: exact.
        delta: exact, between 0 and 1.
        stated: the ε that is stated.
    """
    precise = _zcdp_epsilon(amount, delta) if law is Law.ZCDP else _gdp_epsilon(amount, delta)
    at = f"epsilon at delta {float(delta):g}"
    checks = [_compare(f"{at}, {_DIGITS} digits", stated, precise, FLOOR)]
    oracle = _rdp_oracle(amount, delta) if law is Law.ZCDP else _gaussian_oracle(amount, delta)
    name = f"{at}, dp-accounting"
    if isinstance(oracle, NotComputable):
        checks.append(ClaimCheck(name, str(float(stated)), oracle, holds=True))
    else:
        checks.append(_compare(name, stated, oracle, FLOOR if law is Law.ZCDP else ORACLE_FLOOR))
    return tuple(checks)


def _compare(what: str, stated: Fraction, recomputed: float, floor: float) -> ClaimCheck:
    holds = math.isclose(float(stated), recomputed, rel_tol=RELATIVE, abs_tol=floor)
    return ClaimCheck(what, repr(float(stated)), repr(recomputed), holds)


def _zcdp_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Minimise αρ + log(1/(αδ))/(α − 1) + log(1 − 1/α) over α > 1, by golden section in log(α − 1)."""
    import mpmath

    with mpmath.workdps(_DIGITS):
        cost, target = mpmath.mpf(rho.numerator) / rho.denominator, mpmath.mpf(delta.numerator) / delta.denominator

        def bound(position: mpmath.mpf) -> mpmath.mpf:
            beta = mpmath.exp(position)
            alpha = 1 + beta
            return alpha * cost - mpmath.log(alpha * target) / beta + mpmath.log(beta / alpha)

        low, high = mpmath.mpf(-60), mpmath.mpf(120)
        ratio = (mpmath.sqrt(5) - 1) / 2
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        at_left, at_right = bound(left), bound(right)
        for _ in range(140):
            if at_left < at_right:
                high, right, at_right = right, left, at_left
                left = high - ratio * (high - low)
                at_left = bound(left)
            else:
                low, left, at_left = left, right, at_right
                right = low + ratio * (high - low)
                at_right = bound(right)
        return max(0.0, float(min(at_left, at_right)))


def _gdp_epsilon(mu_squared: Fraction, delta: Fraction) -> float:
    """Solve δ = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) for ε by bisection."""
    import mpmath

    with mpmath.workdps(_DIGITS):
        mu = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator)
        target = mpmath.mpf(delta.numerator) / delta.denominator

        def curve(epsilon: mpmath.mpf) -> mpmath.mpf:
            return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)

        low, high = mpmath.mpf(0), mpmath.mpf(1)
        if curve(low) <= target:
            return 0.0
        while curve(high) > target:
            high *= 2
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if curve(middle) > target else (low, middle)
        return float(high)


def _rdp_oracle(rho: Fraction, delta: Fraction) -> float | NotComputable:
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    order = float(alpha_used(Rho(rho), delta))
    if order - 1 < 1e-6:
        return NotComputable("dp-accounting's accountant loses all digits at orders so close to 1")
    accountant = RdpAccountant(orders=[order])
    accountant.compose(dp_accounting.GaussianDpEvent(math.sqrt(1 / (2 * float(rho)))))
    return float(accountant.get_epsilon(float(delta)))


def _gaussian_oracle(mu_squared: Fraction, delta: Fraction) -> float:
    import dp_accounting

    return float(dp_accounting.get_epsilon_gaussian(1 / math.sqrt(float(Mu(mu_squared).squared)), float(delta)))
