"""The numba backend: contraction programs as numbers for one compiled interpreter."""

from collections.abc import Sequence

from mechanisms.pgm import kernels
from mechanisms.pgm.axes import Array, Axes
from mechanisms.pgm.contraction import Contraction
from mechanisms.pgm.inference import VANISHED, Engine
from mechanisms.pgm.strides import encode


class NumbaEngine(Engine):
    """Run contraction programs in the compiled interpreter; a new structure is only a new array of numbers."""

    def _prepare(self) -> None:
        self._up = encode(self._axes, self._program.upward)
        self._down = encode(self._axes, self._program.downward)

    def _propagate(self) -> bool:
        return bool(kernels.propagate(self._work, self._up, self._down, self._scales, VANISHED))

    @staticmethod
    def execute(axes: Axes, steps: Sequence[Contraction], work: Array, source: Array) -> None:
        """Run contractions without scaling; first operands come from ``source`` where it is not ``work``."""
        kernels.execute(work, source, encode(axes, steps))
