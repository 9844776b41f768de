"""A handle that notes every question and answer, in order: what record-and-replay and likelihood ratios work on."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from accounting.queries import Answer, PrivateTable, Query
from accounting.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One question and its answer."""

    query: Query
    answer: Answer


class RecordingTable:
    """A :class:`PrivateTable` in front of another one.

    Args:
        table: answers the questions.
        before: called before each question is passed on.
    """

    def __init__(self, table: PrivateTable, before: Callable[[], None] = lambda: None) -> None:
        self._table = table
        self._before = before
        self.steps: list[Step] = []

    @property
    def schema(self) -> Schema:
        """The public description of the table."""
        return self._table.schema

    @property
    def remaining(self) -> Fraction:
        """What is left of the release's cap."""
        return self._table.remaining

    def ask(self, query: Query) -> Answer:
        """Pass the question on and note it with its answer; a refused question is not noted."""
        self._before()
        answer = self._table.ask(query)
        self.steps.append(Step(query, answer))
        return answer
