"""Tests of frequencies against exact probabilities, with a false-alarm rate that holds at every sample size."""

import math
from collections.abc import Iterable


def surprise(hits: int, trials: int, probability: float) -> float:
    """Return n·KL(hits/n ‖ p): as much or more has probability at most 2·exp(-this) (Chernoff's bound, both sides)."""
    misses = trials - hits
    result = 0.0
    if hits:
        result += hits * math.log(hits / (trials * probability)) if probability > 0 else math.inf
    if misses:
        result += misses * math.log(misses / (trials * (1 - probability))) if probability < 1 else math.inf
    return max(result, 0.0)


def any_surprising(observed: Iterable[tuple[int, float]], trials: int, rate: float) -> bool:
    """Tell whether any count contradicts its probability; false with probability at least 1 - rate for right ones.

    Args:
        observed: (hits, exact probability) of any number of events, which may depend on each other.
        trials: the number of independent draws.
        rate: false-alarm rate of all events together.
    """
    pairs = list(observed)
    threshold = math.log(2 * len(pairs) / rate)
    return any(surprise(hits, trials, probability) > threshold for hits, probability in pairs)
