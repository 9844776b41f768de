"""Audit the search for domains: replay its questions, and hold what shows of names against threshold and δ."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from accounting.budget import Cap, Rho
from accounting.errors import BudgetRefused
from accounting.planted import Entropy, planted_table
from accounting.queries import Categories, FoundCategories, PrivateTable, Query
from audits.pairs import Pair, Rows
from audits.recording import Step
from audits.transcript.likelihood import own_delta, own_price
from mechanisms.base import MechanismResult, Plan, Watcher, silent
from mechanisms.domain import DomainSearch
from mechanisms.table import SyntheticTable

if TYPE_CHECKING:
    from mechanisms.bounds import ErrorBounds

_NEARLY = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class SearchAlone:
    """A search as a mechanism that writes no rows: what it finds is its result."""

    search: DomainSearch

    @property
    def plan(self) -> Plan:
        """What the search may ask at most."""
        return self.search.plan

    def run(
        self,
        table: PrivateTable,
        rng: np.random.Generator,  # noqa: ARG002  # a search needs no randomness of its own
        watch: Watcher = silent,  # noqa: ARG002
        *,
        rows: int | None = None,  # noqa: ARG002
    ) -> MechanismResult:
        """Search, and give the schema found as a note."""
        found = self.search.run(table)
        nothing = SyntheticTable(found.schema, {column.name: np.empty(0, np.int64) for column in found.schema.columns})
        bounds = cast("ErrorBounds", None)  # no rows, no bounds
        return MechanismResult(nothing, found.transcript, bounds, notes={"schema": found.schema.digest})


def check_names(step: Step, pair: Pair, rows: Rows, entropy: Entropy) -> list[str]:
    """Check an answered question for categories: no name below the threshold, none too many, and δ charged in full.

    Returns:
        What was broken in words; nothing for other questions.
    """
    query, answer = step.query, step.answer
    if not isinstance(query, Categories) or not isinstance(answer, FoundCategories):
        return []
    broken = []
    if any(value < query.threshold for value in answer.values.tolist()):
        broken.append("a name left below its threshold")
    if len(answer.names) > query.most:
        broken.append("more names left than were asked for")
    own = Fraction(own_delta(query, pair.unit))
    if own < 1 and _is_answered(query, pair, rows, entropy, own * (1 - _NEARLY)):
        broken.append("it was answered under a delta below its own")
    if own * (1 + _NEARLY) < 1 and not _is_answered(query, pair, rows, entropy, own * (1 + _NEARLY)):
        broken.append("it was refused under a delta above its own")
    return broken


def _is_answered(query: Query, pair: Pair, rows: Rows, entropy: Entropy, delta: Fraction) -> bool:
    cap = Cap(Rho(own_price(query, pair.unit)[1]), delta)
    table = planted_table(pair.schema, rows.ticks, pair.unit, cap, entropy=entropy, ids=rows.ids)
    try:
        table.ask(query)
    except BudgetRefused:
        return False
    return True
