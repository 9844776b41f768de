"""One uniform number in [0, 1), known to as many bits as were needed so far."""

from collections.abc import Callable

from accounting.noise.entropy import Entropy

MARGIN_BITS = 16
"""Bits by which a bound is computed more finely than the uniform is known, so that its width hardly ever matters."""


class LazyUniform:
    """A uniform number U in [prefix, prefix + 1]·2^-bits whose further bits are drawn when a comparison needs them.

    The draw is extended and never begun again, so comparing it more finely does not change its law.

    Args:
        prefix: the leading bits that were drawn.
        bits: how many they are.
        entropy: where further words come from.
    """

    __slots__ = ("_entropy", "bits", "prefix")

    def __init__(self, prefix: int, bits: int, entropy: Entropy) -> None:
        self.prefix = prefix
        self.bits = bits
        self._entropy = entropy

    def extend(self) -> None:
        """Append one fresh word to the known bits."""
        self.prefix = self.prefix << 64 | int(self._entropy.words(1)[0])
        self.bits += 64

    def is_below(self, bounds: Callable[[int], tuple[int, int]]) -> bool:
        """Decide U < c exactly, for a constant c that is known by its enclosures.

        Args:
            bounds: returns integers (low, high) with low ≤ c·2^precision ≤ high for the precision it is given.

        Edge cases:
            U = c has probability 0; as long as the drawn bits agree with c, more are drawn.
        """
        while True:
            low, high = bounds(self.bits + MARGIN_BITS)
            if (self.prefix + 1) << MARGIN_BITS <= low:
                return True
            if self.prefix << MARGIN_BITS >= high:
                return False
            self.extend()
