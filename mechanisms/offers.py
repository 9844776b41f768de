"""Remember what each choice says about all its candidates: the paid evidence behind their error bounds.

For every candidate the last round that offered it is kept, since the latest model is the best. A bound may fail with a
probability that was fixed before the round began: half of the whole for the round known to be the last, and
1/(2t(t+1)) of it for round t otherwise, which together never exceed the whole however many rounds there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt

from accounting.queries import Clique, Errors, NoisyErrors, Select
from mechanisms.concentration import error_below, upper_quantile
from mechanisms.noisy import NoisyTable

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Evidence(Protocol):
    """What bounds the error of one estimate."""

    def bound(self, failure: float) -> float:
        """Return a number that the estimate's L1 error, in counts, exceeds with at most this probability."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """An estimate that a round compared with the private table.

    Args:
        units: the estimate in grid units, shaped as the clique's table.
        grid: grid units per count.
        spend: the share of a bound's failure probability that this round may use.
        evidence: what the round says about the estimate's error.
    """

    units: Ints
    grid: int
    spend: float
    evidence: Evidence

    @property
    def estimate(self) -> Floats:
        """The estimated counts."""
        return self.units / self.grid


class Offers:
    """Collect the offers of a run."""

    def __init__(self) -> None:
        self._latest: dict[Clique, tuple[Callable[[int], Offer], int]] = {}
        self._selections: dict[Clique, list[_Selection]] = {}
        self._spend = 0.0

    def latest(self, clique: Clique) -> Offer | None:
        """Return the last offer of a marginal; None if it was never offered."""
        found = self._latest.get(clique)
        if found is None:
            return None
        offer, position = found
        return offer(position)

    def begin(self, number: int, *, last: bool) -> None:
        """Begin a round, numbered from 1; ``last`` must be known before its questions are asked."""
        self._spend = 0.5 if last else 0.5 / (number * (number + 1))

    def selected(self, query: Select, index: int, max_rows: int) -> None:
        """Keep a selection; it bounds nothing until the selected marginal has been measured."""
        selection = _Selection(
            estimate=query.estimates[index] / query.grid,
            weight=query.weights[index],
            penalty=query.penalties[index] / query.grid,
            candidates=len(query.candidates),
            noise=2 * max_rows * max(query.weights) / float(query.epsilon),
        )
        self._selections.setdefault(query.candidates[index], []).append(selection)
        spend = self._spend

        def offer(position: int) -> Offer:
            evidence = _NotSelected(selection, query.weights[position], query.penalties[position] / query.grid)
            return Offer(query.estimates[position], query.grid, spend, evidence)

        self._keep(query.candidates, offer)

    def measured(self, table: NoisyTable) -> None:
        """Give the open selections of a marginal its measurement."""
        for selection in self._selections.pop(table.clique, []):
            selection.distance = float(np.abs(table.values - selection.estimate).sum())
            selection.variance = float(table.variance)

    def answered(self, query: Errors, answer: NoisyErrors) -> None:
        """Keep noisy errors."""
        deviation, spend = sqrt(query.variance), self._spend

        def offer(position: int) -> Offer:
            evidence = _NoisyError(float(answer.values[position]), deviation, query.grid)
            return Offer(query.estimates[position], query.grid, spend, evidence)

        self._keep(query.candidates, offer)

    def _keep(self, candidates: Sequence[Clique], offer: Callable[[int], Offer]) -> None:
        """Keep where each candidate's offer is; it is written out only if it is still the last at the end."""
        self._latest.update((clique, (offer, position)) for position, clique in enumerate(candidates))


@dataclass(slots=True, eq=False)
class _Selection:
    """A selection and, once it is there, the distance of the selected estimate to its measurement.

    Args:
        estimate: the selected candidate's estimate, in counts.
        weight: its weight.
        penalty: its penalty, in counts.
        candidates: how many there were.
        noise: 2Δ/ε, in weighted counts.
        distance: of the estimate to its measurement, once it is there.
        variance: of the measurement's noise.
        known: the bound for each failure probability asked for so far.

    Source:
        The exponential mechanism's utility: the selected score lies more than 2Δ/ε·(ln(candidates) + x) below the best
        with probability at most exp(−x) (McSherry and Talwar 2007; Dwork and Roth 2014, theorem 3.11).
    """

    estimate: Floats
    weight: int
    penalty: float
    candidates: int
    noise: float
    distance: float | None = None
    variance: float = 0.0
    known: dict[float, float] = field(default_factory=dict)

    def best_score(self, failure: float) -> float:
        """Bound the largest weighted excess, weight·(error − penalty) in counts, of all candidates."""
        if self.distance is None:
            return inf
        if failure not in self.known:
            half = failure / 2
            error = error_below(self.distance, self.variance, self.estimate.size, half)
            self.known[failure] = self.weight * (error - self.penalty) + self.noise * log(self.candidates / half)
        return self.known[failure]


@dataclass(frozen=True, slots=True, eq=False)
class _NotSelected:
    """A candidate's score was at most the bound on the best one."""

    selection: _Selection
    weight: int
    penalty: float

    def bound(self, failure: float) -> float:
        return max(0.0, self.penalty + self.selection.best_score(failure) / self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class _NoisyError:
    """A candidate's error was asked for: rounded Gaussian noise on an exact number of grid units."""

    units: float
    deviation: float
    grid: int

    def bound(self, failure: float) -> float:
        return max(0.0, (self.units + upper_quantile(failure) * self.deviation + 0.5) / self.grid)
