"""Bets against a claim: what independent scores say about their mean, at any time, without a law for the scores.

Before each score a part of the wealth is put on "it will be below the mean that the claim permits". While the claim
holds, the wealth is a non-negative supermartingale, so it ever grows to 1/significance with probability at most the
significance (Ville 1939). Nothing else about the scores enters: whoever looks may stop at any of them.
"""

import math

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError
from audits.statistics import check_significance

Floats = npt.NDArray[np.float64]

_MOST = 0.9
"""The most that is put on one score: the wealth never falls to 0."""


class Bets:
    """Bets on scores from 0 to 1.

    Args:
        planned: how many scores there will be: the stakes are best for so many and right for any number.
        significance: at which a claim is to be refuted; it shapes the stakes only.

    Source:
        Waudby-Smith and Ramdas 2024, arXiv:2010.09686: stakes from the variance of the scores seen before.
    """

    def __init__(self, planned: int, significance: float) -> None:
        check_significance(significance)
        if type(planned) is not int or planned < 1:
            raise ConfigError("bets are planned for a whole number of scores, at least 1")
        self._richest_stake = 2 * math.log(1 / significance) / planned
        self._sum, self._squares = 0.5, 0.25
        self.scores: Floats = np.empty(0)
        self.stakes: Floats = np.empty(0)

    def add(self, scores: Floats) -> None:
        """Take the next scores; each one's stake depends on those before it."""
        if scores.size and not (scores.min() >= 0 and scores.max() <= 1):
            raise ConfigError("a score lies between 0 and 1")
        counts = self.scores.size + 1 + np.arange(scores.size + 1)
        sums = self._sum + np.concatenate([[0.0], np.cumsum(scores)])
        apart = np.square(scores - sums[1:] / counts[1:])
        squares = self._squares + np.concatenate([[0.0], np.cumsum(apart)])
        stakes = np.minimum(np.sqrt(self._richest_stake * counts[:-1] / squares[:-1]), _MOST)
        self._sum, self._squares = float(sums[-1]), float(squares[-1])
        self.scores, self.stakes = np.concatenate([self.scores, scores]), np.concatenate([self.stakes, stakes])

    def log_wealth(self, mean: float) -> Floats:
        """Return the logarithm of the wealth after each score, of bets against "the mean is at least this"."""
        grown: Floats = np.cumsum(np.log1p(self.stakes * (mean - self.scores)))
        return grown


def p_value(log_wealth: Floats) -> float:
    """Return how likely so much wealth is at most, at any time so far, while the claim holds."""
    return min(1.0, math.exp(-float(log_wealth.max()))) if log_wealth.size else 1.0
