"""A paid, noisy contingency table as a mechanism keeps it: its counts, and how much noise each cell holds."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
import numpy.typing as npt

from accounting.queries import Clique

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTable:
    """A noisy contingency table, measured or summed from a measured one.

    Args:
        clique: the columns, in schema order.
        values: noisy counts, int64, shaped as the clique's table.
        variance: σ² of one draw of noise.
        draws: how many independent draws of noise each cell holds, int64, of the same shape.
    """

    clique: Clique
    values: Ints
    variance: Fraction
    draws: Ints

    @staticmethod
    def measured(clique: Clique, values: Ints, variance: Fraction) -> "NoisyTable":
        """Take a table as it was answered: one draw in each cell."""
        return NoisyTable(clique, values, variance, np.ones_like(values))

    @property
    def sigma(self) -> float:
        """The root mean square of the cells' standard deviations."""
        return sqrt(self.variance * int(self.draws.sum()) / self.draws.size)

    def given_total(self, total: float, variance: float) -> tuple[npt.NDArray[np.float64], float]:
        """Correct the cells by what is known of their sum: the noisier a cell, the more of the difference it takes.

        A cell that sums very many others would otherwise drown what is known of the rest.

        Args:
            total: an estimate of the sum, in rows.
            variance: its variance, taken as independent of this table's.

        Returns:
            The corrected counts, and the root mean square of their standard deviations.
        """
        noise = float(self.variance) * self.draws
        share = noise / (noise.sum() + variance)
        left = noise * (1.0 - share)
        return self.values + share * (total - float(self.values.sum())), sqrt(float(left.mean()))

    def marginal(self, clique: Clique) -> "NoisyTable":
        """Sum out the columns that a smaller clique does not have."""
        axes = tuple(axis for axis, name in enumerate(self.clique) if name not in clique)
        return NoisyTable(clique, self.values.sum(axis=axes), self.variance, self.draws.sum(axis=axes))

    def grouped(self, numbers: npt.NDArray[np.integer]) -> "NoisyTable":
        """Sum the cells of a one-way table that have the same number (0, 1, … without gaps)."""
        values = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
        draws = np.zeros_like(values)
        np.add.at(values, numbers, self.values)
        np.add.at(draws, numbers, self.draws)
        return NoisyTable(self.clique, values, self.variance, draws)
