"""The rounded Gaussian's law by frequencies: half-lines against Φ, exact cells, and the twins that must be told apart.

Every test compares with exact probabilities and holds its false-alarm rate at every sample size
(tests.statistical.binomial), but for the χ² of the slow run, whose cells are full enough for its limit law.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from accounting.noise import Entropy, OsEntropy, SeededEntropy, rounded_gaussian
from tests.statistical import rates
from tests.statistical.binomial import any_surprising

RATE = 1e-9
Draws = NDArray[np.int64]


def below(variance: Fraction, magnitude: int) -> float:
    """Return P(X ≤ magnitude) = Φ((magnitude + ½)/σ)."""
    return float(mpmath.ncdf((magnitude + mpmath.mpf(1) / 2) / mpmath.sqrt(_number(variance))))


def half_lines(variance: Fraction) -> list[int]:
    """Return the ends of about 40 half-lines from -4σ to 4σ, all of them where σ is small."""
    sigma = math.sqrt(variance)
    return sorted({round(sigma * step / 5) for step in range(-20, 21)})


def half_lines_reject(draws: Draws, variance: Fraction, rate: float) -> bool:
    ordered = np.sort(draws)
    ends = half_lines(variance)
    hits = np.searchsorted(ordered, ends, side="right").tolist()
    return any_surprising([(hit, below(variance, end)) for hit, end in zip(hits, ends, strict=True)], draws.size, rate)


def _number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def _half_line_test(name: str, variance: Fraction, size: int) -> rates.Rejects:
    @rates.sampler_test(f"rounded Gaussian, half-lines, sigma {name}", RATE)
    def rejects(scale: Fraction, entropy: Entropy) -> bool:
        return half_lines_reject(rounded_gaussian(variance * scale**2, size, entropy), variance, RATE)

    return rejects


HALF_LINE_TESTS = {
    name: _half_line_test(name, variance, 400_000)
    for name, variance in {
        "0.3": Fraction(9, 100),
        "0.5": Fraction(1, 4),
        "root of 1/2": Fraction(1, 2),
        "1": Fraction(1),
        "root of 7/3": Fraction(7, 3),
        "10": Fraction(100),
        "10^4": Fraction(10**8),
        "10^9/1.2": Fraction(10**18) / Fraction(12, 10) ** 2,
    }.items()
}


@pytest.mark.parametrize("name", HALF_LINE_TESTS)
def test_half_lines_have_their_exact_probability(name):
    assert not HALF_LINE_TESTS[name](Fraction(1), OsEntropy())


def cells(variance: Fraction) -> tuple[list[int], list[float]]:
    """Return the last integer of each cell but the last, and the exact probabilities of all cells."""
    ends = half_lines(variance)
    bounds = [0.0, *(below(variance, end) for end in ends), 1.0]
    return ends, [high - low for low, high in pairwise(bounds)]


def _chi_squared_test(name: str, variance: Fraction, size: int) -> rates.Rejects:
    @rates.sampler_test(f"rounded Gaussian, chi-squared, sigma {name}", RATE, slow=True)
    def rejects(scale: Fraction, entropy: Entropy) -> bool:
        ends, probabilities = cells(variance)
        counts = np.zeros(len(probabilities))
        for _ in range(20):
            draws = rounded_gaussian(variance * scale**2, size // 20, entropy)
            counts += np.bincount(np.searchsorted(ends, draws, side="left"), minlength=counts.size)
        expected = size * np.array(probabilities)
        full = expected >= 500
        counts, expected = (np.append(x[full], x[~full].sum()) for x in (counts, expected))
        if expected[-1] < 500:
            counts, expected = (np.append(x[:-2], x[-2:].sum()) for x in (counts, expected))
        statistic = float(((counts - expected) ** 2 / expected).sum())
        return bool(chi2.sf(statistic, expected.size - 1) < RATE)

    return rejects


CHI_SQUARED_TESTS = {
    name: _chi_squared_test(name, variance, 20_000_000)
    for name, variance in {
        "0.3": Fraction(9, 100),
        "0.5": Fraction(1, 4),
        "1": Fraction(1),
        "10": Fraction(100),
        "10^4": Fraction(10**8),
        "10^9/1.2": Fraction(10**18) / Fraction(12, 10) ** 2,
    }.items()
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHI_SQUARED_TESTS)
def test_chi_squared_of_twenty_million_draws(name):
    assert not CHI_SQUARED_TESTS[name](Fraction(1), OsEntropy())


# -- twins: samplers that others sell as this one ---------------------------------------------------------------------


def discrete_gaussian(variance: Fraction, size: int, generator: np.random.Generator) -> Draws:
    """Draw from the pmf proportional to exp(-k²/(2σ²))."""
    support = np.arange(-40, 41)
    weights = np.exp(-(support**2) / (2 * float(variance)))
    return generator.choice(support, size=size, p=weights / weights.sum())


def sum_of_two_rounded(variance: Fraction, size: int, generator: np.random.Generator) -> Draws:
    """Add two rounded Gaussians of half the variance, as for noise from two parties."""
    entropy = SeededEntropy(int(generator.integers(2**32)))
    return rounded_gaussian(variance / 2, size, entropy) + rounded_gaussian(variance / 2, size, entropy)


def truncated_to_zero(variance: Fraction, size: int, generator: np.random.Generator) -> Draws:
    """Cut the fraction off instead of rounding to nearest."""
    return np.trunc(generator.normal(0, math.sqrt(variance), size)).astype(np.int64)


def rounded_down(variance: Fraction, size: int, generator: np.random.Generator) -> Draws:
    """Round down instead of to nearest."""
    return np.floor(generator.normal(0, math.sqrt(variance), size)).astype(np.int64)


def variance_with_sheppards_correction(variance: Fraction, size: int, generator: np.random.Generator) -> Draws:
    """Lower the variance by 1/12 where that leaves any, so that the rounded result has the variance asked for."""
    lower = max(float(variance) - 1 / 12, 1e-3)
    return np.rint(generator.normal(0, math.sqrt(lower), size)).astype(np.int64)


@pytest.mark.parametrize("sigma", [Fraction(3, 10), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize(
    "twin",
    [discrete_gaussian, sum_of_two_rounded, truncated_to_zero, rounded_down, variance_with_sheppards_correction],
)
def test_p42_half_lines_reject_every_other_sampler(twin: Callable[..., Draws], sigma):
    draws = twin(sigma**2, 400_000, np.random.default_rng(42))
    assert half_lines_reject(draws, sigma**2, RATE)


# -- low digits: neither scaled coarse draws nor uniform filling ------------------------------------------------------


def remainders_reject(draws: Draws, divisor: int, rate: float) -> bool:
    """Test that a wide draw falls evenly into the classes modulo the divisor; at σ ≥ divisor it does to 10^-8."""
    counts = np.bincount(np.mod(draws, divisor), minlength=divisor)
    return any_surprising([(count, 1 / divisor) for count in counts.tolist()], draws.size, rate)


LOW_DIGITS = [
    (name, variance, divisor, rates.register(f"rounded Gaussian, modulo {divisor}, sigma {name}", RATE))
    for name, variance in (("10^4", Fraction(10**8)), ("10^9", Fraction(10**18)))
    for divisor in (2, 3, 100)
]


@pytest.mark.parametrize(("name", "variance", "divisor", "rate"), LOW_DIGITS)
def test_p42_low_digits_are_as_random_as_the_law_says(name, variance, divisor, rate):
    assert not remainders_reject(rounded_gaussian(variance, 200_000, OsEntropy()), divisor, rate)


def test_p42_scaled_coarse_draws_are_rejected():
    coarse = 100 * rounded_gaussian(Fraction(10**4), 200_000, SeededEntropy(1))
    assert remainders_reject(coarse, 100, RATE)
    assert remainders_reject(coarse, 3, RATE) is False


def test_p42_uniformly_filled_coarse_draws_are_rejected():
    """Filling steps of one σ uniformly leaves the cells of that size right and the half-lines inside them wrong."""
    filling = np.random.default_rng(7).integers(-50, 50, size=400_000)
    filled = 100 * rounded_gaussian(Fraction(1), 400_000, SeededEntropy(2)) + filling
    assert half_lines_reject(filled, Fraction(10**4), RATE)


# -- independence and the law of the sign -----------------------------------------------------------------------------

_NEIGHBOURS = rates.register("rounded Gaussian, neighbouring draws independent", RATE)


def test_p36_neighbouring_draws_are_independent():
    """Both of two neighbours above their median: a quarter of all pairs, within a block and across blocks."""
    draws = rounded_gaussian(Fraction(10**12), 400_000, OsEntropy())
    above = draws > 0
    share = (1 - float(mpmath.ncdf(mpmath.mpf(1) / 2 / 10**6))) ** 2
    pairs = [(int(np.count_nonzero(above[::2] & above[1::2])), share)]
    far = [(int(np.count_nonzero(above[:200_000] & above[200_000:])), share)]
    assert not any_surprising(pairs + far, 200_000, _NEIGHBOURS)


def test_p31_noise_and_noisy_answers_are_integers_without_a_float_between():
    counts = np.array([0, 3, 2**53 + 1], dtype=np.int64)
    noise = rounded_gaussian(Fraction(1, 4), 3, SeededEntropy(3))
    assert noise.dtype == np.int64
    noisy = counts + noise
    assert noisy.dtype == np.int64
    assert (noisy - noise).tolist() == [0, 3, 2**53 + 1]


def test_p31_every_integer_near_the_middle_is_reached_whatever_the_variance():
    """The set of possible values does not depend on σ: no gaps that would betray the exact answer."""
    for variance in (Fraction(100), Fraction(10001, 100), Fraction(300, 7)):
        draws = rounded_gaussian(variance, 100_000, SeededEntropy(4))
        assert set(range(-15, 16)) <= set(draws.tolist())
