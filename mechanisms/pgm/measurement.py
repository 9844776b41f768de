"""Noisy marginals, brought into one canonical form: one entry per distinct clique, in an order of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from accounting.errors import ConfigError
from mechanisms.pgm.axes import Array, Axes
from mechanisms.pgm.domain import Clique


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """State one noisy contingency table.

    Args:
        clique: distinct attributes, at least one.
        values: noisy counts, flat or of the clique's shape, C order in the clique's own order.
        sigma: the standard deviation of the noise on each cell, in rows, above 0.

    Raises:
        ConfigError: sigma is not a positive finite number, or a value is not finite.
    """

    clique: Clique
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64 | np.int64]]
    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", tuple(self.clique))
        object.__setattr__(self, "values", np.asarray(self.values))
        if not self.clique or len(set(self.clique)) != len(self.clique):
            raise ConfigError(f"measurement of {self.clique}: a clique holds distinct attributes, at least one")
        if isinstance(self.sigma, bool) or not isfinite(self.sigma) or self.sigma <= 0:
            raise ConfigError(f"measurement of {self.clique}: sigma is a finite number above 0")
        if self.values.dtype.kind not in "iuf" or not np.isfinite(self.values).all():
            raise ConfigError(f"measurement of {self.clique}: the values are finite numbers")


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """All measurements of one clique as one: the inverse-variance mean.

    Args:
        mask: the clique in the inner numbering.
        values: flat, inner order.
        sigma: its standard deviation.
        spread: Σ (answer - mean)²/(2σ²) over the combined answers: a part of every model's loss.
    """

    mask: int
    values: Array
    sigma: float
    spread: float = 0.0


def targets(axes: Axes, measurements: Sequence[Measurement]) -> tuple[Target, ...]:
    """Combine the measurements of equal cliques; the result does not depend on the order given."""
    by_mask: dict[int, list[tuple[float, Array]]] = {}
    for measurement in measurements:
        shape = axes.domain.shape(measurement.clique)
        if measurement.values.shape not in (shape, (axes.domain.cells(measurement.clique),)):
            raise ConfigError(
                f"measurement of {measurement.clique}: {measurement.values.shape} values for a table of shape {shape}"
            )
        table = axes.inward(measurement.values.reshape(shape).astype(np.float64), measurement.clique)
        by_mask.setdefault(axes.mask(measurement.clique), []).append((float(measurement.sigma), table.ravel()))
    return tuple(_combine(mask, by_mask[mask]) for mask in sorted(by_mask))


def _combine(mask: int, answers: list[tuple[float, Array]]) -> Target:
    if len(answers) == 1:
        sigma, values = answers[0]
        return Target(mask, values, sigma)
    answers.sort(key=lambda answer: (answer[0], answer[1].tobytes()))
    smallest = answers[0][0]
    weights = [(smallest / sigma) ** 2 for sigma, _ in answers]
    total = sum(weights)
    mean = sum((weight / total * values for weight, (_, values) in zip(weights, answers, strict=True)), np.zeros(1))
    spread = sum(float(np.square((values - mean) / sigma).sum()) / 2 for sigma, values in answers)
    return Target(mask, mean, smallest / total**0.5, spread)


def measured_total(parts: Sequence[Target], possible: Sequence[Array | None]) -> float:
    """Return the inverse-variance mean of the measured totals, at least 1.

    Args:
        parts: the measurements; one of n possible cells has a total of variance n·σ².
        possible: 1.0 at the possible cells of each, or None for all; impossible ones hold only noise.
    """
    if not parts:
        return 1.0
    smallest = min(part.sigma for part in parts)
    weighted, weights = 0.0, 0.0
    for part, support in zip(parts, possible, strict=True):
        cells = part.values.size if support is None else int(support.sum())
        total = float(part.values.sum() if support is None else (part.values * support).sum())
        weight = (smallest / part.sigma) ** 2 / cells
        weighted += weight * total
        weights += weight
    return max(1.0, weighted / weights)
