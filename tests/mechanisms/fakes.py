"""A private table without a ledger: exact counts by NumPy and NumPy noise. For tests of post-processing only."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from accounting.budget import Cap
from accounting.errors import BudgetRefused
from accounting.events import price
from accounting.queries import (
    Answer,
    Errors,
    Marginals,
    NoisyErrors,
    NoisyMarginals,
    NoisyTotal,
    NoisyVotes,
    Query,
    Select,
    Selected,
    Total,
    Votes,
    check_query,
    question_event,
    selection_scale,
)
from accounting.schema import Schema
from accounting.unit import PrivacyUnit, RowUnit


def categorical(name: str, size: int, *, nullable: bool = False) -> dict:
    categories = [f"{name}{index}" for index in range(size)]
    return _column(name, categories[0], nullable=nullable, kind="categorical", categories=categories)


def integer(name: str, low: int, high: int, *, nullable: bool = False) -> dict:
    return _column(name, low, nullable=nullable, kind="integer", min=low, max=high)


def _column(name: str, replacement: object, *, nullable: bool, **keys: object) -> dict:
    column = {"name": name, "nullable": nullable, **keys}
    if not nullable:
        column["replacement"] = replacement
    return column


def schema_of(*columns: dict, max_rows: int | None = None) -> Schema:
    table = {"name": "toy"} if max_rows is None else {"name": "toy", "max_rows": max_rows}
    return Schema(table=table, columns=list(columns))


class NumpyTable:
    """Answer like a curator, keep every question, and refuse what the cap does not hold."""

    def __init__(
        self,
        schema: Schema,
        ticks: Mapping[str, np.ndarray],
        cap: Cap,
        *,
        unit: PrivacyUnit | None = None,
        seed: int = 0,
    ) -> None:
        self.schema = schema
        self.unit = RowUnit() if unit is None else unit
        self.remaining: Fraction = cap.value
        self.asked: list[Query] = []
        self.answers: list[Answer] = []
        self._law = cap.law
        self._rng = np.random.default_rng(seed)
        self._cells = {c.name: c.cell_of_tick(np.asarray(ticks[c.name], dtype=np.int64)) for c in schema.columns}

    def ask(self, query: Query) -> Answer:
        check_query(query, self.schema)
        cost = price(question_event(query, self.unit), self._law)
        if cost > self.remaining:
            raise BudgetRefused("refused", asked=cost, left=self.remaining, unit=self._law.unit)
        self.remaining -= cost
        self.asked.append(query)
        self.answers.append(self._answer(query))
        return self.answers[-1]

    def _answer(self, query: Query) -> Answer:
        entry = len(self.asked)
        if isinstance(query, Total):
            return NoisyTotal(entry, round(self._rows + self._noise(query.variance)))
        if isinstance(query, Marginals):
            tables = []
            for clique in query.cliques:
                counts = self._counts(clique, query.coding)
                tables.append(np.rint(counts + self._noise(query.variance, counts.shape)).astype(np.int64))
            return NoisyMarginals(entry, tuple(tables))
        if isinstance(query, Votes):
            noisy = self._votes(query) + self._noise(query.variance, (len(query.candidates),))
            return NoisyVotes(entry, np.rint(noisy).astype(np.int64))
        errors = [
            float(np.abs(query.grid * self._counts(clique, query.coding) - estimate).sum())
            for clique, estimate in zip(query.candidates, query.estimates, strict=True)
        ]
        if isinstance(query, Errors):
            noisy = np.array(errors) + self._noise(query.variance, (len(errors),))
            return NoisyErrors(entry, np.rint(noisy).astype(np.int64))
        assert isinstance(query, Select)
        scores = np.array(query.weights) * (np.array(errors) - np.array(query.penalties, dtype=np.float64))
        scaled = scores * float(selection_scale(query, self.unit))
        return Selected(entry, int(np.argmax(scaled + self._rng.gumbel(size=scaled.size))))

    @property
    def _rows(self) -> int:
        return next(iter(self._cells.values())).size

    def _noise(self, variance: Fraction, shape: tuple[int, ...] = ()) -> np.ndarray:
        return self._rng.normal(0.0, float(variance) ** 0.5, shape)

    def _votes(self, query: Votes) -> np.ndarray:
        place = {column.name: number for number, column in enumerate(self.schema.columns)}
        distances = np.zeros((self._rows, len(query.candidates)))
        for name, placed in query.embedding.items():
            mine, theirs = self._cells[name][:, None], query.candidates[:, place[name]]
            distances += (placed.coordinates[mine] - placed.coordinates[theirs]).astype(float) ** 2
            distances += placed.apart * (placed.classes[mine] != placed.classes[theirs])
        if query.within is not None:
            other = self._cells[query.within][:, None] != query.candidates[:, place[query.within]]
            distances[other] = np.inf
        order = np.argsort(distances, axis=1, kind="stable")[:, : query.votes]
        cast = order[np.isfinite(np.take_along_axis(distances, order, axis=1))]
        return np.bincount(cast, minlength=len(query.candidates))

    def _counts(self, clique: tuple[str, ...], coding) -> np.ndarray:
        shape = coding.shape(self.schema, clique)
        index = np.zeros(self._rows, dtype=np.int64)
        for name, size in zip(clique, shape, strict=True):
            cells = self._cells[name]
            index = index * size + (coding.bins[name][cells] if name in coding.bins else cells)
        return np.bincount(index, minlength=int(np.prod(shape))).reshape(shape)


class Replay:
    """Answer from a list; any question beyond it, or one that differs from the recorded one, fails."""

    def __init__(self, schema: Schema, digests: list[str], answers: list[Answer]) -> None:
        self.schema = schema
        self.remaining = Fraction(0)
        self.position = 0
        self._digests = digests
        self._answers = answers

    def ask(self, query: Query) -> Answer:
        from accounting.queries import query_digest

        assert query_digest(query) == self._digests[self.position]
        self.position += 1
        return self._answers[self.position - 1]


class Refusing:
    """Refuse from the given question on, counting what is asked."""

    def __init__(self, table: NumpyTable, after: int) -> None:
        self.schema = table.schema
        self.remaining = table.remaining
        self.refusals = 0
        self._table = table
        self._after = after

    def ask(self, query: Query) -> Answer:
        if len(self._table.asked) >= self._after:
            self.refusals += 1
            raise BudgetRefused("refused", asked=Fraction(1), left=Fraction(0), unit="rho")
        return self._table.ask(query)
