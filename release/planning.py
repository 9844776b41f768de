"""The plan: what a release may ask, what it costs at most, how exact it can be; from public facts alone."""

from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt

from accounting.budget import Law, cap
from accounting.errors import BudgetRefused
from accounting.events import gaussian_variance
from accounting.exact import decimal_below, to_text
from mechanisms.adaptive import Adaptive
from mechanisms.coding import model_sizes
from mechanisms.mst import MST
from mechanisms.predict import Prediction, advise, measures_one_ways, predict, side_by_side
from release.amounts import cost_text, delta_text, left_text
from release.prepared import Prepared


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A ceiling for the questions of one kind and purpose.

    Args:
        question: the kind.
        purpose: one sentence.
        at_most: the most questions.
        ceiling: the most that they cost together, in the law's unit.
        epsilon: the same as ε at the plan's δ, rounded up.
        delta: the most that they cost together in δ.
    """

    question: str
    purpose: str
    at_most: int
    ceiling: Fraction
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class ColumnError:
    """The error to expect in a column's one-way marginal, from the noise alone.

    Args:
        column: the column.
        cells: the cells of its one-way marginal.
        modelled: the most cells that it has in the mechanism's model.
        rows: the noise's standard deviation on each cell, in rows.
        error: the expected total variation distance before the model smooths it, at most 1; None without a guess of the
            number of rows.
    """

    column: str
    cells: int
    modelled: int
    rows: float
    error: float | None


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """The cost of a release beside what is left, before anything is spent.

    Args:
        dataset: the dataset's label.
        law: the unit of all amounts.
        cost: the release's cap: what is taken from the dataset.
        left: what the dataset has left.
        cost_delta: the δ that is taken from the dataset for finding categories.
        left_delta: what the dataset has left of it.
        delta: the δ of all ε here.
        epsilon: the release's guarantee as ε at δ, rounded up.
        dataset_epsilon: the dataset's guarantee as ε at δ, rounded up.
        mechanism: its kind.
        total: the most that the questions cost together.
        lines: the ceilings.
        columns: the expected one-way errors; empty for a mechanism that measures other marginals.
        rows: the public guess of the number of rows, or None.
        predictions: what each mechanism is expected to take and to give; empty without a guess.
        advice: the mechanism to take, and why.
    """

    dataset: str
    law: Law
    cost: Fraction
    left: Fraction
    cost_delta: Fraction
    left_delta: Fraction
    delta: Fraction
    epsilon: Fraction
    dataset_epsilon: Fraction
    mechanism: str
    total: Fraction
    lines: tuple[PlanLine, ...]
    columns: tuple[ColumnError, ...]
    rows: int | None
    predictions: tuple[Prediction, ...]
    advice: tuple[str, str]

    @property
    def fits(self) -> bool:
        """Whether the dataset has enough left."""
        return self.cost <= self.left and self.cost_delta <= self.left_delta

    def check_fits(self) -> None:
        """Refuse a plan that does not fit.

        Raises:
            BudgetRefused: the release's cap is more than is left; nothing was spent.
        """
        if self.cost_delta > self.left_delta:
            raise BudgetRefused(
                f"the release asks for δ = {delta_text(self.cost_delta)} (exactly {to_text(self.cost_delta)}) for "
                f"finding categories, but dataset {self.dataset!r} has δ = {decimal_below(self.left_delta)} left for "
                f"that (exactly {to_text(self.left_delta)}); it is set aside when its budget is opened, by "
                "--domain-delta. Nothing was spent.",
                asked=self.cost_delta,
                left=self.left_delta,
                unit="delta",
            )
        if self.fits:
            return
        raise BudgetRefused(
            f"the release asks for {cost_text(self.cost, self.law)} (exactly {to_text(self.cost)}), but dataset "
            f"{self.dataset!r} has {left_text(self.left, self.law)} left (exactly {to_text(self.left)}). "
            "Nothing was spent. Ask for at most what is left, or release nothing further from it.",
            asked=self.cost,
            left=self.left,
            unit=self.law.unit,
        )


def plan_release(prepared: Prepared, rows_guess: int | None = None) -> ReleasePlan:
    """Plan a release; nothing is read from the private file and nothing is spent.

    Args:
        prepared: the release.
        rows_guess: a public guess of the number of rows; without one the schema's ``max_rows`` serves.
    """
    from accounting.convert import epsilon

    plan, law, delta = prepared.plan, prepared.cap.law, prepared.delta
    rows = prepared.schema.max_rows if rows_guess is None else rows_guess
    lines = tuple(
        PlanLine(
            line.question,
            line.purpose,
            line.at_most,
            line.ceiling,
            epsilon(cap(law, line.ceiling, line.delta), delta),
            line.delta,
        )
        for line in plan.lines
    )
    predictions = _predictions(prepared, rows)
    return ReleasePlan(
        dataset=prepared.dataset.label,
        law=law,
        cost=prepared.cap.value,
        left=prepared.dataset.left,
        cost_delta=prepared.cap.delta,
        left_delta=prepared.dataset.delta_left,
        delta=delta,
        epsilon=epsilon(prepared.cap, delta),
        dataset_epsilon=epsilon(prepared.dataset.cap, delta),
        mechanism=prepared.config.mechanism_kind,
        total=plan.total,
        lines=lines,
        columns=_column_errors(prepared, rows),
        rows=rows,
        predictions=predictions,
        advice=advise(prepared.schema, predictions),
    )


def _column_errors(prepared: Prepared, rows: int | None) -> tuple[ColumnError, ...]:
    columns = prepared.schema.columns
    if not measures_one_ways(prepared.config.mechanism_kind):
        return ()
    # These mechanisms measure every one-way marginal in their first question, of sensitivity k·√columns.
    plan, k = prepared.mechanism.plan, prepared.unit.max_rows
    sigma = sqrt(gaussian_variance(Fraction(k * k * len(columns)), plan.lines[0].ceiling, plan.law))
    modelled = {column.name: column.cells for column in columns}
    if isinstance(prepared.mechanism, (Adaptive, MST)):
        modelled = model_sizes(prepared.schema, prepared.mechanism.config.bins)
    errors = []
    for column in columns:
        # Half the sum over cells of E|N(0, σ²)| = σ √(2/π), as a share of the rows.
        error = None if not rows else min(1.0, column.cells * sigma * sqrt(2 / pi) / (2 * rows))
        errors.append(ColumnError(column.name, column.cells, modelled[column.name], sigma, error))
    return tuple(errors)


def _predictions(prepared: Prepared, rows: int | None) -> tuple[Prediction, ...]:
    """Predict the release's own mechanism with its options, and the others with their defaults."""
    if rows is None:
        return ()
    own, schema, unit = prepared.config.mechanism_kind, prepared.schema, prepared.unit
    return tuple(
        predict(own, prepared.mechanism, schema, unit, rows) if prediction.kind == own else prediction
        for prediction in side_by_side(prepared.mechanism_cap, unit, schema, rows)
    )
