"""Intervals of figures about two tables: a grouped jackknife over their rows.

Rows are put into groups at random, and a figure is computed again without each group. How far it moves says how far it
would move if other rows of the same two populations were there. The rows of one person are taken for independent.
"""

import math

import numpy as np
import numpy.typing as npt

from audits.results import Figure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

GROUPS = 20
NORMAL_95 = 1.959964
"""The two-sided 95 % quantile of the normal distribution."""


def groups_of(rows: int, groups: int, seed: int = 0) -> Ints:
    """Return each row's group, from 0; all groups are of equal size, up to one row."""
    return np.random.default_rng(seed).permutation(rows) % groups


def group_count(*sizes: int) -> int:
    """Return into how many groups tables of these sizes are put; 0 where a table has fewer than two rows."""
    groups = min(GROUPS, *sizes)
    return groups if groups > 1 else 0


def jackknife(whole: float, without: Floats, *, low: float = 0.0, high: float = math.inf) -> Figure:
    """Return a figure with its 95 % interval.

    Args:
        whole: the figure of all rows.
        without: the figure without each group; empty where there are too few rows, and then there is no interval.
        low: the least value that the figure can have.
        high: the largest.

    Source:
        Efron and Tibshirani 1993, chapter 11, with groups in the place of single rows.
    """
    if not without.size:
        return Figure(whole)
    deviation = math.sqrt((without.size - 1) / without.size * float(((without - without.mean()) ** 2).sum()))
    return Figure(whole, max(low, whole - NORMAL_95 * deviation), min(high, whole + NORMAL_95 * deviation))
