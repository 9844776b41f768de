"""The exact log-likelihood ratio of a transcript, what the pair could show at most, and what the run was charged."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from accounting.errors import DpReleaseError
from accounting.planted import planted_name
from accounting.queries import (
    Categories,
    Errors,
    FoundCategories,
    Marginals,
    NoisyErrors,
    NoisyMarginals,
    NoisyQuantiles,
    NoisyTotal,
    NoisyVotes,
    Quantiles,
    Query,
    Select,
    Selected,
    Total,
    Votes,
)
from accounting.unit import PrivacyUnit
from audits.pairs import Pair
from audits.recording import Step
from audits.transcript.kernels import NaiveTable

Floats = npt.NDArray[np.float64]

SELECTION_MU_SQUARED = Fraction(11, 28)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one run shows.

    Args:
        log_ratio: log P(transcript with the unit) − log P(transcript without it).
        value: the pair's own μ²: Σ‖Δ‖²/σ² of Gaussian questions plus the symmetrised divergence of each selection.
        mu_squared: Σμ² of the questions asked, by this file's own prices.
        rho: Σρ of the questions asked, by this file's own prices.
    """

    log_ratio: float
    value: float
    mu_squared: float
    rho: float


class Replay:
    """The two tables of a pair, ready to weigh transcripts."""

    def __init__(self, pair: Pair) -> None:
        self._unit = pair.unit
        self._absent = NaiveTable(pair.schema, pair.absent)
        self._present = NaiveTable(pair.schema, pair.present)

    def weigh(self, steps: list[Step]) -> Evidence:
        """Weigh one run's transcript."""
        ratio = value = mu_squared = rho = 0.0
        noises: list[tuple[float, int, int, float]] = []
        for step in steps:
            absent, present = self._absent.exact(step.query), self._present.exact(step.query)
            mu, zcdp = own_price(step.query, self._unit)
            mu_squared += float(mu)
            rho += float(zcdp)
            if isinstance(step.query, Select):
                scale = own_scale(step.query, self._unit)
                logs = log_softmax(present, scale) - log_softmax(absent, scale)
                ratio += float(logs[_selected(step)])
                value += float(((softmax(present, scale) - softmax(absent, scale)) * logs).sum())
                continue
            if isinstance(step.query, Categories):
                shown, pair_value = _weigh_names(step, absent, present)
                ratio += shown
                value += pair_value
                continue
            sigma = math.sqrt(float(step.query.variance))
            for answer, low, high in zip(answered(step), absent, present, strict=True):
                if low != high:
                    noises.append((answer, low, high, sigma))
                    value += ((high - low) / sigma) ** 2
        if noises:
            answers, without, with_unit, sigmas = (
                np.array(column, dtype=np.float64) for column in zip(*noises, strict=True)
            )
            difference = rounded_log_mass(answers - with_unit, sigmas) - rounded_log_mass(answers - without, sigmas)
            ratio += float(difference.sum())
        return Evidence(ratio, value, mu_squared, rho)


def _weigh_names(step: Step, absent: list[int], present: list[int]) -> tuple[float, float]:
    """Weigh which names left and with which noisy counts; a name of the unit alone tells it for certain.

    Returns:
        The log-likelihood ratio, and the pair's own μ²: of the names that are found with and without the unit.
    """
    query, answer = step.query, step.answer
    assert isinstance(query, Categories)
    assert isinstance(answer, FoundCategories)
    sigma = math.sqrt(float(query.variance))
    left = dict(zip(answer.names, answer.values.tolist(), strict=True))
    ratio = value = 0.0
    for number, (low, high) in enumerate(zip(absent, present, strict=True)):
        if low == high:
            continue
        noisy = left.get(planted_name(number))
        ratio += _name_log_law(noisy, high, query.threshold, sigma) - _name_log_law(noisy, low, query.threshold, sigma)
        value += ((high - low) / sigma) ** 2 if min(low, high) else 0.0
    return ratio, value


def _name_log_law(noisy: int | None, count: int, threshold: int, sigma: float) -> float:
    """Return the log-probability that a name with a count leaves with a noisy count, or not at all (None)."""
    from scipy.special import log_ndtr

    if count == 0:
        return 0.0 if noisy is None else -math.inf
    if noisy is None:
        return float(log_ndtr((threshold - 0.5 - count) / sigma))
    return float(rounded_log_mass(np.array([noisy - count], dtype=np.float64), np.array([sigma]))[0])


def rounded_log_mass(noise: Floats, sigma: Floats) -> Floats:
    """Return log P(X = noise) for X the integer nearest to N(0, σ²), accurate in both tails."""
    from scipy.special import log_ndtr

    distance = -np.abs(noise)
    upper, lower = log_ndtr((distance + 0.5) / sigma), log_ndtr((distance - 0.5) / sigma)
    mass: Floats = upper + np.log1p(-np.exp(lower - upper))
    return mass


def softmax(scores: list[int], scale: float) -> Floats:
    """Return each candidate's probability."""
    return np.exp(log_softmax(scores, scale))


def log_softmax(scores: list[int], scale: float) -> Floats:
    """Return the logarithm of each candidate's probability."""
    best = max(scores)
    logs = np.array([score - best for score in scores], dtype=np.float64) * scale
    return logs - math.log(float(np.exp(logs).sum()))


def own_scale(query: Select, unit: PrivacyUnit) -> float:
    """Return ε/(2Δ) for Δ = k·grid·max weight: half of ε, since L1 errors are not monotonic."""
    return float(query.epsilon / (2 * unit.max_rows * query.grid * max(query.weights)))


def own_sensitivity_squared(query: Query, unit: PrivacyUnit) -> int:
    """Return the squared L2 sensitivity of a Gaussian question, for one unit added or removed."""
    k = unit.max_rows
    if isinstance(query, Total):
        return k * k
    if isinstance(query, Marginals):
        return k * k * len(query.cliques)
    if isinstance(query, Errors):
        return (k * query.grid) ** 2 * len(query.candidates)
    if isinstance(query, Votes):
        return k * k * query.votes
    if isinstance(query, Quantiles):
        return k * k
    if isinstance(query, Categories):
        return k
    raise DpReleaseError("a selection is not a Gaussian question")


def own_price(query: Query, unit: PrivacyUnit) -> tuple[Fraction, Fraction]:
    """Return a question's μ² and ρ."""
    if isinstance(query, Select):
        square = query.epsilon**2
        return square * SELECTION_MU_SQUARED, square / 8
    mu_squared = own_sensitivity_squared(query, unit) / query.variance
    return mu_squared, mu_squared / 2


def own_delta(query: Query, unit: PrivacyUnit) -> float:
    """Return a question's δ: that one of k names, each of the unit alone, leaves: k·P(N(0, 1) ≥ (τ − 3/2)/σ)."""
    if not isinstance(query, Categories):
        return 0.0
    from scipy.special import ndtr

    return min(1.0, unit.max_rows * float(ndtr((1.5 - query.threshold) / math.sqrt(float(query.variance)))))


def answered(step: Step) -> list[int]:
    """Return the noisy numbers of a Gaussian question's answer, in order."""
    answer = step.answer
    if isinstance(answer, NoisyTotal):
        return [answer.value]
    if isinstance(answer, NoisyMarginals):
        return [number for table in answer.tables for number in table.ravel().tolist()]
    if isinstance(answer, (NoisyErrors, NoisyVotes, NoisyQuantiles)):
        values: list[int] = answer.values.tolist()
        return values
    raise DpReleaseError("a selection has no noisy numbers")


def _selected(step: Step) -> int:
    if not isinstance(step.answer, Selected):
        raise DpReleaseError("a selection is answered by a candidate")
    return step.answer.index
