"""The ledger for people and for scripts."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from accounting.exact import decimal_above, decimal_below, from_text, to_text
from accounting.ledger import in_law
from accounting.unit import unit_to_json
from release.amounts import SYMBOLS, cost_text, delta_text, left_text, statement_text
from release.cli.console import emit, table
from release.units import describe_unit

if TYPE_CHECKING:
    from accounting.ledger import DatasetState, Recovered, ReleaseState


def say_dataset(command: str, state: "DatasetState", *, as_json: bool) -> None:
    """Print a dataset's budget, for a person or as a command's document."""
    if as_json:
        emit(command, dataset_document(state))
    else:
        click.echo(dataset_text(state))


def dataset_text(state: "DatasetState") -> str:
    """Lay out a dataset's budget for a terminal."""
    stated = ""
    if state.statement is not None:
        stated = f" ({statement_text(state.statement.epsilon, state.statement.delta)})"
    lines = [
        f"Dataset {state.label}: unit {describe_unit(state.unit)}, law {state.law.value}"
        + (", closed" if state.closed else ""),
        f"  cap        {cost_text(state.cap.value, state.law)}{stated}",
        f"  allotted   {cost_text(state.allotted, state.law)}",
        f"  left       {left_text(state.left, state.law)}",
        f"  settled    {cost_text(state.settled, state.law)}, in flight {decimal_above(state.in_flight)}",
        f"  looks      {state.looks}",
    ]
    if state.cap.delta:
        lines.append(
            f"  categories δ = {delta_text(state.cap.delta)} set aside, {decimal_below(state.delta_left)} left"
        )
    if state.disjoint:
        lines.append(f"  disjoint   from {', '.join(state.disjoint)}, as signed")
    lines.append(f"  head       {state.head}")
    if state.releases:
        rows = [
            (
                run.release_id,
                run.purpose,
                _standing(run),
                *(decimal_above(in_law(amount, run.cap.law, state.law)) for amount in _amounts(run)),
            )
            for run in state.releases
        ]
        header = ("release", "purpose", "state", f"cap {SYMBOLS[state.law]}", "takes", "settled", "in flight")
        lines += ["", table(header, rows)]
    return "\n".join(lines)


def dataset_document(state: "DatasetState") -> dict[str, object]:
    """Describe a dataset's budget as JSON; amounts are exact texts in the law's unit."""
    statement = state.statement
    return {
        "dataset": state.label,
        "unit": unit_to_json(state.unit),
        "law": state.law.value,
        "amounts": state.law.unit,
        "cap": to_text(state.cap.value),
        "statement": None
        if statement is None
        else {"epsilon": to_text(statement.epsilon), "delta": to_text(statement.delta)},
        "allotted": to_text(state.allotted),
        "left": to_text(state.left),
        "domain_delta": to_text(state.cap.delta),
        "domain_delta_left": to_text(state.delta_left),
        "settled": to_text(state.settled),
        "in_flight": to_text(state.in_flight),
        "looks": state.looks,
        "closed": state.closed,
        "raised": state.raised,
        "disjoint": list(state.disjoint),
        "head": state.head,
        "releases": [
            {
                "release": run.release_id,
                "purpose": run.purpose,
                "closed": run.closed,
                **{
                    name: to_text(in_law(amount, run.cap.law, state.law))
                    for name, amount in zip(_AMOUNTS, _amounts(run), strict=True)
                },
                "replaced": run.replaced,
                "superseded_by": run.superseded_by,
                "withdrawn": run.withdrawn,
            }
            for run in state.releases
        ],
    }


_AMOUNTS = ("cap", "takes", "settled", "in_flight")


def _amounts(run: "ReleaseState") -> tuple[Fraction, ...]:
    return run.cap.value, run.allotted, run.settled, run.in_flight


def _standing(run: "ReleaseState") -> str:
    """Say in one word or two what became of a release, the gravest first."""
    if run.withdrawn:
        return "withdrawn"
    if run.superseded_by is not None:
        return "superseded"
    if run.replaced:
        return "cap raised since"
    return "closed" if run.closed else "open"


def recovered_text(recovered: "Recovered") -> str:
    """Say what recovering a release found and freed."""
    lost = ", ".join(question.request_id for question in recovered.in_flight) or "none"
    return (
        f"Release {recovered.release_id} is closed: {decimal_below(recovered.freed)} of its allotment is free again. "
        f"Questions that were charged and have no answer: {lost}."
    )


def recovered_document(recovered: "Recovered") -> dict[str, object]:
    """Describe what recovering a release found and freed as JSON."""
    return {
        "release": recovered.release_id,
        "freed": to_text(recovered.freed),
        "in_flight": [question.request_id for question in recovered.in_flight],
    }


def log_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """List entries for a terminal, one a line."""
    rows = [
        (
            str(body["number"]),
            body["date"],
            body["label"],
            body["kind"],
            body.get("release", body.get("about", body.get("what", ""))),
            body.get("request", ""),
            _amount(body),
        )
        for body in entries
    ]
    return table(("entry", "date", "dataset", "kind", "release or look", "question", "amount"), rows)


def _amount(body: Mapping[str, Any]) -> str:
    return decimal_above(from_text(body["amount"])) if "amount" in body else ""
