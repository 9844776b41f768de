"""Slow twins of the samplers: the textbook definition in mpmath at 300 bits, given the same uniform number."""

from fractions import Fraction

import mpmath
from scipy.special import ndtri_exp

PRECISION = 300


def tail_boundary(variance: Fraction, magnitude: int, precision: int = PRECISION) -> Fraction:
    """Return P(|N(0, variance)| ≥ magnitude - ½) to the given relative precision in bits."""
    with mpmath.workprec(precision + 64):
        root = (2 * magnitude - 1) / mpmath.sqrt(8 * _number(variance))
        return exact(mpmath.erfc(root))


def magnitude_of(tail: Fraction, variance: Fraction) -> int:
    """Return the integer nearest to y where P(|N(0, variance)| > y) = tail."""
    with mpmath.workprec(PRECISION):
        depth = -mpmath.log(_number(tail))
        point = mpmath.mpf(-ndtri_exp(float(-depth - mpmath.log(2))))
        for _ in range(10):
            beyond = mpmath.erfc(point / mpmath.sqrt(2))
            slope = mpmath.sqrt(2 / mpmath.pi) * mpmath.exp(-point * point / 2) / beyond
            step = (-mpmath.log(beyond) - depth) / slope
            point -= step
            if abs(step) < mpmath.mpf(2) ** (30 - PRECISION):
                return int(mpmath.nint(point * mpmath.sqrt(_number(variance))))
        raise AssertionError("Newton's method did not converge")


def softmax(scores: list[int], scale: Fraction, bits: int = PRECISION) -> list[Fraction]:
    """Return exp(scale·score)/Σ, cut to this many bits after the point."""
    with mpmath.workprec(bits + 64):
        weights = [mpmath.exp(_number(scale * (score - max(scores)))) for score in scores]
        total = mpmath.fsum(weights)
        return [Fraction(int(mpmath.floor(mpmath.ldexp(weight / total, bits))), 2**bits) for weight in weights]


def exact(number: mpmath.mpf) -> Fraction:
    """Return the rational that a binary floating-point number is."""
    sign, mantissa, exponent, _ = number._mpf_
    return Fraction(int(mantissa)) * Fraction(2) ** exponent * (-1 if sign else 1)


def _number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator
