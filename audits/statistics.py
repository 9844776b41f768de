"""Exact bounds from counts of errors: what error rates say about μ and total variation, and how many runs it takes.

The two hypotheses are "the unit is absent" and "the unit is present". A test that guesses one of them errs with rates α
(absent, guessed present) and β (present, guessed absent). Every μ-GDP mechanism has α + β ≥ 2Φ(−μ/2), at every
threshold, and α + β ≥ 1 − TV. So the number of errors in n runs a side bounds both, whatever the noise's true law.

Pooled bound. The number of errors in all 2n runs is a sum of independent indicators whose mean rates average to
(α + β)/2. By Hoeffding 1956 (theorem 5) its lower tail is at most that of a binomial variable with 2n trials and the
average rate, so that the Clopper–Pearson bound of the pooled count holds for the average rate. It is one bound at the
stated confidence, where bounding α and β apart pays for the confidence twice.
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

    @property
    def errors(self) -> int:
        """Errors of both kinds."""
        return self.false_positives + self.false_negatives


def proportion_upper(count: int, trials: int, significance: float) -> float:
    """Return the one-sided Clopper–Pearson upper bound of a proportion; 1 when every trial counts."""
    from scipy.special import betaincinv

    check_significance(significance)
    return 1.0 if count == trials else float(betaincinv(count + 1, trials - count, 1 - significance))


def proportion_lower(count: int, trials: int, significance: float) -> float:
    """Return the one-sided Clopper–Pearson lower bound of a proportion; 0 when no trial counts."""
    return 1 - proportion_upper(trials - count, trials, significance)


def wilson(count: int, trials: int, significance: float) -> tuple[float, float]:
    """Return the two-sided Wilson score interval of a proportion."""
    from scipy.special import ndtri

    check_significance(significance)
    z = float(ndtri(1 - significance / 2))
    rate = count / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


def mu_lower_bound(errors: ErrorCounts, significance: float) -> float:
    """Return a lower bound on μ at confidence 1 − significance, from the pooled errors; finite, at least 0."""
    from scipy.special import ndtri

    average = proportion_upper(errors.errors, 2 * errors.runs, significance)
    return max(0.0, -2 * float(ndtri(average))) if average < 1 else 0.0


def mu_lower_bound_apart(errors: ErrorCounts, significance: float) -> float:
    """Return a lower bound on μ from α and β bounded apart, each at half of the significance; finite, at least 0."""
    from scipy.special import ndtri

    alpha = proportion_upper(errors.false_positives, errors.runs, significance / 2)
    beta = proportion_upper(errors.false_negatives, errors.runs, significance / 2)
    if alpha == 1 or beta == 1:
        return 0.0
    return max(0.0, -float(ndtri(alpha)) - float(ndtri(beta)))


def variation_lower_bound(errors: ErrorCounts, significance: float) -> float:
    """Return a lower bound on the total variation between the two laws, from the pooled errors; at least 0."""
    return max(0.0, 1 - 2 * proportion_upper(errors.errors, 2 * errors.runs, significance))


def error_rate_at(mu: float) -> float:
    """Return the least average error rate (α + β)/2 that a μ-GDP mechanism permits: Φ(−μ/2)."""
    from scipy.special import ndtr

    return float(ndtr(-mu / 2))


def claim_p_value(errors: ErrorCounts, least_rate: float) -> float:
    """Return how likely so few errors are at most, while the average error rate is at least ``least_rate``."""
    from scipy.special import bdtr

    return float(bdtr(errors.errors, 2 * errors.runs, min(max(least_rate, 0.0), 1.0)))


def holm(p_values: Sequence[float], significance: float) -> tuple[bool, ...]:
    """Reject hypotheses by Holm's procedure: at most ``significance`` of any false rejection among all of them."""
    check_significance(significance)
    rejected = [False] * len(p_values)
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > significance / (len(p_values) - place):
            break
        rejected[index] = True
    return tuple(rejected)


def power_against(mu: float, claim: float, runs: int, significance: float) -> float:
    """Return the probability that a mechanism whose threshold test reaches μ is caught while it claims less."""
    from scipy.stats import binom

    trials = 2 * runs
    critical = int(binom.ppf(significance, trials, error_rate_at(claim)))
    if binom.cdf(critical, trials, error_rate_at(claim)) > significance:
        critical -= 1
    return 0.0 if critical < 0 else float(binom.cdf(critical, trials, error_rate_at(mu)))


def runs_for_ratio(mu: float, ratio: float, significance: float, power: float) -> int:
    """Return the runs a side after which the bound is at least ``ratio``·μ with the stated power.

    Args:
        mu: the value that the test reaches.
        ratio: strictly between 0 and 1.
        significance: one minus the bound's confidence.
        power: strictly between 0 and 1.

    Source:
        The normal approximation of the pooled error rate; off by less than a tenth from 100 errors on.
    """
    from scipy.special import ndtri

    check_significance(significance)
    if not (mu > 0 and 0 < ratio < 1 and 0 < power < 1):
        raise ConfigError("the power calculation needs mu above 0, and ratio and power strictly between 0 and 1")
    rate, worse = error_rate_at(mu), error_rate_at(ratio * mu)
    deviations = float(ndtri(1 - significance)) * math.sqrt(worse * (1 - worse)) + float(ndtri(power)) * math.sqrt(
        rate * (1 - rate)
    )
    return math.ceil((deviations / (worse - rate)) ** 2 / 2)


class ErrorProcess:
    """An anytime-valid test of "the average error rate is at least ``least_rate``", pair of runs by pair of runs.

    The wealth of a mixture of bets against the claim is a non-negative supermartingale while the claim holds, so it
    ever reaches 1/significance with probability at most the significance (Ville 1939). The audit may stop at any pair.

    Args:
        least_rate: what the claim permits, in (0, 1/2].
        significance: how often a true claim may be rejected, over all stopping times together.
    """

    def __init__(self, least_rate: float, significance: float) -> None:
        check_significance(significance)
        if not 0 < least_rate <= 1 / 2:
            raise ConfigError("an error rate to test lies above 0 and is at most one half")
        self._mean = 2 * least_rate
        limit = 1 / (2 - self._mean)
        self._bets = tuple(limit * share for share in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8))
        self._logs = [0.0] * len(self._bets)
        self._target = math.log(1 / significance)

    def add(self, errors: int) -> None:
        """Add the number of errors, 0 to 2, in one run without the unit and one run with it."""
        gain = self._mean - errors
        self._logs = [log + math.log1p(bet * gain) for log, bet in zip(self._logs, self._bets, strict=True)]

    @property
    def log_wealth(self) -> float:
        """The logarithm of the mixture's wealth."""
        largest = max(self._logs)
        return largest + math.log(sum(math.exp(log - largest) for log in self._logs) / len(self._logs))

    @property
    def rejects(self) -> bool:
        """Whether the claim is rejected now."""
        return self.log_wealth >= self._target


def check_significance(significance: float) -> None:
    """Refuse a significance outside (0, 1/4], where the pooled bound is proven.

    Raises:
        ConfigError: outside that range.
    """
    if not isinstance(significance, float) or not 0 < significance <= QUARTER:
        raise ConfigError("a significance is a float above 0 and at most 0.25")
