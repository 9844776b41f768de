"""Count votes for candidates: each row votes once for each of its nearest ones (``accounting.nearest``)."""

from collections.abc import Iterable

import numpy as np

from accounting.curator.form import memory_limit
from accounting.curator.rows import CellTable
from accounting.errors import QueryRefused
from accounting.nearest import BLOCK, Features, Scores, Search, first_by_score, nearest
from accounting.nearest_tree import fastest
from accounting.queries import Ints, Votes
from accounting.schema import Schema

LARGE = 2**34
"""From so many scores on an accelerator is looked for."""


def check_vote_size(query: Votes) -> None:
    """Refuse a question whose candidates cannot be held.

    Raises:
        QueryRefused: over half of the machine's memory; nothing spent.
    """
    needed = query.candidates.shape[0] * (1 + len(query.embedding) + _classes(query)) * 16
    if needed > memory_limit():
        raise QueryRefused(f"this question needs about {needed >> 20} MiB: ask about fewer candidates")


def count_votes(
    query: Votes, cells: CellTable, schema: Schema, *, block: int = BLOCK, device: str | None = None
) -> Ints:
    """Count the votes for each candidate.

    Args:
        query: the question.
        cells: the rows that count.
        schema: the schema.
        block: how many scores are held at once; the result does not depend on it.
        device: torch's name of a device, or None for the one that :func:`_device` finds; the result does not depend
            on it.

    Returns:
        int64 counts, shape (number of candidates,), exact.

    Privacy:
        A row adds 1 to at most ``votes`` distinct counts, whatever the other rows are.
    """
    size = query.candidates.shape[0]
    counts = np.zeros(size, dtype=np.int64)
    device = device or _device(query, cells.rows)

    def on_device(features: Features, votes: int) -> Search:
        return fastest(features, votes) if device is None else _searching_on(device, features, votes)

    for _, found in nearest(query, cells.columns, cells.rows, schema, block=block, searcher=on_device):
        counts += np.bincount(found, minlength=size)
    return counts


def _device(query: Votes, rows: int) -> str | None:
    """Return an accelerator for work that takes minutes on a processor; looking for one loads torch."""
    if rows * query.candidates.shape[0] < LARGE:
        return None
    from accounting.curator.voting_torch import accelerator

    return accelerator()


def _searching_on(device: str, features: Features, votes: int) -> Search:
    from accounting.curator.voting_torch import nearest_on

    def search(factors: Scores) -> Iterable[Ints]:
        try:
            return nearest_on(device, factors, features.candidates, votes)
        except RuntimeError:  # the device's memory is short or it failed: the question is charged, so it is answered
            return first_by_score(factors @ features.candidates, votes)

    return search


def _classes(query: Votes) -> int:
    return sum(int(placement.classes.max()) + 1 for placement in query.embedding.values() if placement.apart)
