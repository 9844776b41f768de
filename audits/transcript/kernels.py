"""What a question asks of rows, counted naively: plain, slow twins of the curator's kernels that share no code."""

from bisect import bisect_right
from collections import Counter

import numpy as np
import numpy.typing as npt

from accounting.planted import PLANTED_NAMES
from accounting.queries import (
    Categories,
    Clique,
    Coding,
    Errors,
    Ints,
    Marginals,
    Quantiles,
    Query,
    Select,
    Total,
    Votes,
)
from accounting.schema import Column, Schema
from audits.pairs import Rows

Row = tuple[int, ...]


class NaiveTable:
    """Rows of cells, and the questions answered on them without noise.

    Args:
        schema: the schema.
        rows: rows of which each person has at most as many as its unit's bound.
    """

    def __init__(self, schema: Schema, rows: Rows) -> None:
        self._schema = schema
        self._place = {column.name: place for place, column in enumerate(schema.columns)}
        kept = [person is not None for person in rows.ids] if rows.ids is not None else [True] * rows.count
        columns = [_cells(column, rows.ticks[column.name]) for column in schema.columns]
        self._ticks = {name: ticks[kept].tolist() for name, ticks in rows.ticks.items()}
        self._persons = [person for person in rows.ids or map(str, range(rows.count)) if person is not None]
        self._rows: list[Row] = [row for row, keep in zip(zip(*columns, strict=True), kept, strict=True) if keep]
        self._counted: dict[tuple[Clique, tuple[bytes, ...]], Ints] = {}

    def exact(self, query: Query) -> list[int]:
        """Return every number that the question adds noise to or selects by, in the order of its answer."""
        if isinstance(query, Total):
            return [len(self._rows)]
        if isinstance(query, Marginals):
            return [int(n) for clique in query.cliques for n in self.counts(clique, query.coding).ravel()]
        if isinstance(query, Errors):
            return [self._error(clique, query, place) for place, clique in enumerate(query.candidates)]
        if isinstance(query, Select):
            return [
                weight * (self._error(clique, query, place) - penalty)
                for place, (clique, weight, penalty) in enumerate(
                    zip(query.candidates, query.weights, query.penalties, strict=True)
                )
            ]
        if isinstance(query, Quantiles):
            ticks = self._ticks[query.column]
            return [sum(first <= tick <= last for tick in ticks) for first, last in query.intervals.tolist()]
        if isinstance(query, Categories):
            declared = self._schema.column(query.column).ticks
            having = set(zip(self._persons, self._ticks[query.column], strict=True))
            return [sum(tick == declared + name for _, tick in having) for name in range(PLANTED_NAMES)]
        return self._votes(query)

    def counts(self, clique: Clique, coding: Coding) -> Ints:
        """Count the rows in every cell of a clique's table; kept, since adaptive mechanisms ask again."""
        key = (clique, tuple(coding.bins[name].tobytes() for name in clique if name in coding.bins))
        if key not in self._counted:
            places = [self._place[name] for name in clique]
            bins = [coding.bins.get(name) for name in clique]
            table = np.zeros(coding.shape(self._schema, clique), dtype=np.int64)
            for row, count in Counter(self._rows).items():
                cell = (row[p] if b is None else int(b[row[p]]) for p, b in zip(places, bins, strict=True))
                table[tuple(cell)] += count
            self._counted[key] = table
        return self._counted[key]

    def _error(self, clique: Clique, query: Select | Errors, place: int) -> int:
        counts = self.counts(clique, query.coding).ravel().tolist()
        estimates = query.estimates[place].ravel().tolist()
        return sum(abs(query.grid * count - estimate) for count, estimate in zip(counts, estimates, strict=True))

    def _votes(self, query: Votes) -> list[int]:
        votes = [0] * len(query.candidates)
        candidates: list[Row] = [tuple(row) for row in query.candidates.tolist()]
        for row in self._rows:
            able = range(len(candidates))
            if query.within is not None:
                place = self._place[query.within]
                able = [index for index in able if candidates[index][place] == row[place]]  # type: ignore[assignment]
            nearest = sorted(able, key=lambda index: (self._distance(query, row, candidates[index]), index))
            for index in nearest[: query.votes]:
                votes[index] += 1
        return votes

    def _distance(self, query: Votes, one: Row, other: Row) -> int:
        distance = 0
        for name, placement in query.embedding.items():
            a, b = one[self._place[name]], other[self._place[name]]
            distance += (int(placement.coordinates[a]) - int(placement.coordinates[b])) ** 2
            distance += placement.apart * int(placement.classes[a] != placement.classes[b])
        return distance


def _cells(column: Column, ticks: npt.NDArray[np.int64]) -> list[int]:
    starts = column.cell_starts.tolist()
    null = column.null_cell
    within = np.minimum(ticks, column.ticks - 1)  # planted names lie beyond the declared ticks
    return [null if tick < 0 and null is not None else bisect_right(starts, tick) - 1 for tick in within.tolist()]
