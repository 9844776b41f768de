"""What the best attacker gains at most under a cap: a bound on every test of whether one unit is in the table.

zCDP: for every ε the release is (ε, δ(ε))-DP, so at a false-positive rate f the true-positive rate is at most both
e^ε f + δ and 1 - e^-ε (1 - δ - f); the smallest over a grid of ε is a bound, whatever the grid.
GDP: the trade-off curve is exact, Φ(Φ⁻¹(f) + μ).

Source: Kairouz, Oh and Viswanath 2015 (arXiv:1311.0776); Bun and Steinke 2016 (arXiv:1605.02065); Dong, Roth and Su
2022 (arXiv:1905.02383).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Literal

from accounting.budget import Cap, Rho
from release.report.model import Attack, Belief

FALSE_POSITIVES = 0.01
SOURCE = "the caps, by the hypothesis-testing reading (arXiv:1311.0776, arXiv:1605.02065, arXiv:1905.02383); rounded up"
PRIORS = (0.01, 0.1, 0.5)
_CURVE = tuple(round(place * place, 6) for place in [number / 24 for number in range(25)])
_GRID = 24
_SMALLEST_DELTA = Fraction(1, 10**4)
_LARGEST_EPSILON = Fraction(700)
_DIGITS = 4
_FLOAT_ERROR = 1e-9


def attack(scope: Literal["release", "dataset"], cap: Cap) -> Attack:
    """Bound what the best attacker gains under a cap.

    Returns:
        Rates and probabilities, rounded up to four digits.
    """
    power, advantage = _zcdp(cap) if isinstance(cap.amount, Rho) else _gdp(cap)
    best = _above(power(FALSE_POSITIVES))
    return Attack(
        scope=scope,
        advantage=_above(advantage),
        power=best,
        beliefs=tuple(
            Belief(before=prior, after=_above(prior * best / (prior * best + (1 - prior) * FALSE_POSITIVES)))
            for prior in PRIORS
        ),
        curve=tuple((rate, _above(power(rate))) for rate in _CURVE),
    )


def _zcdp(cap: Cap) -> tuple[Callable[[float], float], float]:
    from accounting import convert

    rho, base = float(cap.value), float(cap.delta)
    largest = min(max(convert.epsilon(cap, cap.delta + _SMALLEST_DELTA), convert.MIN_EPSILON), _LARGEST_EPSILON)
    # Powers of two as denominators keep ε short, and 0 is left out: the bound there follows from the divergence.
    steps = [Fraction(math.ceil(largest * number / _GRID * 2**20), 2**20) for number in range(1, _GRID + 1)]
    steps = [min(max(step, convert.MIN_EPSILON), _LARGEST_EPSILON) for step in steps]
    points = [(float(step), float(convert.delta(cap, step))) for step in steps]
    # The total variation follows from the divergence ρ: Pinsker, and Bretagnolle and Huber.
    total = min(math.sqrt(rho / 2), math.sqrt(-math.expm1(-rho))) + base
    total = min([1.0, total, *((math.expm1(eps) + 2 * delta) / (math.exp(eps) + 1) for eps, delta in points)])

    def power(rate: float) -> float:
        bounds = [1.0, rate + total]
        for eps, delta in points:
            bounds += [math.exp(eps) * rate + delta, 1 - math.exp(-eps) * (1 - delta - rate)]
        return min(bounds)

    return power, total


def _gdp(cap: Cap) -> tuple[Callable[[float], float], float]:
    normal, mu, base = NormalDist(), math.sqrt(cap.value), float(cap.delta)

    def power(rate: float) -> float:
        exact = normal.cdf(normal.inv_cdf(rate) + mu) if 0 < rate < 1 else rate
        return min(1.0, exact + base)

    return power, min(1.0, 2 * normal.cdf(mu / 2) - 1 + base)


def _above(value: float) -> float:
    """Round a probability up, with an allowance for the error of float arithmetic."""
    steps: int = 10**_DIGITS
    return min(1.0, math.ceil((value + _FLOAT_ERROR) * steps) / steps)
