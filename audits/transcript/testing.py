"""Test a mechanism's claims on one pair of neighbours by runs that come two by two, without and with the unit.

The two runs of a pair of runs may share their randomness: each keeps its own law, different pairs are independent, and
every statistic here is a mean over pairs of runs of a sum of something of the one and something of the other, so that
nothing is assumed of how the two hang together. Valid whatever the noise's true law, after any number of runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audits.betting import Bets, p_value
from audits.claims import Claim
from audits.overlap import Overlap
from audits.statistics import ErrorCounts, error_rate_at
from audits.transcript.runs import TwoRuns

Floats = npt.NDArray[np.float64]

OVERLAP_SHARE = 0.8
"""The part of the wealth that bets on the overlap; the rest bets on errors at threshold 0, for grave faults."""

_LARGEST_MU = 40.0


class PairTest:
    """Test claims on one pair; the first claim is μ.

    Args:
        claims: what is claimed.
        planned: how many pairs of runs there will be, fixed before any is seen.
        significance: for the lower bound, and for the size of the bets.
    """

    def __init__(self, claims: Sequence[Claim], planned: int, significance: float) -> None:
        self._claims = tuple(claims)
        self._significance = significance
        self._overlap = Overlap.for_claim(claims[0].value)
        self._on_overlap = Bets(planned, significance)
        self._on_errors = Bets(planned, significance)

    def add(self, runs: Sequence[TwoRuns]) -> None:
        """Take the next pairs of runs."""
        absent, present = _ratios(runs)
        errors = [int(two.absent.guessed) + int(not two.present.guessed) for two in runs]
        self._on_overlap.add(self._overlap.score(absent, present))
        self._on_errors.add(np.array(errors, dtype=np.float64) / 2)

    def p_value(self, claim: Claim) -> float:
        """Return the p-value of a claim; valid at any time."""
        if claim.name == "mu":
            return p_value(self._against_mu(claim.value))
        return p_value(self._on_errors.log_wealth(claim.least_error_rate))

    def lower_bound(self) -> float:
        """Return the largest μ that is rejected at the significance, 0 where none is; finite."""
        from scipy.optimize import brentq

        def beyond(mu: float) -> float:
            return float(self._against_mu(mu).max(initial=0.0)) + math.log(self._significance)

        if beyond(0.0) < 0:
            return 0.0
        return _LARGEST_MU if beyond(_LARGEST_MU) > 0 else float(brentq(beyond, 0.0, _LARGEST_MU, xtol=1e-9))

    def _against_mu(self, mu: float) -> Floats:
        overlap = self._on_overlap.log_wealth(self._overlap.least(mu))
        errors = self._on_errors.log_wealth(error_rate_at(mu))
        wealth: Floats = np.logaddexp(math.log(OVERLAP_SHARE) + overlap, math.log(1 - OVERLAP_SHARE) + errors)
        return wealth


def errors_of(runs: Sequence[TwoRuns]) -> ErrorCounts:
    """Count the errors at threshold 0."""
    return ErrorCounts(len(runs), sum(two.absent.guessed for two in runs), sum(not two.present.guessed for two in runs))


def power_against(mu: float, claim: float, planned: int, significance: float) -> float:
    """Return the probability that a mechanism that reaches μ is caught while it claims less.

    As if the two runs of a pair had nothing in common: with shared randomness it is higher. By the normal
    approximation of the logarithm of the wealth.
    """
    from scipy.special import ndtr

    overlap = Overlap.for_claim(claim)
    gap = overlap.least(claim) - overlap.least(mu)
    deviations = math.sqrt(planned) * gap / overlap.spread(mu)
    return float(ndtr(deviations - _needed(significance)))


@dataclass(frozen=True, slots=True)
class Trial:
    """What trial runs say about how many runs are needed; they take no part in the test.

    Args:
        seconds: of one pair of runs.
        value: the μ that the pair attains.
        spread: the standard deviation of the score of a pair of runs.
    """

    seconds: float
    value: float
    spread: float

    @staticmethod
    def of(runs: Sequence[TwoRuns], seconds: float, claim: Claim) -> "Trial":
        """Sum up trial runs, at least two."""
        absent, present = _ratios(runs)
        values = [side.value for two in runs for side in (two.absent, two.present)]
        spread = float(Overlap.for_claim(claim.value).score(absent, present).std(ddof=1))
        return Trial(seconds, math.sqrt(sum(values) / len(values)), spread)

    def pairs_for_ratio(self, claim: Claim, ratio: float, significance: float, power: float) -> int:
        """Return the pairs of runs after which the bound is at least ``ratio``·value with the stated power.

        Args:
            claim: the claim of μ for which the test is made.
            ratio: strictly between 0 and 1.
            significance: one minus the bound's confidence.
            power: strictly between 0 and 1.
        """
        from scipy.special import ndtri

        overlap = Overlap.for_claim(claim.value)
        gap = overlap.least(ratio * self.value) - overlap.least(self.value)
        if gap <= 0:
            return 1
        return max(1, math.ceil(((_needed(significance) + float(ndtri(power))) * self.spread / gap) ** 2))


def _needed(significance: float) -> float:
    """Return how many standard deviations of the mean the best bet takes to be worth 1/significance."""
    return math.sqrt(2 * math.log(1 / (OVERLAP_SHARE * significance)))


def _ratios(runs: Sequence[TwoRuns]) -> tuple[Floats, Floats]:
    absent, present = ([getattr(two, side).log_ratio for two in runs] for side in ("absent", "present"))
    return np.array(absent, dtype=np.float64), np.array(present, dtype=np.float64)
