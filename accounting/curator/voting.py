"""Nearest-neighbour votes in exact integers: a row's votes depend on that row and the public candidates only.

A squared distance, less what all candidates share, is one row of a matrix product: for a row x and a candidate c

    score = Σ u(c)² − 2·Σ u(x)·u(c) − Σ apart·[class of x = class of c]

over the placed columns. Every factor is an integer, and every partial sum, in whatever order and grouping a library
adds it up, is an integer of size at most the question's ``reach``. Below 2^24 float32 holds all of them exactly, below
2^53 float64 does, with or without fused multiply-add. So the scores are exact whatever the blocks, threads and devices,
and removing a row changes no other row's votes. With rounded distances it could: the libraries' blocking depends on all
rows.

The nearest candidate is the first of smallest score, the next one the first of the rest, so that ties go by the
candidates' public order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from accounting.curator.form import memory_limit
from accounting.curator.rows import CellTable
from accounting.errors import QueryRefused
from accounting.queries import Ints, Placement, Votes
from accounting.schema import Schema

Scores: TypeAlias = npt.NDArray[np.floating[Any]]

EXACT_SINGLE = 2**24
"""Below it float32 holds every whole number."""

BLOCK = 2**21
"""Scores that are held at once: 8 MB in float32, which stays near the processor's cache."""


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
    counts = np.zeros(query.candidates.shape[0], dtype=np.int64)
    device = device or _device(query, cells.rows)
    for members, rows in _groups(query, cells, schema):
        votes = min(query.votes, members.size)
        features = Features(query, members, schema)
        step = max(1, block // max(members.size, features.width))
        for start in range(0, rows.size, step):
            chosen = rows[start : start + step]
            factors = features.of_rows(cells, chosen)
            for nearest in _found(factors, features.candidates, votes, device):
                counts[members] += np.bincount(nearest, minlength=members.size)
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """The factors of one placed column.

    Args:
        name: the column.
        place: the place of its coordinate among the factors.
        coordinates: each cell's coordinate.
        classes: each cell's place among the factors of classes; the spare last place for a class no candidate has.
    """

    name: str
    place: int
    coordinates: Scores
    classes: Ints


class Features:
    """The factors of the scores for one group of candidates.

    Args:
        query: the question.
        members: the candidates' numbers.
        schema: the schema.
    """

    def __init__(self, query: Votes, members: Ints, schema: Schema) -> None:
        self.dtype = np.dtype(np.float32 if query.reach < EXACT_SINGLE else np.float64)
        position = {column.name: index for index, column in enumerate(schema.columns)}
        squares = np.zeros(members.size, dtype=np.int64)
        factors: list[Ints] = [squares]
        columns = []
        for name, placement in query.embedding.items():
            mine = query.candidates[members, position[name]]
            line = placement.coordinates.astype(np.int64)[mine]
            squares += line * line
            place = len(factors)
            factors.append(-2 * line)
            classes = _class_factors(placement, mine, factors)
            columns.append(_Column(name, place, placement.coordinates.astype(self.dtype), classes))
        self.width = len(factors)
        self.candidates: Scores = np.array(factors).astype(self.dtype)
        self._columns = tuple(columns)

    def of_rows(self, cells: CellTable, rows: Ints) -> Scores:
        """Return the factors of some private rows, shape (rows, features)."""
        factors = np.zeros((rows.size, self.width + 1), dtype=self.dtype)
        factors[:, 0] = 1
        index = np.arange(rows.size)
        for column in self._columns:
            mine = cells.columns[column.name][rows]
            factors[:, column.place] = column.coordinates[mine]
            factors[index, column.classes[mine]] = 1
        return factors[:, : self.width]


def _class_factors(placement: Placement, mine: npt.NDArray[np.int32], factors: list[Ints]) -> Ints:
    """Add one factor for each class that a candidate has; return each cell's place, −1 for every other class."""
    if placement.apart == 0:
        return np.full(placement.classes.size, -1)
    classes = placement.classes[mine]
    present = np.unique(classes)
    first = len(factors)
    factors.extend(-placement.apart * (classes == one) for one in present)
    found = np.minimum(np.searchsorted(present, placement.classes), present.size - 1)
    places: Ints = np.where(present[found] == placement.classes, first + found, -1)
    return places


def _groups(query: Votes, cells: CellTable, schema: Schema) -> Iterator[tuple[Ints, Ints]]:
    """Yield the candidates and the rows that vote for them, group by group."""
    if query.within is None:
        yield np.arange(query.candidates.shape[0]), np.arange(cells.rows)
        return
    place = [column.name for column in schema.columns].index(query.within)
    group = cells.columns[query.within]
    for cell in np.unique(query.candidates[:, place]):
        yield np.flatnonzero(query.candidates[:, place] == cell), np.flatnonzero(group == cell)


def _device(query: Votes, rows: int) -> str | None:
    """Return an accelerator for work that takes minutes on a processor; looking for one loads torch."""
    if rows * query.candidates.shape[0] < LARGE:
        return None
    from accounting.curator.voting_torch import accelerator

    return accelerator()


def _found(factors: Scores, candidates: Scores, votes: int, device: str | None) -> Iterable[Ints]:
    if device is None:
        return _nearest(factors @ candidates, votes)
    from accounting.curator.voting_torch import nearest_on

    try:
        return nearest_on(device, factors, candidates, votes)
    except RuntimeError:  # the device's memory is short or it failed: the question is charged, so it is answered here
        return _nearest(factors @ candidates, votes)


def _nearest(scores: Scores, votes: int) -> Iterator[Ints]:
    """Yield each row's nearest candidate, then its second nearest, and so on; ``scores`` is used up."""
    index = np.arange(scores.shape[0])
    for _ in range(votes):
        nearest = scores.argmin(axis=1)  # the first of equal ones
        yield nearest
        scores[index, nearest] = np.inf


def _classes(query: Votes) -> int:
    return sum(int(placement.classes.max()) + 1 for placement in query.embedding.values() if placement.apart)
