"""An AIM loop of our own over mbi 2.0.0's oracles and estimation: the peer of ``benchmarks.aim``.

The wheel holds no AIM. The loop follows the paper: score all candidates by variable elimination, filter them by the
hypothetical model size, measure, estimate again by mirror descent from the last potentials.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Clique = tuple[str, ...]
Floats = npt.NDArray[np.float64]

ITERATIONS = 1000
MEGABYTES = 80.0


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A noisy marginal.

    Args:
        clique: its columns.
        values: noisy counts, shaped as the clique's table.
        sigma: the noise's standard deviation.
    """

    clique: Clique
    values: Floats
    sigma: float


class Peer:
    """mbi's estimation over one domain, warm-started from round to round.

    Args:
        sizes: the number of cells of each column.
        measured: the first measurements.
    """

    def __init__(self, sizes: Mapping[str, int], measured: Sequence[Measured]) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mbi
        self._mbi: Any = mbi
        self.domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
        self.measured = list(measured)
        self.model: Any = None

    def estimate(self, iterations: int = ITERATIONS) -> float:
        """Estimate from all measurements; return the seconds it took."""
        start = time.perf_counter()
        measurements = [
            self._mbi.LinearMeasurement(item.values.ravel(), item.clique, item.sigma) for item in self.measured
        ]
        estimator = self._mbi.estimation.MirrorDescent()
        self.model = estimator.estimate(self.domain, measurements, iters=iterations, warm_start=self.model)
        return time.perf_counter() - start

    def marginal(self, clique: Clique) -> Floats:
        """Return the model's expected counts."""
        return np.asarray(self.model.project(clique).datavector(flatten=False), dtype=np.float64)

    def loss_of(self, marginal: Callable[[Clique], Floats]) -> float:
        """Return Σ (μ − y)²/(2σ²) over all measurements for the marginals μ of any model."""
        terms = (np.square(marginal(item.clique) - item.values).sum() / (2 * item.sigma**2) for item in self.measured)
        return float(sum(terms))

    def score(self, candidates: Sequence[Clique], limit: float = MEGABYTES) -> tuple[float, list[Floats]]:
        """Filter candidates by size and estimate each by variable elimination; return the seconds and the estimates."""
        start = time.perf_counter()
        sizes = [
            self._mbi.junction_tree.hypothetical_model_size(self.domain, [*self.model.cliques, clique])
            for clique in candidates
        ]
        kept = [clique for clique, size in zip(candidates, sizes, strict=True) if size <= limit]
        vector = self._mbi.marginal_oracles.bulk_variable_elimination(self.model.potentials, kept, self.model.total)
        estimates = [np.asarray(vector[clique].datavector(flatten=False)) for clique in kept]
        return time.perf_counter() - start, estimates
