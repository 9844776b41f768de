"""How fast the rounded Gaussian is drawn from the operating system's entropy, at several σ."""

import time
from fractions import Fraction

from accounting.noise import OsEntropy, rounded_gaussian

SIGMAS = ("0.01", "0.3", "1", "50", "10000", "1000000000")
"""Where the rate is measured: the ends of the range and the values between that releases use."""


def draws_per_second(size: int = 2_000_000, repeats: int = 3) -> dict[str, float]:
    """Measure the draws per second for each σ of ``SIGMAS``: the best of several repeats in one thread.

    Args:
        size: draws in one repeat, at least 1.
        repeats: how many, at least 1.
    """
    entropy = OsEntropy()
    rates = {}
    for sigma in SIGMAS:
        variance = Fraction(sigma) ** 2
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            rounded_gaussian(variance, size, entropy)
            seconds.append(time.perf_counter() - start)
        rates[sigma] = size / min(seconds)
    return rates
