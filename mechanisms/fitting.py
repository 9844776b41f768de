"""A model that grows with its measurements: fit, compare, count, and draw the synthetic rows at the end."""

from collections.abc import Sequence

import numpy as np

from accounting.canonical import Json
from accounting.queries import Clique
from mechanisms.asking import Asker
from mechanisms.base import MechanismResult
from mechanisms.bounds import Released, error_bounds
from mechanisms.fitted import FittedModel
from mechanisms.noisy import NoisyTable
from mechanisms.offers import Offers
from mechanisms.opening import Opening
from mechanisms.pgm import Measurement, Model, estimate, model_size_mb
from mechanisms.rows import TotalEstimate, estimate_total, rows_out
from mechanisms.rules import Rules

MORE_FITS = 2
"""How often a fit that used up its passes is continued."""


class Fitting:
    """Hold the measurements of a run and the model fitted to them.

    Args:
        opening: the one-way marginals, which give the domain, the coding and the first model.
    """

    def __init__(self, opening: Opening) -> None:
        self.hybrid = opening.hybrid
        self.domain = opening.domain
        self.offers = Offers()
        self._one_ways = opening.tables
        self._later: list[NoisyTable] = []
        self._zeros = Rules(opening.hybrid.schema).zeros(opening.hybrid.coding.bins)
        self.model = self._fit(None)

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The cliques measured so far, one-way marginals included."""
        return tuple(table.clique for table in self._tables)

    @property
    def structure(self) -> tuple[Clique, ...]:
        """The cliques that shape the model: the measured ones and those of the schema's constraints."""
        return (*self.cliques, *self._zeros)

    @property
    def total(self) -> TotalEstimate:
        """The number of rows, estimated from everything measured so far."""
        return estimate_total(self._tables)

    def add(self, tables: Sequence[NoisyTable]) -> float:
        """Add measurements and fit again.

        Returns:
            How far the model moved on the measured cliques: the L1 distance of its estimates before and after, in rows.
        """
        cliques = [table.clique for table in tables]
        before = self.model.marginals(cliques)
        for table in tables:
            self.offers.measured(table)
        self._later.extend(tables)
        self.model = self._fit(self.model)
        after = self.model.marginals(cliques)
        return sum(float(np.abs(new - old).sum()) for new, old in zip(after, before, strict=True))

    def release(
        self,
        asker: Asker,
        rng: np.random.Generator,
        rows: int | None,
        workload: Sequence[Clique],
        facts: dict[str, Json],
    ) -> MechanismResult:
        """Draw the synthetic rows from the model, decode them, and bound their error on the workload.

        Args:
            asker: has the transcript.
            rng: public randomness.
            rows: the declared number of rows; None takes the noisy total.
            workload: the marginals to bound; one-way marginals are bounded anyway.
            facts: public facts of the run.
        """
        output = rows_out(self.total, rows, self.hybrid.schema)
        coded = self.model.sample(output.count, rng)
        synthetic = self.hybrid.decode(coded, rng)
        final = self.hybrid.code(synthetic) if self._zeros else coded
        released = Released(final, {name: self.domain.size(name) for name in self.domain.attributes}, output.scale)
        cliques = list(dict.fromkeys([*((name,) for name in self.domain.attributes), *workload]))
        total = self.total.at_least_one
        bounds = error_bounds(cliques, self._one_ways, self._later, self.offers, released, total=total)
        notes: dict[str, Json] = {
            **facts,
            **output.facts,
            "bins": {name: self.hybrid.labels(name) for name in sorted(self.hybrid.fine)},
            "model_cliques": [list(clique) for clique in self.model.cliques],
            "model_size_mb": round(model_size_mb(self.domain, self.structure), 6),
        }
        fitted = FittedModel(self.model, self.hybrid)
        return MechanismResult(synthetic, asker.transcript, bounds, self.model, fitted, notes)

    @property
    def _tables(self) -> tuple[NoisyTable, ...]:
        return (*self._one_ways, *self._later)

    def _fit(self, start: Model | None) -> Model:
        """Fit until the solver's stopping rule is met: a model that stopped short would seem not to have moved."""
        estimated = self.total
        total = estimated.at_least_one
        measurements = [
            Measurement(table.clique, *table.given_total(total, estimated.variance))
            if table.clique[0] in self.hybrid.merged
            else Measurement(table.clique, table.values, table.sigma)
            for table in self._one_ways
        ]
        measurements += [Measurement(table.clique, table.values, table.sigma) for table in self._later]
        model = estimate(self.domain, measurements, total=total, zeros=self._zeros, warm_start=start)
        for _ in range(MORE_FITS):
            if model.converged:
                break
            model = estimate(self.domain, measurements, total=total, zeros=self._zeros, warm_start=model)
        return model
