"""The same votes on an accelerator, where torch finds one: equal to the NumPy kernel, ties included.

Every score is an integer that float32 (or float64) holds exactly, so that another order of adding changes nothing;
reduced-precision products (TF32) are off. The nearest candidate is found as the smallest number among those of smallest
score, which does not depend on how a device breaks ties.
"""

from typing import Any

import numpy as np

from accounting.queries import Ints


def accelerator() -> str | None:
    """Return the name of a device that holds both precisions, or None."""
    import torch

    return "cuda" if torch.cuda.is_available() else None


def nearest_on(device: str, rows: Any, candidates: Any, votes: int) -> Ints:  # noqa: ANN401  # NumPy's float factors
    """Return each row's nearest candidates, int64, shape (votes, rows).

    Args:
        device: torch's name of the device.
        rows: the rows' factors, shape (rows, features).
        candidates: the candidates' factors, shape (features, candidates).
        votes: how many, at most the number of candidates.
    """
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    scores = torch.from_numpy(np.ascontiguousarray(rows)).to(device) @ torch.from_numpy(candidates).to(device)
    numbers = torch.arange(scores.shape[1], device=device)
    beyond = torch.tensor(scores.shape[1], device=device)
    found = []
    for _ in range(votes):
        smallest = scores.amin(dim=1, keepdim=True)
        nearest = torch.where(scores == smallest, numbers, beyond).amin(dim=1)
        scores.scatter_(1, nearest[:, None], torch.inf)
        found.append(nearest.cpu().numpy())
    return np.array(found)
