"""The rounded Gaussian: independent integers, each the nearest to a draw of N(0, σ²), drawn exactly.

Law. One word gives a sign and the leading 63 bits t of a uniform V, the two-sided tail probability. The magnitude
Y = σ·x has erfc(x/√2) = V, so that ±Y is N(0, σ²), and the result is ± the integer nearest to Y:

    magnitude ≥ m  ⟺  Y ≥ m - ½  ⟺  V ≤ erfc(√q),  q = (2m - 1)²/(8σ²), a rational number.

The tail, not the distribution function, is uniform, so that far tails keep their relative accuracy. Equality has
probability 0.

Two paths, one result. Float64 computes Y for whole blocks and is believed only where its error cannot matter: for
t ≥ 2^47 (V ≥ 2^-16, x < 4.33) and where Y is farther than σ·2^-43 from every m - ½. Everything else is decided by
integer enclosures of erfc(√q) (accounting.enclosures) against V, whose bits are extended, never drawn anew,
until the comparison is certain.

Float path. With s = -log V and w = √(s + 11/16), x is approximated by s·P(w)/Q(w), where P and Q have degree 8 and 9
and positive coefficients.

Error bound, with u = 2^-53, in units of σ; x is increasing and concave in s, its slope is V/(2φ(x)) ≤ √(π/2) < 1.26:

- V is known to lie in [t, t + 1]·2^-63: at most 2^-63/(2φ(4.33)) ≤ 15u; rounding t to float64: 1.26u;
- log is presumed to have a relative error of at most 2^-50 = 8u. By concavity s·dx/ds ≤ x: at most 8u·4.33 ≤ 35u;
- w has relative error 1.5u (two roundings, the first halved by the root), P/Q has elasticity at most 1 in w: 6.6u;
- P takes 16 roundings, Q 18, the quotient and the product with s one each; all terms are positive, so that relative
  errors do not grow: 36.1u·4.33 ≤ 157u;
- s·P/Q differs from x by at most 4u;
- σ is rounded twice and multiplied once: 2.6u·4.33 ≤ 12u.

Sum 231u, below a quarter of the band 2^-43 = 1024u. The difference of Y from its nearest integer is exact in float64,
and rounding the limit ½ - σ·2^-43 costs at most u/4, against the unused σ·793u ≥ 7.9u.

What is presumed, and how it is held: IEEE 754 float64 for + - x / √ (contraction to fused operations only helps), and
the bound on NumPy's log, whose libraries state 4u or less. The tests prove "differs by at most 4u" and the elasticity
for all s at once (complex analysis on a chain of discs, at 60 digits), and compare the whole float path with 200-bit
arithmetic, tails and boundaries included; the largest error seen is below 36u, one twenty-eighth of the band.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accounting.enclosures import erfc_bounds
from accounting.errors import ConfigError
from accounting.noise.entropy import Entropy
from accounting.noise.uniform import LazyUniform

MIN_VARIANCE = Fraction(1, 10**4)
"""σ = 0.01, the smallest noise that is drawn."""
MAX_VARIANCE = Fraction(10**18)
"""σ = 10^9, the largest noise that is drawn."""

_TAIL_BITS = 63
_SMALLEST_FLOAT_TAIL = np.uint64(1 << 47)
_BAND = 2.0**-43
_BLOCK = 8192
_SHIFT = 0.6875
_NUMERATOR = (
    3.6448097877155172,
    69.77626222253203,
    911.968452460909,
    3199.909810152401,
    3392.6535201992347,
    1683.4896423518228,
    425.2109480359889,
    45.04194221204022,
    1.343920565633253,
)
_DENOMINATOR = (
    1.0,
    18.54991624892332,
    270.60886160959984,
    1438.7195925559877,
    2916.3106878387252,
    2654.456453901753,
    1232.9926112620108,
    302.710060877036,
    31.85657230171544,
    0.9502544256834025,
)


def check_variance(variance: Fraction) -> None:
    """Refuse a variance that :func:`rounded_gaussian` does not draw, before anything is spent.

    Raises:
        ConfigError: unless it is a Fraction within [MIN_VARIANCE, MAX_VARIANCE], σ from 0.01 to 10^9.
    """
    if not isinstance(variance, Fraction) or not MIN_VARIANCE <= variance <= MAX_VARIANCE:
        raise ConfigError(
            f"the noise variance must be an exact number between {MIN_VARIANCE} and {MAX_VARIANCE} (sigma between 0.01 "
            "and 10^9): change the budget's share of this question"
        )


def rounded_gaussian(variance: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw independent integers, each exactly distributed as the integer nearest to N(0, variance).

    Args:
        variance: σ², exact, from MIN_VARIANCE to MAX_VARIANCE, in squared units of the answer.
        size: how many, at least 0.
        entropy: where the random words come from.

    Returns:
        int64 array of shape (size,), with P(X ≤ m) = Φ((m + ½)/σ) for every integer m.

    Raises:
        ConfigError: for a variance or size out of range; nothing was drawn.

    Privacy:
        Added to an integer answer of L2 sensitivity Δ the result is a post-processing of the Gaussian mechanism:
        Δ/σ-GDP and Δ²/(2σ²)-zCDP, with no error to add to δ.

    Edge cases:
        A magnitude beyond int64 has a probability below 2^(-2^60).
    """
    check_variance(variance)
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
        raise ConfigError("the number of noise values must be an integer of at least 0")
    noise = np.empty(size, dtype=np.int64)
    sigma = math.sqrt(float(variance))
    for start in range(0, size, _BLOCK):
        block = noise[start : start + _BLOCK]
        words = entropy.words(block.size)
        tails = words & np.uint64(2**_TAIL_BITS - 1)
        nearest, certain = _float_magnitudes(tails, sigma)
        magnitudes = nearest.astype(np.int64)
        for place in np.flatnonzero(~certain):
            uniform = LazyUniform(int(tails[place]), _TAIL_BITS, entropy)
            magnitudes[place] = _exact_magnitude(uniform, variance, guess=int(magnitudes[place]))
        block[:] = np.where(words >> np.uint64(_TAIL_BITS), -magnitudes, magnitudes)
    return noise


def _float_magnitudes(tails: NDArray[np.uint64], sigma: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the nearest integers to Y in float64, and where they are certain."""
    magnitudes = sigma * _tail_quantile(np.maximum(tails, np.uint64(1)))
    nearest = np.rint(magnitudes)
    magnitudes -= nearest
    np.abs(magnitudes, out=magnitudes)
    certain = magnitudes < 0.5 - sigma * _BAND
    certain &= tails >= _SMALLEST_FLOAT_TAIL
    return nearest, certain


def _tail_quantile(tails: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return x with erfc(x/√2) = tails·2^-63 in float64; a mere guess below the smallest float tail."""
    depth = tails.astype(np.float64)
    depth *= 2.0**-_TAIL_BITS
    np.log(depth, out=depth)
    np.negative(depth, out=depth)
    root = depth + _SHIFT
    np.sqrt(root, out=root)
    depth *= _polynomial(_NUMERATOR, root)
    depth /= _polynomial(_DENOMINATOR, root)
    return depth


def _polynomial(coefficients: tuple[float, ...], argument: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate by Horner's rule, the constant coefficient first."""
    value = argument * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        value += coefficient
        value *= argument
    value += coefficients[0]
    return value


def _exact_magnitude(uniform: LazyUniform, variance: Fraction, guess: int) -> int:
    """Return the largest m ≥ 0 with magnitude ≥ m, by certain comparisons alone; the guess only saves time."""

    def reached(magnitude: int) -> bool:
        if magnitude <= 0:
            return True
        square = Fraction((2 * magnitude - 1) ** 2) / (8 * variance)
        return uniform.is_below(lambda precision: erfc_bounds(square, precision))

    step = 1
    if reached(guess):
        low, high = guess, guess + step
        while reached(high):
            step *= 2
            low, high = high, high + step
    else:
        low, high = guess - step, guess
        while not reached(low):
            step *= 2
            low, high = low - step, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low
