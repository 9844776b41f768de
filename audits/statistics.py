"""Exact intervals of proportions, what error rates say about μ, and many tests at one significance.

The two hypotheses are "the unit is absent" and "the unit is present". A test that guesses one of them errs with rates α
(absent, guessed present) and β (present, guessed absent). Every μ-GDP mechanism has α + β ≥ 2Φ(−μ/2), whatever its
noise really is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from accounting.errors import ConfigError

QUARTER = 0.25


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Errors of one test in equally many runs with the unit absent and present.

    Args:
        runs: runs a side, at least 1.
        false_positives: runs without the unit that were taken for runs with it.
        false_negatives: runs with the unit that were taken for runs without it.
    """

    runs: int
    false_positives: int
    false_negatives: int

    def __post_init__(self) -> None:
        for count in (self.runs, self.false_positives, self.false_negatives):
            if type(count) is not int:
                raise ConfigError("errors are counted in whole numbers")
        if self.runs < 1 or not all(0 <= n <= self.runs for n in (self.false_positives, self.false_negatives)):
            raise ConfigError("a test has at least one run a side and at most as many errors as runs")


def proportion_upper(count: int, trials: int, significance: float) -> float:
    """Return the one-sided Clopper–Pearson upper bound of a proportion; 1 when every trial counts."""
    from scipy.special import betaincinv

    check_significance(significance)
    return 1.0 if count == trials else float(betaincinv(count + 1, trials - count, 1 - significance))


def proportion_lower(count: int, trials: int, significance: float) -> float:
    """Return the one-sided Clopper–Pearson lower bound of a proportion; 0 when no trial counts."""
    return 1 - proportion_upper(trials - count, trials, significance)


def wilson(count: float, trials: int, significance: float) -> tuple[float, float]:
    """Return the two-sided Wilson score interval of a proportion; a count may be a sum of parts of successes."""
    from scipy.special import ndtri

    check_significance(significance)
    z = float(ndtri(1 - significance / 2))
    rate = count / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return (max(0.0, centre - half) if count > 0 else 0.0), (min(1.0, centre + half) if count < trials else 1.0)


def mu_lower_bound_apart(errors: ErrorCounts, significance: float) -> float:
    """Return a lower bound on μ from α and β bounded apart, each at half of the significance; finite, at least 0."""
    from scipy.special import ndtri

    alpha = proportion_upper(errors.false_positives, errors.runs, significance / 2)
    beta = proportion_upper(errors.false_negatives, errors.runs, significance / 2)
    if alpha == 1 or beta == 1:
        return 0.0
    return max(0.0, -float(ndtri(alpha)) - float(ndtri(beta)))


def error_rate_at(mu: float) -> float:
    """Return the least average error rate (α + β)/2 that a μ-GDP mechanism permits: Φ(−μ/2)."""
    from scipy.special import ndtr

    return float(ndtr(-mu / 2))


def holm(p_values: Sequence[float], significance: float) -> tuple[bool, ...]:
    """Reject hypotheses by Holm's procedure: at most ``significance`` of any false rejection among all of them."""
    check_significance(significance)
    rejected = [False] * len(p_values)
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > significance / (len(p_values) - place):
            break
        rejected[index] = True
    return tuple(rejected)


def check_significance(significance: float) -> None:
    """Refuse a significance outside (0, 1/4]: no evidence is asked for below that.

    Raises:
        ConfigError: outside that range.
    """
    if not isinstance(significance, float) or not 0 < significance <= QUARTER:
        raise ConfigError("a significance is a float above 0 and at most 0.25")
