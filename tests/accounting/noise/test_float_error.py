"""The error budget of the float path, entry by entry as stated in accounting/noise/gaussian.py and selection.py.

The approximation error is proven for every s of the range at once. Let X(w) = s·P(w)/Q(w) with s = w² - c, and
D(w) = erfc(X/√2)·e^s - 1, which is 0 where X is the exact quantile. D is analytic wherever Q has no zero. The range of
w is covered by discs; on a disc |D| is bounded by M through the triangle inequality, so that D differs from its
interpolation in n Chebyshev nodes of a shorter interval by at most 4·M·ρ^-n/(ρ - 1), and the interpolation is at most Λ
times its largest node (Λ ≤ (2/π)·log(n) + 1). All is computed at 60 digits.
"""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from accounting.noise import SeededEntropy, gaussian
from tests.accounting.noise import naive

U = 2.0**-53
SHIFT = mpf(gaussian._SHIFT)
LARGEST_DEPTH = 16 * mpmath.log(2)
NUMERATOR = [mpf(c) for c in gaussian._NUMERATOR]
DENOMINATOR = [mpf(c) for c in gaussian._DENOMINATOR]


def taylor(coefficients, centre):
    """Return the coefficients of the same polynomial in powers of (w - centre)."""
    shifted = list(coefficients)
    for start in range(len(shifted) - 1):
        for place in range(len(shifted) - 2, start - 1, -1):
            shifted[place] += centre * shifted[place + 1]
    return shifted


def times_depth(coefficients):
    """Return the coefficients of (w² - c)·polynomial."""
    product = [mpf(0)] * (len(coefficients) + 2)
    for power, coefficient in enumerate(coefficients):
        product[power] -= SHIFT * coefficient
        product[power + 2] += coefficient
    return product


def wobble(coefficients, radius):
    """Bound |p(w) - p(centre)| on the disc, from Taylor coefficients at its centre."""
    return sum(abs(c) * radius**power for power, c in enumerate(coefficients) if power)


def bound_on_disc(centre, radius):
    """Bound |D| on a disc around the centre, or fail if the disc is too large for the crude bounds."""
    top, bottom = taylor(times_depth(NUMERATOR), centre), taylor(DENOMINATOR, centre)
    smallest_bottom = abs(bottom[0]) - wobble(bottom, radius)
    assert smallest_bottom > 0
    point = top[0] / bottom[0]
    drift = (wobble(top, radius) + abs(point) * wobble(bottom, radius)) / smallest_bottom / mpmath.sqrt(2)
    root = point / mpmath.sqrt(2)
    depth = centre**2 - SHIFT + 2 * abs(centre) * radius + radius**2
    if abs(root) + drift <= 2:  # |erfc(z)| ≤ 1 + 2/√π·|z|·exp(|z|²)
        size = abs(root) + drift
        return (1 + 2 / mpmath.sqrt(mpmath.pi) * size * mpmath.exp(size**2)) * mpmath.exp(depth) + 1
    assert root > drift  # |erfc(z)| ≤ |exp(-z²)| for Re z ≥ 0
    return mpmath.exp(depth - (root - drift) ** 2 + drift**2) + 1


def approximation(w):
    return (w**2 - SHIFT) * mpmath.polyval(NUMERATOR[::-1], w) / mpmath.polyval(DENOMINATOR[::-1], w)


def defect(w):
    return mpmath.erfc(approximation(w) / mpmath.sqrt(2)) * mpmath.exp(w**2 - SHIFT) - 1


def test_approximation_of_the_quantile_is_within_four_units_everywhere():
    half, ratio, nodes = mpf(1) / 128, 4, 24
    with mpmath.workdps(60):
        lowest, highest = mpmath.sqrt(SHIFT), mpmath.sqrt(LARGEST_DEPTH + SHIFT)
        rho = ratio + mpmath.sqrt(ratio**2 - 1)  # the ellipse that touches the disc of radius ratio·half
        lebesgue = 2 / mpmath.pi * mpmath.log(nodes) + 1
        worst = mpf(0)
        centre = lowest + half
        while centre - half < highest:
            rest = 4 * bound_on_disc(centre, ratio * half) * rho**-nodes / (rho - 1)
            angles = [mpmath.pi * (2 * k + 1) / (2 * nodes) for k in range(nodes)]
            largest = max(abs(defect(centre + half * mpmath.cos(angle))) for angle in angles)
            bound = lebesgue * largest + rest
            assert bound < mpf(10) ** -6  # so that X is within 10^-3 of x, which the slope below uses
            # X is the quantile at depth s - log(1 + D); the slope of x is V/(2φ(x)) ≤ min(√(π/2), 1/x), falling in x
            point = approximation(centre - half) - mpf(10) ** -3
            slope = min(mpmath.sqrt(mpmath.pi / 2), 1 / point if point > 0 else mpmath.inf)
            worst = max(worst, slope * bound / (1 - bound))
            centre += 2 * half
        assert worst < 4 * U


def test_all_coefficients_are_positive_so_that_relative_errors_do_not_grow():
    assert min(gaussian._NUMERATOR) > 0
    assert min(gaussian._DENOMINATOR) > 0
    assert len(gaussian._NUMERATOR) == 9
    assert len(gaussian._DENOMINATOR) == 10


def test_elasticity_of_the_quotient_is_at_most_one_everywhere():
    # w·P'/P and w·Q'/Q are increasing, being variances of a power under positive weights: bounds at the ends of short
    # intervals hold between them
    def elasticity(coefficients, w):
        values = [c * w**power for power, c in enumerate(coefficients)]
        return sum(power * value for power, value in enumerate(values)) / sum(values)

    with mpmath.workdps(30):
        grid = mpmath.linspace(mpmath.sqrt(SHIFT), mpmath.sqrt(LARGEST_DEPTH + SHIFT), 400)
        for low, high in pairwise(grid):
            assert elasticity(NUMERATOR, high) - elasticity(DENOMINATOR, low) <= 1
            assert elasticity(NUMERATOR, low) - elasticity(DENOMINATOR, high) >= -1


def test_the_budget_of_errors_fits_into_a_quarter_of_the_band():
    with mpmath.workdps(30):
        cut = mpmath.findroot(lambda x: mpmath.erfc(x / mpmath.sqrt(2)) * 2**16 - 1, 4.3)
        word = mpf(2) ** -63 / (2 * mpmath.npdf(cut))
    assert cut < 4.33
    assert word <= 15 * U
    parts = [15, 1.26, 8 * 4.33, 1.5 * 4.33, 36.1 * 4.33, 4, 2.6 * 4.33]
    assert sum(parts) <= 231
    assert 4 * 231 * U <= gaussian._BAND
    assert int(gaussian._SMALLEST_FLOAT_TAIL) == 2**63 // 2**16


def _points(count: int) -> np.ndarray:
    """Return tails of every size that the float path is believed for, powers of two and their neighbours among them."""
    words = SeededEntropy(11).words(count)
    tails = (words >> np.uint64(1)) >> (words % np.uint64(17))
    edges = [2**k + d for k in range(47, 63) for d in (-1, 0, 1)] + [2**63 - 1, 2**63 - 2]
    tails[: len(edges)] = np.array(edges, dtype=np.uint64)
    return np.maximum(tails, gaussian._SMALLEST_FLOAT_TAIL)


def _largest_quantile_error(count: int) -> float:
    tails = _points(count)
    found = gaussian._tail_quantile(tails)
    worst = 0.0
    with mpmath.workprec(200):
        root2, density = mpmath.sqrt(2), mpmath.sqrt(2 / mpmath.pi)
        for tail, point in zip(tails.tolist(), found.tolist(), strict=True):
            x = mpf(point)
            beyond = mpmath.erfc(x / root2) - mpmath.ldexp(tail, -63)
            worst = max(worst, abs(float(beyond / (density * mpmath.exp(-x * x / 2)))))
    return worst


def test_float_quantile_against_200_bits():
    assert _largest_quantile_error(6_000) < 36 * U


@pytest.mark.slow
def test_float_quantile_against_200_bits_at_a_million_points():
    assert _largest_quantile_error(10**6) < 36 * U


def _largest_relative_error(arguments, found, function) -> float:
    with mpmath.workprec(200):
        return max(
            abs(float(mpf(value) / function(mpf(argument)) - 1))
            for argument, value in zip(arguments.tolist(), found.tolist(), strict=True)
        )


@pytest.mark.parametrize("count", [6_000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_log_keeps_the_presumed_error(count):
    arguments = _points(count).astype(np.float64) * 2.0**-63
    arguments = arguments[arguments < 1]
    assert _largest_relative_error(arguments, np.log(arguments), mpmath.log) <= 4 * U
    assert np.log(np.ones(9)).tolist() == [0.0] * 9


@pytest.mark.parametrize("count", [6_000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_exp_keeps_the_presumed_error(count):
    words = SeededEntropy(12).words(count).astype(np.float64) * 2.0**-64
    arguments = -np.concatenate([words[: count // 2] * 700, words[count // 2 :] * 2])
    assert _largest_relative_error(arguments, np.exp(arguments), mpmath.exp) <= 4 * U
    assert np.exp(np.array([-0.0, -746.0, -1e300, -math.inf])).tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("sigma", [0.01, 0.3, 1.0, 77.7, 1e4, 1e9])
def test_no_certain_value_is_wrong_next_to_a_boundary(sigma):
    """Words within a few units of every kind of boundary: certain answers equal the exact ones."""
    variance = naive.exact(mpf(sigma)) ** 2
    for z in (0.4, 1.1, 2.3, 3.4, 4.2):
        magnitude = round(sigma * z) + 1
        boundary = int(naive.tail_boundary(variance, magnitude) * 2**63)
        if not 2**48 < boundary < 2**63 - 2**12:
            continue
        spread = [sign * 2**k for k in range(12) for sign in (-1, 1)]
        tails = np.array([boundary + offset for offset in spread], dtype=np.uint64)
        nearest, certain = gaussian._float_magnitudes(tails, sigma)
        for tail, value, sure in zip(tails.tolist(), nearest.tolist(), certain.tolist(), strict=True):
            assert not sure or value == (magnitude if tail < boundary else magnitude - 1)
