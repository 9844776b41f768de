"""Fit a graphical model to noisy marginals (Private-PGM).

Source: McKenna, Sheldon and Miklau (2019), arXiv:1901.09136.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from accounting.errors import ConfigError
from mechanisms.pgm import solver
from mechanisms.pgm.axes import Array, axes_of
from mechanisms.pgm.backends import BACKENDS, Backend
from mechanisms.pgm.domain import Clique, Domain
from mechanisms.pgm.gauge import Gauge
from mechanisms.pgm.inference import one_blas_thread
from mechanisms.pgm.measurement import Measurement, Target, measured_total, targets
from mechanisms.pgm.model import Model
from mechanisms.pgm.structure import Structure, Zeros, build, check_zeros


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """What bounds the fit; nothing here touches privacy.

    Args:
        max_passes: the most inference passes of one fit.
        tolerance: stop when the dual gradient's root mean square is below this many σ.
        improvement: stop when a proximal step lowers the loss by less than this share.
        proximal_weight: weight of the KL term, relative to 1/σ; smaller is nearer to least squares and slower.
        max_cells: the most cells of the junction tree (8 bytes each).
        backend: "numpy", "numba" (the extra ``fast``), "jax", or "auto": numba where it is installed and the model not
            tiny, and JAX for large models on an accelerator (see ``backends``).
    """

    max_passes: int = 1000
    tolerance: float = 0.1
    improvement: float = 0.03
    proximal_weight: float = 3.0
    max_cells: int = 125_000_000
    backend: Backend = "auto"

    def __post_init__(self) -> None:
        for name in ("max_passes", "max_cells"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} is an integer of at least 1")
        if self.backend not in BACKENDS:
            raise ConfigError(f"backend is one of {', '.join(BACKENDS)}")
        for name in ("tolerance", "improvement", "proximal_weight"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isfinite(value) or value <= 0:
                raise ConfigError(f"{name} is a finite number above 0")


def _problem(
    structure: Structure, parts: Sequence[Target], total: float, supports: Sequence[Array | None]
) -> solver.Problem:
    """Centre each target on the total: no model can change the rest, and it would only make potentials drift."""
    values, sigmas = [], []
    cells, floor = 0, 0.0
    for part, support in zip(parts, supports, strict=True):
        count = part.values.size if support is None else int(support.sum())
        wanted = part.values if support is None else part.values * support
        excess = float(wanted.sum()) - total
        centred = wanted - (excess / count if support is None else support * (excess / count))
        values.append(centred)
        sigmas.append(np.full(part.values.size, part.sigma))
        cells += count
        impossible = float(np.square(part.values).sum() - np.square(wanted).sum())
        floor += part.spread + (excess * excess / count + impossible) / (2.0 * part.sigma * part.sigma)
    empty = np.zeros(0)
    return solver.Problem(
        engine=structure.engine,
        gauge=Gauge(structure.axes, structure.measured, structure.support),
        values=np.concatenate([empty, *values]),
        sigma=np.concatenate([empty, *sigmas]),
        cells=cells,
        total=total,
        floor=floor,
    )


def estimate(
    domain: Domain,
    measurements: Sequence[Measurement],
    *,
    total: float | None = None,
    zeros: Zeros | None = None,
    warm_start: Model | None = None,
    structure: Iterable[Clique] | None = None,
    options: SolverOptions | None = None,
) -> Model:
    """Fit the model of maximal entropy among those that fit the noisy marginals best in weighted least squares.

    Args:
        domain: the attributes and their sizes.
        measurements: noisy contingency tables; several of one clique are combined. Their order does not matter.
        total: the number of rows; by default the inverse-variance mean of the measured totals, at least 1.
        zeros: for a clique (in its own order), a boolean table that is True at impossible cells: exactly 0 there.
        warm_start: a model whose potentials the fit starts from.
        structure: further cliques that the junction tree shall hold.
        options: bounds of the fit.

    Returns:
        the calibrated model; the same inputs give the same bits on one machine.

    Raises:
        ConfigError: shapes do not match, zeros leave no row, or the model exceeds ``options.max_cells``.

    Privacy:
        post-processing of noisy answers.
    """
    options = SolverOptions() if options is None else options
    axes = axes_of(domain)
    parts = targets(axes, measurements)
    allowed = check_zeros(axes, zeros or {})
    extra = [axes.mask(clique) for clique in structure or ()]
    masks = [part.mask for part in parts]
    shape = build(axes, masks, allowed, extra, max_cells=options.max_cells, backend=options.backend)

    supports = _supports(shape, parts)
    if total is None:
        total = measured_total(parts, supports)
    elif isinstance(total, bool) or not isfinite(total) or total <= 0:
        raise ConfigError("the total is a finite number above 0")

    if warm_start is not None and warm_start.domain != domain:
        raise ConfigError("the model to start from has another domain")
    start = np.concatenate([np.zeros(0), *(_start(part, warm_start) for part in parts)])
    with one_blas_thread():
        fit = solver.fit(
            _problem(shape, parts, float(total), supports),
            start,
            max_passes=options.max_passes,
            tolerance=options.tolerance,
            improvement=options.improvement,
            proximal_weight=options.proximal_weight,
        )
    return Model(
        shape,
        fit.theta,
        allowed,
        total=float(total),
        converged=fit.converged,
        passes=fit.passes,
        loss=fit.loss,
    )


def _supports(structure: Structure, parts: Sequence[Target]) -> list[Array | None]:
    """Return the possible cells of each target: 1.0 or 0.0, or None where all are possible."""
    if structure.support is None or not parts:
        return [None] * len(parts)
    return list(np.split(structure.support, np.cumsum([part.values.size for part in parts])[:-1]))


def _start(part: Target, warm_start: Model | None) -> Array:
    table = None if warm_start is None else warm_start.inner_potentials.get(part.mask)
    return np.zeros(part.values.size) if table is None else table.ravel()
