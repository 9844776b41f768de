"""Exact selection: one index with probability exactly proportional to exp(scale·score).

Let r_i = scale·(max - score_i) ≥ 0, w_i = exp(-r_i), C_i = w_0 + … + w_i and T the sum of all. For a uniform U the
index is the first i with U·T < C_i. The first 64 bits of U are compared in float64; where a C_i lies inside the guard
band, all weights are enclosed by integer arithmetic and the same U is extended until one index is certain.

Guard band. Let u = 2^-53 and presume that NumPy's float64 exp has a relative error of at most 2^-50 = 8u, besides an
absolute 2^-1000 where it underflows (checked against 200-bit arithmetic in the tests; libraries state 4u or less).
r_i is computed from one rounding of scale, of the difference and of their product, so that the exponent is off by
at most 3.1u·r_i and the weight by at most e^-r·3.1u·r ≤ 1.2u. Then each weight is off by at most 1.2u + 8u·w_i, the n
additions of a running sum cost at most n·u·T, and T ≥ 1: every C_i, and T, is off by at most (2.2n + 9)·u·T. The
product of T with the midpoint of the word's interval costs 3u·T and half the interval 2^-65·T. A comparison is
therefore certain outside 2·(2.2n + 9)·u·T + 4u·T ≤ 27n·u·T; the band used, 2^-46·n·T = 128n·u·T, is four times as wide.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accounting.enclosures import exp_minus_bounds
from accounting.errors import ConfigError
from accounting.noise.entropy import Entropy
from accounting.noise.uniform import MARGIN_BITS, LazyUniform

_BAND_PER_CANDIDATE = 2.0**-46
_LARGEST_FLOAT_SCALE = Fraction(2**64)


def select_softmax(scores: NDArray[np.int64], scale: Fraction, entropy: Entropy) -> int:
    """Draw an index i with probability exactly exp(scale·scores[i]) / Σ exp(scale·scores[j]).

    Args:
        scores: int64 array of shape (n,), n ≥ 1; any values.
        scale: exact, greater than 0; ε/(2Δ) per unit of score for a mechanism of bounded range ε.
        entropy: where the random words come from.

    Returns:
        the index, in [0, n).

    Raises:
        ConfigError: for an empty or wrongly typed array or a scale that is not a positive rational.

    Privacy:
        The draw itself charges nothing; the event is charged by the caller. It is the softmax ("exponential")
        mechanism and not permute-and-flip, whose cost differs.
    """
    if not isinstance(scores, np.ndarray) or scores.dtype != np.int64 or scores.ndim != 1 or scores.size == 0:
        raise ConfigError("the scores of a selection must be a one-dimensional int64 array with at least one score")
    if not isinstance(scale, Fraction) or scale <= 0:
        raise ConfigError("the scale of a selection must be a Fraction greater than 0")
    # int64 subtraction wraps modulo 2^64, and the true difference lies in [0, 2^64): the view is exact
    gaps = np.subtract(scores.max(), scores).view(np.uint64)
    uniform = LazyUniform(int(entropy.words(1)[0]), 64, entropy)
    index = _by_floats(gaps, scale, uniform)
    return _by_integers(gaps, scale, uniform) if index is None else index


def _by_floats(gaps: NDArray[np.uint64], scale: Fraction, uniform: LazyUniform) -> int | None:
    """Return the index if float64 can tell it for certain, else None."""
    # a scale above 2^64 makes every unequal weight vanish in float64, as 2^64 itself does
    exponents = gaps.astype(np.float64) * -float(min(scale, _LARGEST_FLOAT_SCALE))
    sums = np.cumsum(np.exp(exponents))
    total = float(sums[-1])
    target = (uniform.prefix + 0.5) * 2.0**-64 * total
    band = _BAND_PER_CANDIDATE * gaps.size * total
    first = int(np.searchsorted(sums, target - band, side="right"))
    last = int(np.searchsorted(sums, target + band, side="right"))
    return first if first == last < gaps.size else None


def _by_integers(gaps: NDArray[np.uint64], scale: Fraction, uniform: LazyUniform) -> int:
    """Return the index by enclosures of all weights, extending the uniform until it is certain."""
    exponents = [scale * int(gap) for gap in gaps]
    while True:
        enclosed = {exponent: exp_minus_bounds(exponent, uniform.bits + MARGIN_BITS) for exponent in set(exponents)}
        total_low = sum(enclosed[exponent][0] for exponent in exponents)
        total_high = sum(enclosed[exponent][1] for exponent in exponents)
        low = high = 0
        for index, exponent in enumerate(exponents):
            certainly_not_before = high << uniform.bits <= uniform.prefix * total_low
            low, high = low + enclosed[exponent][0], high + enclosed[exponent][1]
            certainly_not_after = (
                index == len(exponents) - 1 or (uniform.prefix + 1) * total_high <= low << uniform.bits
            )
            if certainly_not_before and certainly_not_after:
                return index
        uniform.extend()
