"""What a calibrated mechanism claims, in forms that error rates can falsify: μ, and total variation from ρ."""

import math
from dataclasses import dataclass
from fractions import Fraction

from accounting.budget import Cap, Law, Rho
from accounting.convert import delta
from audits.statistics import error_rate_at
from audits.transcript.likelihood import SELECTION_MU_SQUARED
from mechanisms.base import Plan

_MU_SQUARED_PER_RHO = {"select": 8 * SELECTION_MU_SQUARED}
_GAUSSIAN_MU_SQUARED_PER_RHO = Fraction(2)


@dataclass(frozen=True, slots=True)
class Claim:
    """One falsifiable statement about every pair of neighbours.

    Args:
        name: ``mu`` or ``rho``.
        text: the claim in words.
        value: μ for ``mu``; the largest total variation that ρ permits for ``rho``.
        least_error_rate: the least average error rate (α + β)/2 that the claim permits.
    """

    name: str
    text: str
    value: float
    least_error_rate: float


def claims_of(plan: Plan, cap: Cap) -> tuple[Claim, ...]:
    """Return what holds for every run of a plan under a cap: μ always, and under zcdp ρ besides.

    √(2ρ) is no claim where a selection occurs: a correct selection may exceed it.
    """
    mu = mu_claim(plan, cap)
    text = f"every run is {mu:.6g}-GDP: {'the cap' if cap.law is Law.GDP else 'the most that the plan permits'}"
    claims = [Claim("mu", text, mu, error_rate_at(mu))]
    if cap.law is Law.ZCDP:
        variation = variation_claim(cap.value)
        rho_text = (
            f"every run is {float(cap.value):.6g}-zCDP: true positive rate − false positive rate ≤ {variation:.6g}"
        )
        claims.append(Claim("rho", rho_text, variation, (1 - variation) / 2))
    return tuple(claims)


def mu_claim(plan: Plan, cap: Cap) -> float:
    """Return √Σμ² of the dearest questions that a plan permits, each at its own μ price; under gdp the cap's μ."""
    if cap.law is Law.GDP:
        return _sqrt_above(cap.value)
    left, mu_squared = plan.total, Fraction(0)
    rated = [
        (_MU_SQUARED_PER_RHO.get(line.question, _GAUSSIAN_MU_SQUARED_PER_RHO), line.ceiling) for line in plan.lines
    ]
    for rate, ceiling in sorted(rated, reverse=True):
        taken = min(ceiling, left)
        mu_squared += rate * taken
        left -= taken
    return _sqrt_above(mu_squared)


def variation_claim(rho: Fraction) -> float:
    """Return the total variation that ρ-zCDP permits: the least of three bounds that each hold.

    Source:
        δ at ε = 0 of Canonne, Kamath and Steinke 2020, proposition 12; Pinsker and Bretagnolle–Huber from KL ≤ ρ.
    """
    number = float(rho)
    return min(float(delta(Rho(rho), Fraction(0))), math.sqrt(number / 2), math.sqrt(-math.expm1(-number)), 1.0)


def _sqrt_above(square: Fraction) -> float:
    return math.nextafter(math.sqrt(math.nextafter(float(square), math.inf)), math.inf)
