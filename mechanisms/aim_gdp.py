"""AIM-GDP: AIM whose rounds choose by noisy errors of the most promising candidates: every question is Gaussian."""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap, Law
from accounting.events import gaussian_variance
from accounting.queries import Clique, Errors, NoisyErrors
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms import options
from mechanisms.adaptive import Adaptive, AdaptiveConfig
from mechanisms.asking import Asker
from mechanisms.fitting import Fitting
from mechanisms.rounds import Choose
from mechanisms.selection import Pool, fine_grid, on_grid


@dataclass(frozen=True, slots=True)
class AIMGDPConfig(AdaptiveConfig):
    """Configure AIM-GDP: the options of :class:`AdaptiveConfig` and one more.

    Args:
        max_candidates: how many of the most promising candidates a round asks about.
    """

    max_candidates: int = 16

    def __post_init__(self) -> None:
        AdaptiveConfig.__post_init__(self)
        options.whole(self.max_candidates, "max_candidates", 1, 4096)

    def calibrate(self, cap: Cap, unit: PrivacyUnit, schema: Schema) -> "AIMGDP":
        """Bind to a release's cap.

        Raises:
            ConfigError: the workload names an unknown column or is too large, with the figure; nothing spent.
        """
        draft = self._draft(cap, schema, "errors", "the errors of the most promising marginals")
        return AIMGDP(self, cap, unit, schema, draft)


@dataclass(frozen=True, slots=True)
class AIMGDP(Adaptive):
    """AIM-GDP, bound to a cap, a unit and a schema."""

    config: AIMGDPConfig

    def _chooser(self) -> Choose:
        return _NoisyErrors(self.draft.candidates.cliques, self.config.max_candidates, self.cap.law, self.unit.max_rows)


class _NoisyErrors:
    """Choose by noisy errors: the first round asks about every candidate, later ones about the most promising."""

    def __init__(self, candidates: tuple[Clique, ...], most: int, law: Law, max_rows: int) -> None:
        self._candidates = candidates
        self._most = most
        self._law = law
        self._max_rows = max_rows
        self._known: dict[Clique, float] = {}

    def __call__(self, asker: Asker, fitting: Fitting, pool: Pool, amount: Fraction, sigma: float) -> int:
        if not self._known:
            self._ask(asker, fitting, self._candidates, amount)
            return int(np.argmax(self._scores(pool, sigma)))
        best = np.argsort(-self._scores(pool, sigma), kind="stable")[: self._most]
        self._ask(asker, fitting, tuple(pool.cliques[index] for index in sorted(best.tolist())), amount)
        scores = self._scores(pool, sigma)
        return int(best[np.argmax(scores[best])])

    def _ask(self, asker: Asker, fitting: Fitting, cliques: tuple[Clique, ...], amount: Fraction) -> None:
        sensitivity_squared = Fraction(self._max_rows**2 * len(cliques))
        noise = float(gaussian_variance(sensitivity_squared, amount, self._law)) ** 0.5
        grid = fine_grid(max(map(fitting.domain.cells, cliques)), noise, fitting.model.total, 1)
        query = Errors(
            candidates=cliques,
            estimates=on_grid(fitting.model.marginals(cliques), grid),
            grid=grid,
            variance=gaussian_variance(sensitivity_squared * grid**2, amount, self._law),
            coding=fitting.hybrid.coding,
        )
        answer = cast("NoisyErrors", asker.ask(query))
        fitting.offers.answered(query, answer)
        self._known.update(zip(cliques, (answer.values / grid).tolist(), strict=True))

    def _scores(self, pool: Pool, sigma: float) -> npt.NDArray[np.float64]:
        known = np.array([self._known[clique] for clique in pool.cliques])
        scores: npt.NDArray[np.float64] = np.array(pool.weights) * (known - np.array(pool.penalties(sigma)))
        return scores
