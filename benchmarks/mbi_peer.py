"""An AIM loop of our own over mbi 2.0.0's oracles and estimation: the peer in ``benchmarks.aim`` and ``.quality``.

The wheel holds no AIM. The loop follows the paper: score all candidates by variable elimination, filter them by the
hypothetical model size, measure, estimate again by mirror descent from the last potentials. Its noise is NumPy's: it
never leaves a benchmark.
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
        self.scored: tuple[Clique, ...] = ()

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
        self.scored = tuple(kept)
        estimates = [np.asarray(vector[clique].datavector(flatten=False)) for clique in kept]
        return time.perf_counter() - start, estimates

    def rows(self, count: int) -> dict[str, npt.NDArray[np.int64]]:
        """Draw synthetic rows."""
        data = self.model.synthetic_data(rows=count)
        return {name: np.asarray(data.to_dict()[name], dtype=np.int64) for name in self.domain.attributes}


def aim(
    counts: Callable[[Clique], Floats],
    sizes: Mapping[str, int],
    weights: Mapping[Clique, float],
    *,
    rho: float,
    rounds: int,
    rng: np.random.Generator,
) -> Peer:
    """Run AIM as the paper has it (alpha 0.9, annealing by 4, last round spends the rest) over mbi.

    Args:
        counts: the exact table of a clique.
        sizes: the number of cells of each column.
        weights: the candidates and their weights.
        rho: the budget.
        rounds: T, at least 2 more than the number of columns.
        rng: the noise.
    """
    columns = [(name,) for name in sizes]
    sigma, epsilon = np.sqrt(rounds / (2 * 0.9 * rho)), np.sqrt(8 * 0.1 * rho / rounds)

    def noisy(clique: Clique) -> Measured:
        table = counts(clique)
        return Measured(clique, table + rng.normal(0, sigma, table.shape), float(sigma))

    peer = Peer(sizes, [noisy(clique) for clique in columns])
    peer.estimate()
    used = len(columns) * 0.5 / sigma**2
    last = False
    while not last:
        price = 0.5 / sigma**2 + epsilon**2 / 8
        last = rho - used < 2 * price
        if last:
            sigma, epsilon = np.sqrt(1 / (2 * 0.9 * (rho - used))), np.sqrt(8 * 0.1 * (rho - used))
            price = rho - used
        used += price
        _, estimates = peer.score(list(weights), MEGABYTES * used / rho)
        kept = [clique for clique in weights if clique in peer.scored]
        noise = np.sqrt(2 / np.pi) * sigma
        scores = np.array(
            [
                weights[clique] * (np.abs(counts(clique) - estimate).sum() - noise * estimate.size)
                for clique, estimate in zip(kept, estimates, strict=True)
            ]
        )
        scaled = scores * epsilon / (2 * max(weights.values()))
        chosen = kept[int(np.argmax(scaled + rng.gumbel(size=scaled.size)))]
        before = peer.marginal(chosen)
        peer.measured.append(noisy(chosen))
        peer.estimate()
        if np.abs(peer.marginal(chosen) - before).sum() <= noise * before.size:
            sigma, epsilon = sigma / 2, epsilon * 2
    return peer
