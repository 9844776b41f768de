"""Turn noisy counts into legal ones: the simplex projection, low-variance rounding, and the number of rows."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def to_simplex(values: npt.NDArray[np.integer] | Floats, total: float) -> Floats:
    """Project noisy counts onto the non-negative vectors with a given sum, nearest in the Euclidean distance.

    Args:
        values: noisy counts of equal noise, any shape, at least one cell.
        total: the sum wanted, at least 0.

    Returns:
        A float64 array of the same shape; all zeros for a total of 0.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    if total <= 0:
        return np.zeros(np.shape(values))
    ordered = np.sort(flat)[::-1]
    shifts = (np.cumsum(ordered) - total) / np.arange(1, flat.size + 1)
    above = np.flatnonzero(ordered > shifts)
    last = int(above[-1]) if above.size else 0
    projected = np.maximum(flat - shifts[last], 0.0)
    scaled: Floats = projected * (total / projected.sum())
    return scaled.reshape(np.shape(values))


def shrunk(values: Ints, total: float, sigma: float) -> Floats:
    """Share a sum among cells by noisy counts that hardly stand out from their noise.

    The counts are drawn towards their mean by the share of their spread that noise alone explains, so that a cell is
    neither taken for empty nor for full because of its noise.

    Args:
        values: noisy counts of equal noise, shape (cells,), at least one cell.
        total: the sum wanted, at least 0.
        sigma: the standard deviation of the noise on each count.

    Returns:
        Non-negative float64 numbers that sum to ``total``.

    Source:
        James and Stein 1961 with the positive part, towards the mean (Efron and Morris 1973).
    """
    apart = values - values.mean()
    spread = float(np.square(apart).sum())
    noise = max(values.size - 3, 0) * sigma * sigma
    kept = 1.0 - noise / spread if spread > noise else 0.0
    return to_simplex(total / values.size + kept * apart, total)


def apportion(shares: Floats, rows: int, rng: np.random.Generator) -> Ints:
    """Round expected counts to whole ones that sum to ``rows``, each the integer below or above its expectation.

    Args:
        shares: non-negative weights, shape (cells,); all zero means equal weights.
        rows: the sum wanted, at least 0.
        rng: public randomness, which decides between below and above without bias.

    Returns:
        int64 counts, shape (cells,).
    """
    weight = shares.sum()
    expected = shares / weight * rows if weight > 0 else np.full(shares.size, rows / shares.size)
    order = rng.permutation(shares.size)
    edges = np.floor(np.cumsum(expected[order]) + rng.random())
    edges[np.flatnonzero(edges == edges[-1])[0] :] = rows  # rounding may leave the last edge just below ``rows``
    counts = np.empty(shares.size, dtype=np.int64)
    counts[order] = whole = np.minimum(edges, rows).astype(np.int64)
    counts[order[1:]] -= whole[:-1]
    return counts
