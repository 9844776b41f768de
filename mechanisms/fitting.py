"""A model that grows with its measurements: fit, compare, count, and draw the synthetic rows at the end."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from accounting.canonical import Json
from accounting.queries import Clique
from mechanisms.asking import Asker
from mechanisms.base import MechanismResult
from mechanisms.opening import Opening
from mechanisms.pgm import Measurement, Model, estimate, model_size_mb
from mechanisms.rows import TotalEstimate, estimate_total, rows_out


class Fitting:
    """Hold the measurements of a run and the model fitted to them.

    Args:
        opening: the one-way marginals, which give the domain, the coding and the first model.
    """

    def __init__(self, opening: Opening) -> None:
        self.hybrid = opening.hybrid
        self.domain = opening.domain
        self._measurements = list(opening.measurements)
        self._tables = list(opening.tables)
        self.model = self._fit(None)

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The cliques measured so far, one-way marginals included."""
        return tuple(measurement.clique for measurement in self._measurements)

    @property
    def total(self) -> TotalEstimate:
        """The number of rows, estimated from everything measured so far."""
        return estimate_total(self._tables)

    def add(self, clique: Clique, table: npt.NDArray[np.int64], variance: Fraction) -> float:
        """Add a measurement and fit again.

        Returns:
            How far the model moved on the measured clique: the L1 distance of its estimates before and after, in rows.
        """
        before = self.model.marginal(clique)
        self.add_all(((clique, table),), variance)
        return float(np.abs(self.model.marginal(clique) - before).sum())

    def add_all(self, tables: Sequence[tuple[Clique, npt.NDArray[np.int64]]], variance: Fraction) -> None:
        """Add several measurements of equal noise and fit again."""
        for clique, table in tables:
            self._measurements.append(Measurement(clique, table, float(variance) ** 0.5))
            self._tables.append((table, variance))
        self.model = self._fit(self.model)

    def release(
        self, asker: Asker, rng: np.random.Generator, rows: int | None, facts: dict[str, Json]
    ) -> MechanismResult:
        """Draw the synthetic rows from the model and decode them."""
        count, row_facts = rows_out(self.total, rows, self.hybrid.schema)
        synthetic = self.hybrid.decode(self.model.sample(count, rng), rng)
        notes: dict[str, Json] = {
            **facts,
            **row_facts,
            "bins": {name: self.hybrid.cells(name) for name in sorted(self.hybrid.fine)},
            "model_cliques": [list(clique) for clique in self.model.cliques],
            "model_size_mb": round(model_size_mb(self.domain, self.cliques), 6),
        }
        return MechanismResult(synthetic, asker.transcript, self.model, notes)

    def _fit(self, warm_start: Model | None) -> Model:
        total = max(self.total.value, 1.0)
        return estimate(self.domain, self._measurements, total=total, warm_start=warm_start)
