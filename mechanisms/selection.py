"""Build a selection: the model's estimates of the candidates on a public grid fine enough for the noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil, log2, pi, sqrt
from typing import cast

import numpy as np
import numpy.typing as npt

from accounting.queries import ESTIMATE_LIMIT, MAX_GRID, Clique, Select, Selected
from mechanisms.asking import Asker
from mechanisms.fitting import Fitting

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EXPECTED_NOISE = sqrt(2 / pi)
"""The mean of |z| for standard Gaussian z: a cell's expected contribution to the L1 norm of pure noise."""

_SCORE_BITS = 61


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one selection.

    Args:
        cliques: the marginals that may be selected.
        weights: one whole number each.
        cells: the number of cells of each.
    """

    cliques: tuple[Clique, ...]
    weights: tuple[int, ...]
    cells: tuple[int, ...]

    def penalties(self, sigma: float) -> tuple[float, ...]:
        """Return each candidate's expected L1 norm of the noise that measuring it at σ would bring, in counts."""
        return tuple(EXPECTED_NOISE * sigma * cells for cells in self.cells)


def select_worst(asker: Asker, pool: Pool, fitting: Fitting, *, epsilon: Fraction, sigma: float, max_rows: int) -> int:
    """Select the candidate whose weighted L1 error most exceeds the noise that measuring it would bring.

    Args:
        asker: pays for the question.
        pool: the candidates.
        fitting: the model, which gives the estimates, and its bins.
        epsilon: the selection's ε.
        sigma: the standard deviation of the measurement to come; 0 for no penalty.
        max_rows: the unit's contribution bound, which scales the selection's noise.

    Returns:
        The candidate's position in the pool.
    """
    model = fitting.model
    noise = 2 * max_rows / float(epsilon)
    grid = fine_grid(max(pool.cells), noise, model.total, max(pool.weights))
    query = Select(
        candidates=pool.cliques,
        weights=pool.weights,
        estimates=on_grid(model.marginals(pool.cliques), grid),
        penalties=tuple(min(round(penalty * grid), ESTIMATE_LIMIT) for penalty in pool.penalties(sigma)),
        grid=grid,
        epsilon=epsilon,
        coding=fitting.hybrid.coding,
    )
    index = cast("Selected", asker.ask(query)).index
    fitting.offers.selected(query, index, max_rows)
    return index


def fine_grid(cells: int, noise: float, total: float, weight: int) -> int:
    """Return grid units per count so that rounding the estimates stays 16 times below the noise of an L1 error.

    Rounding moves an L1 error by at most cells/(2·grid) counts. Very large totals get a coarser grid, so that no
    weighted score leaves 64 bits.

    Args:
        cells: the cells of the largest candidate.
        noise: the scale of the noise on an L1 error, in counts.
        total: the model's total.
        weight: the largest weight.
    """
    bits = max(4, ceil(log2(max(8 * cells / noise, 1.0))))
    room = _SCORE_BITS - ceil(log2(2 * max(total, 1.0))) - (weight - 1).bit_length()
    return 1 << max(0, min(bits, room, MAX_GRID.bit_length() - 1))


def on_grid(estimates: Sequence[Floats], grid: int) -> tuple[Ints, ...]:
    """Round estimated counts to whole grid units."""
    flat = np.concatenate([estimate.ravel() for estimate in estimates])
    flat *= grid
    units = np.rint(flat, out=flat).astype(np.int64)
    ends = accumulate(estimate.size for estimate in estimates)
    return tuple(units[end - e.size : end].reshape(e.shape) for e, end in zip(estimates, ends, strict=True))
