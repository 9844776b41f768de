"""Every table over a tiny domain, and every pair of neighbours, for a row unit and for persons with at most k rows."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from accounting.planted import exact_answer
from accounting.queries import Coding, Errors, Marginals, Placement, Query, Select, Total, Votes
from accounting.schema import Schema
from accounting.unit import PersonUnit, PrivacyUnit, RowUnit

SCHEMA = Schema(
    table={"name": "tiny"},
    columns=[
        {"name": "a", "kind": "categorical", "categories": ["0", "1"], "nullable": False, "replacement": "0"},
        {"name": "b", "kind": "categorical", "categories": ["0"], "nullable": True},
        {"name": "who", "kind": "identifier"},
    ],
)
ROW_KINDS = ((0, 0), (0, -1), (1, 0), (1, -1))
"""All rows as ticks: two values of a; one value or null of b."""

CLIQUES = (("a",), ("b",), ("a", "b"))
GRID = 4
ESTIMATES = (np.array([3, 5]), np.array([0, 0]), np.array([[1, 2], [9, -7]]))
MERGED = Coding({"a": np.array([0, 0])})

CANDIDATES = np.array([[0, 0], [1, 0], [1, 1], [0, 0]], dtype=np.int32)
PLACED = {"a": Placement(np.array([-1, 1]), np.zeros(2), 0), "b": Placement(np.zeros(2), np.arange(2), 4)}

QUESTIONS: dict[str, Query] = {
    "total": Total(Fraction(1)),
    "one marginal": Marginals((("a", "b"),), Fraction(1)),
    "three marginals": Marginals(CLIQUES, Fraction(1)),
    "merged marginal": Marginals((("a",),), Fraction(1), MERGED),
    "one error": Errors(CLIQUES[:1], ESTIMATES[:1], GRID, Fraction(1)),
    "three errors": Errors(CLIQUES, ESTIMATES, GRID, Fraction(1)),
    "votes": Votes(CANDIDATES, PLACED, 3, None, Fraction(1)),
    "votes within": Votes(CANDIDATES, PLACED, 2, "a", Fraction(1)),
    "selection": Select(CLIQUES, (1, 3, 2), ESTIMATES, (0, 2, -1), GRID, Fraction(1, 2)),
}

UNITS: dict[str, PrivacyUnit] = {"row": RowUnit(), "two rows": PersonUnit("who", 2), "three rows": PersonUnit("who", 3)}

Row = tuple[int, int]


@dataclass(frozen=True)
class World:
    """A table: the rows of each person; for a row unit each row is a person of its own."""

    persons: tuple[tuple[Row, ...], ...]

    def exact(self, query: Query, unit: PrivacyUnit) -> object:
        rows = [row for person in self.persons for row in person]
        ids = [str(number) for number, person in enumerate(self.persons) for _ in person]
        ticks = {name: np.array([row[place] for row in rows], dtype=np.int64) for place, name in enumerate("ab")}
        return exact_answer(query, SCHEMA, ticks, unit, ids if isinstance(unit, PersonUnit) else None)


def vector(exact: object) -> np.ndarray:
    """An exact answer as one vector of Python integers."""
    if isinstance(exact, tuple):
        return np.concatenate([table.ravel() for table in exact]).astype(object)
    return np.atleast_1d(np.asarray(exact)).ravel().astype(object)


@cache
def neighbours(unit: PrivacyUnit) -> tuple[tuple[World, World], ...]:
    """All pairs (without, with) of one unit: up to three rows beside it, or one person of up to two rows.

    The person that comes or goes has up to k + 1 rows of any kinds, one more than is kept, and stands before or after.
    """
    return tuple(_pairs(unit))


def _pairs(unit: PrivacyUnit) -> Iterator[tuple[World, World]]:
    if isinstance(unit, RowUnit):
        for size in range(4):
            for rows in itertools.combinations_with_replacement(ROW_KINDS, size):
                without = tuple((row,) for row in rows)
                for row in ROW_KINDS:
                    yield World(without), World((*without, (row,)))
        return
    multisets = [
        rows for size in range(unit.max_rows + 2) for rows in itertools.combinations_with_replacement(ROW_KINDS, size)
    ]
    for beside in multisets:
        if len(beside) <= 2:
            for rows in multisets[1:]:
                yield World((beside,)), World((beside, rows))
                yield World((beside,)), World((rows, beside))


@cache
def exact_pairs(name: str, unit: PrivacyUnit) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """The exact answers of one question on all pairs of neighbours, equal pairs once."""
    worlds = {world for pair in neighbours(unit) for world in pair}
    known = {world: tuple(vector(world.exact(QUESTIONS[name], unit))) for world in worlds}
    pairs = {(known[without], known[with_]) for without, with_ in neighbours(unit)}
    return tuple((np.array(one, dtype=object), np.array(other, dtype=object)) for one, other in pairs)
