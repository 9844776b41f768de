"""Randomness that two runs share: the n-th question of either one draws the same words.

Each run by itself sees fresh, uniform, independent words, so that its law is that of any run; only together do the two
hang on the same chance. Where both ask alike, their noise is then the same number by number, and the ratio of the two
transcripts' likelihoods moves together.
"""

import numpy as np
import numpy.typing as npt

from accounting.planted import Entropy

_LEAST = 16


class SharedWords:
    """An entropy source for one run after another, on the same words.

    Args:
        source: gives the words, each of them once.
    """

    def __init__(self, source: Entropy) -> None:
        self._source = source
        self._kept: list[npt.NDArray[np.uint64]] = []
        self.begin()

    @property
    def source(self) -> str:
        """The kind of source that the words come from."""
        return self._source.source

    def begin(self) -> None:
        """Begin the next run: its first question draws from the first question's words again."""
        self._question, self._taken = -1, 0

    def next_question(self) -> None:
        """Go on to the next question's words; what a question left over is not drawn by a later one."""
        self._question, self._taken = self._question + 1, 0
        if self._question == len(self._kept):
            self._kept.append(np.empty(0, dtype=np.uint64))

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the question's next words."""
        kept, end = self._kept[self._question], self._taken + count
        if kept.size < end:
            fresh = self._source.words(max(end - kept.size, _LEAST))
            kept = self._kept[self._question] = np.concatenate([kept, fresh])
        taken = kept[self._taken : end]
        self._taken = end
        return taken
