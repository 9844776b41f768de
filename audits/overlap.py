"""How much the laws of two neighbours' runs overlap, at every threshold of a range at once.

A test that guesses "present" where the log-likelihood ratio exceeds t errs on P(ratio > t | absent) and on
P(ratio ≤ t | present). A μ-GDP mechanism keeps their sum, weighted by e^(t/2) and e^(−t/2), at or above what the best
test of N(0, 1) against N(μ, 1) has (Neyman and Pearson; Dong, Roth and Su 2022, definition 2.6), whatever its noise
really is. That holds at each t, so it holds for the sum over all t from −reach to reach:

    E[A(ratio) | absent] + E[B(ratio) | present] ≥ G(μ)
    A(ratio) = ∫ e^(t/2) over t below the ratio,  B(ratio) = ∫ e^(−t/2) over t above it
    G(μ) = 4·(e^(r/2)·Φ(−r/μ − μ/2) − e^(−r/2)·Φ(r/μ − μ/2) + e^(−μ²/8)·(2Φ(r/μ) − 1)),  r = reach

A + B, divided by its largest value, is the score of two runs, one without and one with the unit. Where the two runs
share their randomness, their ratios move together and the score hardly varies, while its mean stays what it is.
"""

import math

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError

Floats = npt.NDArray[np.float64]


class Overlap:
    """The score of two runs, and the least mean that μ-GDP permits.

    Args:
        reach: the largest threshold, above 0 and at most 1, fixed before any run.
    """

    def __init__(self, reach: float) -> None:
        if not 0 < reach <= 1:
            raise ConfigError("the thresholds of an overlap reach to a number above 0 and at most 1")
        self._reach = reach
        self._most = 8 * math.sinh(reach / 2)

    @staticmethod
    def for_claim(mu: float) -> "Overlap":
        """Choose the reach at which a claim of μ is best tested: one and a half standard deviations of the ratio."""
        return Overlap(min(1.5 * mu, 1.0))

    def score(self, absent: Floats, present: Floats) -> Floats:
        """Return the scores of pairs of runs from their log-likelihood ratios, from 0 to 1."""
        r = self._reach
        below = np.exp(np.clip(absent, -r, r) / 2) - math.exp(-r / 2)
        above = np.exp(-np.clip(present, -r, r) / 2) - math.exp(-r / 2)
        return np.clip(2 * (below + above) / self._most, 0.0, 1.0)

    def least(self, mu: float) -> float:
        """Return the least mean score of a μ-GDP mechanism; falls in μ."""
        from scipy.special import ndtr

        if mu <= 0:
            return 4 * (1 - math.exp(-self._reach / 2)) / self._most
        r, width = self._reach, self._reach / mu
        tails = math.exp(r / 2) * ndtr(-width - mu / 2) - math.exp(-r / 2) * ndtr(width - mu / 2)
        middle = math.exp(-mu * mu / 8) * (2 * ndtr(width) - 1)
        return float(4 * (tails + middle) / self._most)

    def spread(self, mu: float) -> float:
        """Return the score's standard deviation where the two runs have nothing in common and the pair attains μ."""
        from numpy.polynomial.hermite_e import hermegauss

        nodes, weights = hermegauss(80)
        weights = weights / weights.sum()
        absent, present = mu * nodes - mu * mu / 2, mu * nodes + mu * mu / 2
        centre = np.full_like(nodes, 0.0)
        variances = (
            float(weights @ np.square(side)) - float(weights @ side) ** 2
            for side in (self.score(absent, centre), self.score(centre, present))
        )
        return math.sqrt(sum(variances))
