"""The nearest candidates of rows, in exact integers: the public arithmetic of votes, for private and other rows alike.

A squared distance, less what all candidates share, is one row of a matrix product: for a row x and a candidate c

    score = Σ u(c)² − 2·Σ u(x)·u(c) − Σ apart·[class of x = class of c]

over the placed columns. Every factor is an integer, and every partial sum, in whatever order and grouping a library
adds it up, is an integer of size at most the question's ``reach``. Below 2^24 float32 holds all of them exactly, below
2^53 float64 does, with or without fused multiply-add. So the scores are exact whatever the blocks, threads and devices,
and a row's nearest candidates depend on that row and the candidates only. With rounded distances they could depend on
other rows: the libraries' blocking does.

The nearest candidate is the first of smallest score, the next one the first of the rest, so that ties go by the
candidates' public order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from accounting.queries import Ints, Placement, Votes
from accounting.schema import Schema

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Columns: TypeAlias = Mapping[str, npt.NDArray[np.integer[Any]]]

EXACT_SINGLE = 2**24
"""Below it float32 holds every whole number."""

BLOCK = 2**21
"""Scores that are held at once: 8 MB in float32, which stays near the processor's cache."""


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
        self.reach = query.reach
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
        self.has_classes = self.width > 1 + len(columns)
        self.candidates: Scores = np.array(factors).astype(self.dtype)
        self._columns = tuple(columns)

    def of_rows(self, columns: Columns, rows: Ints) -> Scores:
        """Return the factors of some rows, shape (rows, features)."""
        factors = np.zeros((rows.size, self.width + 1), dtype=self.dtype)
        factors[:, 0] = 1
        index = np.arange(rows.size)
        for column in self._columns:
            mine = columns[column.name][rows]
            factors[:, column.place] = column.coordinates[mine]
            factors[index, column.classes[mine]] = 1
        return factors[:, : self.width]


Search: TypeAlias = Callable[[Scores], Iterable[Ints]]
"""From the factors of a block of rows to each row's nearest candidate, then its second nearest, and so on."""


def by_products(features: Features, votes: int) -> Search:
    """Search by the matrix product of all scores."""

    def search(factors: Scores) -> Iterable[Ints]:
        return first_by_score(factors @ features.candidates, votes)

    return search


def nearest(
    query: Votes,
    columns: Columns,
    rows: int,
    schema: Schema,
    *,
    block: int = BLOCK,
    searcher: Callable[[Features, int], Search] = by_products,
) -> Iterator[tuple[Ints, Ints]]:
    """Find the candidates that each row votes for.

    Args:
        query: the question.
        columns: each column's cells, shape (rows,).
        rows: the number of rows.
        schema: the schema.
        block: how many scores are held at once; the result does not depend on it.
        searcher: how candidates are searched; the result does not depend on it.

    Yields:
        The numbers of some rows and, for each of them, the number of a candidate; a row's nearest one comes first.
    """
    for members, group in _groups(query, columns, rows, schema):
        votes = min(query.votes, members.size)
        features = Features(query, members, schema)
        search = searcher(features, votes)
        step = max(1, block // max(members.size, features.width))
        for start in range(0, group.size, step):
            chosen = group[start : start + step]
            for found in search(features.of_rows(columns, chosen)):
                yield chosen, members[found]


def first_by_score(scores: Scores, votes: int) -> Iterator[Ints]:
    """Yield the column of each row's smallest score, then of the next, earlier columns first; ``scores`` is used up."""
    index = np.arange(scores.shape[0])
    for _ in range(votes):
        first = scores.argmin(axis=1)  # the first of equal ones
        yield first
        scores[index, first] = np.inf


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


def _groups(query: Votes, columns: Columns, rows: int, schema: Schema) -> Iterator[tuple[Ints, Ints]]:
    """Yield the candidates and the rows that vote for them, group by group."""
    if query.within is None:
        yield np.arange(query.candidates.shape[0]), np.arange(rows)
        return
    place = [column.name for column in schema.columns].index(query.within)
    group = columns[query.within]
    for cell in np.unique(query.candidates[:, place]):
        yield np.flatnonzero(query.candidates[:, place] == cell), np.flatnonzero(group == cell)
