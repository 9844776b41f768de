"""Select parents by weights or noisy votes, group by group: by rank, or by sampling in the warm-up."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def best(votes: Ints | Floats, groups: Ints, keep: dict[int, int]) -> Ints:
    """Return the candidates of most weight: in each group as many as ``keep`` says; the earlier of equal ones first.

    Args:
        votes: weights, or noisy votes, shape (candidates,).
        groups: each candidate's group, shape (candidates,).
        keep: group → number, at most the group's size.
    """
    order = np.argsort(-votes, kind="stable")
    chosen = [order[groups[order] == group][:number] for group, number in keep.items()]
    return np.concatenate([np.empty(0, dtype=np.int64), *chosen])


def sample(votes: Ints | Floats, groups: Ints, keep: dict[int, int], rng: np.random.Generator) -> Ints:
    """Draw candidates with replacement by their positive votes; uniformly where a group has none.

    Args:
        votes: weights, or noisy votes, shape (candidates,).
        groups: each candidate's group, shape (candidates,).
        keep: group → number.
        rng: public randomness.
    """
    chosen = [np.empty(0, dtype=np.int64)]
    for group, number in keep.items():
        members = np.flatnonzero(groups == group)
        weights = np.maximum(votes[members], 0).astype(np.float64)
        shares = weights / weights.sum() if weights.any() else None
        chosen.append(rng.choice(members, number, p=shares))
    return np.concatenate(chosen)
