"""Ask questions within a release's cap: the exact remainder that every mechanism keeps, and its transcript."""

from fractions import Fraction
from typing import cast

from accounting.budget import Cap
from accounting.errors import ConfigError, DpReleaseError
from accounting.events import gaussian_variance, price
from accounting.exact import short_below
from accounting.queries import (
    Answer,
    Categories,
    Clique,
    Coding,
    Errors,
    Marginals,
    NoisyMarginals,
    PrivateTable,
    Quantiles,
    Query,
    Select,
    Total,
    Votes,
    question_event,
)
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.base import Asked, Plan, QuestionKind
from mechanisms.noisy import NoisyTable

_SHORT_BITS = 64
_KINDS: dict[type, QuestionKind] = {
    Total: "total",
    Marginals: "marginals",
    Select: "select",
    Errors: "errors",
    Votes: "votes",
    Quantiles: "quantiles",
    Categories: "categories",
}


def spendable(amount: Fraction) -> Fraction:
    """Return the amount itself where its text is short, else the short rational just below it."""
    if max(amount.numerator.bit_length(), amount.denominator.bit_length()) <= _SHORT_BITS:
        return amount
    return short_below(amount)


class Asker:
    """Ask a private table within a cap and a plan, and keep the remainder exactly.

    The price of a question is computed here from its own event, by the same table as the curator's. The remainder
    does not come from the handle, so a resumed run, whose stored answers cost nothing, asks the same questions again.

    Args:
        table: the handle.
        schema: the schema that the mechanism was calibrated for.
        unit: the privacy unit.
        cap: the release's cap.
        plan: the ceilings of the run.

    Raises:
        ConfigError: the handle's schema is another one; nothing spent.
    """

    def __init__(self, table: PrivateTable, schema: Schema, unit: PrivacyUnit, cap: Cap, plan: Plan) -> None:
        if table.schema.digest != schema.digest:
            raise ConfigError("the table's schema is not the one that the mechanism was calibrated for")
        self._table = table
        self._unit = unit
        self._cap = cap
        self._left = plan.total
        self._allowed = dict.fromkeys(_KINDS.values(), 0)
        for line in plan.lines:
            self._allowed[line.question] += line.at_most
        self._asked: list[Asked] = []

    @property
    def left(self) -> Fraction:
        """What is left of the plan's total, in the law's unit; never negative."""
        return self._left

    @property
    def share(self) -> float:
        """The share of the cap already used, from 0 to 1; a float for reports only."""
        return float(1 - self._left / self._cap.value)

    def share_after(self, amount: Fraction) -> float:
        """Return the share of the cap that will be used after spending ``amount`` more."""
        return float(1 - (self._left - amount) / self._cap.value)

    @property
    def transcript(self) -> tuple[Asked, ...]:
        """Every question and answer so far, in order."""
        return tuple(self._asked)

    def ask(self, query: Query) -> Answer:
        """Ask one question after checking that it fits the plan.

        Raises:
            DpReleaseError: the mechanism asked beyond its own plan, a fault of this program; the question cost nothing.
            BudgetRefused: the handle refused; the question cost nothing.
        """
        kind = _KINDS[type(query)]
        cost = price(question_event(query, self._unit), self._cap.law)
        if cost > self._left or self._allowed[kind] == 0:
            raise DpReleaseError(f"the mechanism asked beyond its plan ({kind}); this is a fault of the program")
        answer = self._table.ask(query)
        self._left -= cost
        self._allowed[kind] -= 1
        kept = query if isinstance(query, (Total, Marginals, Quantiles, Categories)) else None
        self._asked.append(Asked(kind, cost, answer, kept))
        return answer

    def marginals(
        self, cliques: tuple[Clique, ...], amount: Fraction, coding: Coding | None = None
    ) -> tuple[NoisyTable, ...]:
        """Measure contingency tables of equal noise for exactly ``amount`` together (ρ or μ²)."""
        sensitivity_squared = Fraction(self._unit.max_rows**2 * len(cliques))
        variance = gaussian_variance(sensitivity_squared, amount, self._cap.law)
        answer = cast("NoisyMarginals", self.ask(Marginals(cliques, variance, coding or Coding())))
        tables = zip(cliques, answer.tables, strict=True)
        return tuple(NoisyTable.measured(clique, table, variance) for clique, table in tables)
