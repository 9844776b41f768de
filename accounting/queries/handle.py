"""The handle through which a mechanism asks."""

from fractions import Fraction
from typing import Protocol, runtime_checkable

from accounting.queries.answers import Answer
from accounting.queries.questions import Query
from accounting.schema import Schema


@runtime_checkable
class PrivateTable(Protocol):
    """All that a mechanism gets: a schema, what is left, and a way to ask. Never the rows."""

    @property
    def schema(self) -> Schema:
        """The public description of the table."""
        ...

    @property
    def remaining(self) -> Fraction:
        """What is left of the release's cap, in the ledger's unit (ρ or μ²)."""
        ...

    def ask(self, query: Query) -> Answer:
        """Answer a question after its price was durably charged.

        Raises:
            QueryRefused: invalid public fields; nothing spent.
            BudgetRefused: it does not fit; nothing spent.
        """
        ...
