"""Build a selection: the model's estimates of the candidates on a public grid fine enough for the noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt
from typing import cast

import numpy as np
import numpy.typing as npt

from accounting.queries import ESTIMATE_LIMIT, MAX_GRID, Clique, Coding, Select, Selected
from mechanisms.asking import Asker
from mechanisms.pgm import Model

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


def select_worst(
    asker: Asker, pool: Pool, model: Model, epsilon: Fraction, sigma: float, coding: Coding, max_rows: int
) -> int:
    """Select the candidate whose weighted L1 error most exceeds the noise that measuring it would bring.

    Args:
        asker: pays for the question.
        pool: the candidates.
        model: gives the estimates.
        epsilon: the selection's ε.
        sigma: the standard deviation of the measurement to come; 0 for no penalty.
        coding: the model's bins.
        max_rows: the unit's contribution bound, which scales the selection's noise.

    Returns:
        The candidate's position in the pool.
    """
    estimates = model.marginals(pool.cliques)
    grid = fine_grid(max(pool.cells), float(epsilon), max_rows, model.total, max(pool.weights))
    penalties = tuple(round(EXPECTED_NOISE * sigma * cells * grid) for cells in pool.cells)
    query = Select(
        candidates=pool.cliques,
        weights=pool.weights,
        estimates=on_grid(estimates, grid),
        penalties=tuple(min(penalty, ESTIMATE_LIMIT) for penalty in penalties),
        grid=grid,
        epsilon=epsilon,
        coding=coding,
    )
    return cast("Selected", asker.ask(query)).index


def fine_grid(cells: int, epsilon: float, max_rows: int, total: float, weight: int) -> int:
    """Return grid units per count so that rounding the estimates stays 16 times below the selection's noise.

    Rounding moves an L1 error by at most cells/(2·grid) counts; the noise of a selection is 2·max_rows/ε counts. Very
    large totals get a coarser grid, so that no score leaves 64 bits.
    """
    wanted = 4 * cells * epsilon / max_rows
    bits = max(4, int(np.ceil(np.log2(max(wanted, 1.0)))))
    room = _SCORE_BITS - int(np.ceil(np.log2(2 * max(total, 1.0)))) - (weight - 1).bit_length()
    return 1 << max(0, min(bits, room, MAX_GRID.bit_length() - 1))


def on_grid(estimates: Sequence[Floats], grid: int) -> tuple[Ints, ...]:
    """Round estimated counts to whole grid units."""
    return tuple(np.rint(estimate * grid).astype(np.int64) for estimate in estimates)
