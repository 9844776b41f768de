"""What every mechanism is: a configuration, calibrated by a budget into a plan, run on a handle, giving a result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from accounting.budget import Cap, Law
from accounting.canonical import Json
from accounting.queries import Answer, Categories, Marginals, PrivateTable, Quantiles, Total
from accounting.schema import Schema
from accounting.unit import PrivacyUnit
from mechanisms.bounds import ErrorBounds
from mechanisms.table import SyntheticTable

if TYPE_CHECKING:
    from mechanisms.fitted import FittedModel

QuestionKind = Literal["total", "marginals", "select", "errors", "votes", "quantiles", "categories"]


@dataclass(frozen=True, slots=True)
class PlannedQuestions:
    """A ceiling for the questions of one kind and purpose.

    Args:
        question: the kind, as in ``describe_query``.
        purpose: one public sentence for the plan and the report.
        at_most: the most questions of this line that a run may ask.
        ceiling: the most that they cost together, in the law's unit (ρ or μ²).
        delta: the most that they cost together in δ.
    """

    question: QuestionKind
    purpose: str
    at_most: int
    ceiling: Fraction
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run may ask at most, known without data. ``total`` never exceeds the release's cap.

    Args:
        law: the unit of all amounts.
        lines: ceilings by kind and purpose.
        total: the most that the whole run costs: at most the sum of the ceilings and at most the cap.
    """

    law: Law
    lines: tuple[PlannedQuestions, ...]
    total: Fraction


@dataclass(frozen=True, slots=True)
class Progress:
    """A public progress report: the same for every private table with the same answers.

    Args:
        step: the number of the step that begins, from 1.
        steps: the most steps expected.
        message: what happens now, in public terms.
        share: the share of the release's cap already used, from 0 to 1.
    """

    step: int
    steps: int
    message: str
    share: float


Watcher = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Watch nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One question with its answer, in the order of asking: a run's public transcript.

    Args:
        question: the kind, as in ``describe_query``.
        cost: its price in the law's unit (ρ or μ²).
        answer: the answer, with the ledger entry's number.
        query: the question itself; None where it carried estimates or candidates (select, errors, votes), whose arrays
            would fill the memory over hundreds of rounds. The ledger entry that the answer names binds them by digest.
    """

    question: QuestionKind
    cost: Fraction
    answer: Answer
    query: Total | Marginals | Quantiles | Categories | None


@dataclass(frozen=True, slots=True, eq=False)
class MechanismResult:
    """What a run gives; all of it is post-processing of paid answers and public randomness.

    Args:
        synthetic: the synthetic rows.
        transcript: every question and answer, in order.
        error_bounds: how far the synthetic rows may be from the private table, marginal by marginal.
        model: the fitted model where the mechanism has one.
        fitted: the model that the rows were drawn from, with its decoder, where there is one.
        notes: public facts for the manifest and the report (rounds run, model size, …), JSON values.
    """

    synthetic: SyntheticTable
    transcript: tuple[Asked, ...]
    error_bounds: ErrorBounds
    model: Any = None
    fitted: "FittedModel | None" = None
    notes: dict[str, Json] = field(default_factory=dict)


class CalibratedMechanism(Protocol):
    """A mechanism bound to a cap, a unit and a schema: no optional privacy field is left."""

    @property
    def plan(self) -> Plan:
        """What a run may ask at most."""
        ...

    def run(
        self, table: PrivateTable, rng: np.random.Generator, watch: Watcher = silent, *, rows: int | None = None
    ) -> MechanismResult:
        """Ask, fit and sample; the same answers and the same ``rng`` give the same questions and the same rows.

        Args:
            table: the handle, with the schema that the mechanism was calibrated for.
            rng: the public randomness, recorded in the manifest.
            watch: is told of each step, in public terms.
            rows: the declared number of synthetic rows; None takes the noisy total.
        """
        ...


class MechanismConfig(Protocol):
    """A frozen, validated configuration, as written in release.toml."""

    def calibrate(self, cap: Cap, unit: PrivacyUnit, schema: Schema) -> CalibratedMechanism:
        """Bind to a release's cap.

        Raises:
            ConfigError: impossible or too large, with the figure; nothing spent.
        """
        ...

    def to_json(self) -> dict[str, Json]:
        """Every parameter, for the manifest."""
        ...
