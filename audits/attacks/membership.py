"""Membership: are private rows nearer to the synthetic ones than held-out rows are?"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from accounting.schema import Schema
from audits.attacks.distances import nearest, row_count, sampled
from audits.pairs import Ticks
from audits.results import Figure, NotComputable, Result
from audits.statistics import wilson

Floats = npt.NDArray[np.float64]

_LEAST = 20


@dataclass(frozen=True, slots=True)
class Membership:
    """A membership attack: AUC (0.5 is guessing) and the true positive rate at 1 % false positives, with intervals."""

    auc: Result
    tpr_at_one_percent: Result


def membership(
    schema: Schema, private: Ticks, holdout: Ticks, synthetic: Ticks, rng: np.random.Generator, *, most: int = 1000
) -> Membership:
    """Tell private rows from held-out ones by their distance to the nearest synthetic row."""
    if row_count(synthetic) == 0:
        return _none("there are no synthetic rows")
    members, others = sampled(private, most, rng), sampled(holdout, most, rng)
    if min(row_count(members), row_count(others)) < _LEAST:
        return _none(f"the attack needs at least {_LEAST} private and {_LEAST} held-out rows")
    names = tuple(column.name for column in schema.columns)
    inside, outside = (-nearest(schema, rows, synthetic, names)[0] for rows in (members, others))
    return Membership(auc_of(inside, outside), tpr_of(inside, outside, rng))


def positive_control(
    schema: Schema, private: Ticks, holdout: Ticks, synthetic: Ticks, rng: np.random.Generator, *, most: int = 1000
) -> Membership:
    """Run the same attack on a copy of the synthetic table with the private rows planted: it must succeed."""
    members = sampled(private, most, rng)
    planted = {name: np.concatenate([synthetic[name], members[name]]) for name in synthetic}
    return membership(schema, members, holdout, planted, rng, most=most)


def auc_of(inside: Floats, outside: Floats) -> Figure:
    """Return the area under the curve with a 95 % interval for the largest variance that it permits.

    Source:
        Birnbaum and Klose 1957: the variance is at most A·(1 − A)/min(n, m), that of a proportion in so many trials.
    """
    from scipy.stats import rankdata

    n, m = inside.size, outside.size
    ranks = rankdata(np.concatenate([inside, outside]))[:n].sum()
    area = float((ranks - n * (n + 1) / 2) / (n * m))
    trials = min(n, m)
    return Figure(area, *wilson(area * trials, trials, 0.05))


def tpr_of(inside: Floats, outside: Floats, rng: np.random.Generator) -> Figure:
    """Return the share of members above the score that 1 % of the others reach; ties are split at random."""
    scores = np.concatenate([inside, outside])
    jitter = rng.random(scores.size)
    order = np.lexsort((jitter, scores))[::-1]
    is_outside = order >= inside.size
    allowed = int(0.01 * outside.size)
    before = np.cumsum(is_outside) <= allowed
    hits = int((before & ~is_outside).sum())
    low, high = wilson(hits, inside.size, 0.05)
    return Figure(hits / inside.size, low, high)


def _none(reason: str) -> Membership:
    return Membership(NotComputable(reason), NotComputable(reason))
