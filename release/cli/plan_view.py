"""A plan for people and for scripts."""

from dataclasses import asdict

from accounting.exact import decimal_above, decimal_below, to_text
from release.amounts import SYMBOLS, cost_text, delta_text, left_text, statement_text
from release.cli.console import table
from release.planning import ReleasePlan


def plan_text(plan: ReleasePlan) -> str:
    """Lay out a plan for a terminal."""
    symbol = SYMBOLS[plan.law]
    head = (
        f"Release from {plan.dataset!r} by {plan.mechanism}, law {plan.law.value}\n"
        f"  cost  {cost_text(plan.cost, plan.law)}  ({statement_text(plan.epsilon, plan.delta)})\n"
        f"  left  {left_text(plan.left, plan.law)}  of the dataset's cap "
        f"({statement_text(plan.dataset_epsilon, plan.delta)})"
    )
    questions = table(
        ("question", "at most", f"{symbol} at most", "ε at most", "purpose"),
        [
            (line.question, str(line.at_most), decimal_above(line.ceiling), decimal_above(line.epsilon), line.purpose)
            for line in plan.lines
        ],
    )
    parts = [head, questions, f"All questions together cost at most {cost_text(plan.total, plan.law)}."]
    if plan.cost_delta:
        parts.append(
            f"Finding categories costs at most δ = {delta_text(plan.cost_delta)} of the δ above; the dataset has "
            f"δ = {decimal_below(plan.left_delta)} left for that. What is measured is public afterwards, and the "
            "figures below are for the largest domain that can be found."
        )
    if plan.columns:
        parts.append(_errors(plan))
    if plan.predictions:
        parts.append(_predictions(plan))
    parts.append(f"Advised is {plan.advice[0]}: {plan.advice[1]}.")
    return "\n\n".join(parts)


def plan_document(plan: ReleasePlan) -> dict[str, object]:
    """Describe a plan as JSON."""
    return {
        "dataset": plan.dataset,
        "law": plan.law.value,
        "unit": plan.law.unit,
        "mechanism": plan.mechanism,
        "cost": to_text(plan.cost),
        "left": to_text(plan.left),
        "domain_delta": to_text(plan.cost_delta),
        "domain_delta_left": to_text(plan.left_delta),
        "fits": plan.fits,
        "delta": to_text(plan.delta),
        "epsilon": decimal_above(plan.epsilon, 15),
        "dataset_epsilon": decimal_above(plan.dataset_epsilon, 15),
        "total": to_text(plan.total),
        "questions": [
            {
                "question": line.question,
                "purpose": line.purpose,
                "at_most": line.at_most,
                "ceiling": to_text(line.ceiling),
                "epsilon": decimal_above(line.epsilon, 15),
                "delta": to_text(line.delta),
            }
            for line in plan.lines
        ],
        "columns": [
            {
                "column": item.column,
                "cells": item.cells,
                "modelled_cells": item.modelled,
                "sigma": item.rows,
                "expected_error": item.error,
            }
            for item in plan.columns
        ],
        "rows_guess": plan.rows,
        "predictions": [asdict(prediction) for prediction in plan.predictions],
        "advice": {"mechanism": plan.advice[0], "reason": plan.advice[1]},
    }


def _errors(plan: ReleasePlan) -> str:
    known = plan.rows is not None
    rows = [
        (
            item.column,
            str(item.cells),
            f"at most {item.modelled}" if item.modelled < item.cells else str(item.cells),
            f"±{item.rows:.1f}",
            "" if item.error is None else f"{100 * item.error:.2f} %",
        )
        for item in plan.columns
    ]
    title = (
        f"Expected error of each column's one-way marginal before the model smooths it, for {plan.rows} rows:"
        if known
        else "Noise on each column's one-way marginal (give --rows-guess for shares):"
    )
    return title + "\n" + table(("column", "cells", "in the model", "rows a cell", "of all rows"), rows)


def _predictions(plan: ReleasePlan) -> str:
    degree = plan.predictions[0].degree
    rows = [
        (
            item.kind,
            f"{item.seconds:.0f} s" if item.seconds >= 1 else "below 1 s",
            f"{item.megabytes:.0f} MB",
            f"{100 * item.one_way_error:.2f} %",
            f"{100 * item.workload_error:.1f} %",
        )
        for item in plan.predictions
    ]
    text = f"Expected for {plan.rows} rows on one core, by public facts alone:\n"
    return text + table(("mechanism", "time", "memory", "1-way error", f"{degree}-way error"), rows)
