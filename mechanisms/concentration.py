"""How large noise can be: high-probability bounds for sums of rounded Gaussian noise, given only its scale.

Noise on a cell is a Gaussian g rounded to the nearest integer, z = g + u with |u| ≤ 1/2. The u of different cells are
independent, have mean 0 and E u² ≤ 1/12: the Fourier series of the variance, 1/12 + Σ (−1)^k·exp(−2π²σ²k²)/(πk)²,
alternates with falling terms and begins with a negative one.
"""

from functools import lru_cache
from math import exp, log, pi, sqrt

import numpy as np
import numpy.typing as npt

_ROUNDING_SHARE = 0.1
_STEEPNESS = np.geomspace(1e-3, 1e2, 160)


def noise_norm(variance: float, draws: npt.NDArray[np.int64], failure: float) -> float:
    """Bound the L1 norm of the noise of a table.

    Args:
        variance: σ² of one draw.
        draws: how many draws each cell sums.
        failure: the probability with which the bound may fail.

    Returns:
        A number that the L1 norm exceeds with at most that probability.

    Source:
        Chernoff's bound with the moment generating function of |g|, E exp(λ|g|) = 2·exp(λ²s²/2)·Φ(λs), any λ > 0;
        McDiarmid's inequality for the rounding.
    """
    least, most = int(draws.min()), int(draws.max())
    if least == most:
        return _noise_norm(variance, (least,), (draws.size,), failure)
    sizes, counts = np.unique(draws, return_counts=True)
    return _noise_norm(variance, tuple(sizes.tolist()), tuple(counts.tolist()), failure)


@lru_cache(maxsize=4096)
def _noise_norm(variance: float, sizes: tuple[int, ...], counts: tuple[int, ...], failure: float) -> float:
    from scipy.special import log_ndtr

    scales = np.sqrt(variance * np.array(sizes, dtype=np.float64))
    cells = np.array(counts, dtype=np.float64)
    steep = _STEEPNESS[:, None] / scales.max()
    products = steep * scales
    exponents = (cells * (log(2) + log_ndtr(products) + products**2 / 2)).sum(axis=1)
    gaussian = ((exponents + log(1 / (failure * (1 - _ROUNDING_SHARE)))) / steep[:, 0]).min()
    return float(gaussian) + _rounding_norm(sizes, counts, failure * _ROUNDING_SHARE)


def _rounding_norm(sizes: tuple[int, ...], counts: tuple[int, ...], failure: float) -> float:
    """Bound Σ_cells |Σ u|: on average at most √(draws/12) a cell, and changing one u moves it by at most 1."""
    draws = sum(size * count for size, count in zip(sizes, counts, strict=True))
    mean = sum(count * sqrt(size / 12) for size, count in zip(sizes, counts, strict=True))
    return min(draws / 2, mean + sqrt(draws * log(1 / failure) / 2))


def error_below(distance: float, variance: float, cells: int, failure: float) -> float:
    """Bound the L1 error of an estimate from its distance to a fresh noisy measurement of the same table.

    With e the error and fresh noise z = g + u, the distance is ‖e + z‖₁. Being √cells·σ-Lipschitz in g, it falls below
    its mean by more than σ√(2·cells·ln(1/failure)) with probability failure at most. Its mean is Σ m(e_i) with the
    convex m(x) = E|x + g|, so that Σ|e_i| ≤ cells·m⁻¹(mean/cells) by Jensen's inequality.

    Args:
        distance: the L1 distance of the estimate to the noisy table.
        variance: σ² of the noise on each cell, one draw a cell.
        cells: the number of cells.
        failure: the probability with which the bound may fail.
    """
    sigma = sqrt(variance)
    rounding = _rounding_norm((1,), (cells,), failure * _ROUNDING_SHARE)
    slack = sigma * sqrt(2 * cells * log(1 / (failure * (1 - _ROUNDING_SHARE))))
    return cells * sigma * _inverse_folded_mean((distance + rounding + slack) / (cells * sigma))


def _inverse_folded_mean(value: float) -> float:
    """Return x ≥ 0 with E|x + Z| = value for a standard Gaussian Z; 0 below √(2/π). Rounded up."""
    from scipy.special import ndtr

    low, high = 0.0, max(value, 0.0)  # E|x + Z| ≥ x
    for _ in range(60):
        middle = (low + high) / 2
        mean = sqrt(2 / pi) * exp(-(middle**2) / 2) + middle * (2 * float(ndtr(middle)) - 1)
        low, high = (middle, high) if mean < value else (low, middle)
    return high


def sum_above(total: int, variance: float, draws: int, failure: float) -> float:
    """Bound a table's true total from above by its noisy one: a Gaussian quantile, and Hoeffding's for the rounding."""
    gaussian = sqrt(variance * draws) * upper_quantile(failure * (1 - _ROUNDING_SHARE))
    rounding = min(draws / 2, sqrt(draws * log(1 / (failure * _ROUNDING_SHARE)) / 2))
    return total + gaussian + rounding


def upper_quantile(failure: float) -> float:
    """Return the number that a standard Gaussian exceeds with this probability."""
    from scipy.special import ndtri

    return -float(ndtri(failure))
