"""Where a release's cap went: question by question, by kind, and round by round."""

import math
from fractions import Fraction
from typing import Any

from accounting.exact import from_text, to_text
from accounting.schema import Schema
from release.manifest import Manifest
from release.report.files import ReleaseFiles
from release.report.model import BudgetPart, ChargePart, RoundPart, Stage, StagePart
from release.report.questions import clique_count, cliques_of

_FEW = 3
_ROUND_BEGINS: frozenset[Stage] = frozenset({"choosing what to measure", "votes for rows"})


def budget(files: ReleaseFiles) -> BudgetPart:
    """Gather what each question cost, from the ledger's entries as the manifest lists them."""
    manifest = files.manifest
    limit = from_text(manifest.guarantee.release_cap.amount)
    charges = _charges(manifest, files.schema, limit)
    return BudgetPart(
        stages=_stages(charges, limit),
        rounds=_rounds(charges),
        charges=charges,
        settled=manifest.settled,
        settled_delta=manifest.settled_delta,
        unused=to_text(limit - from_text(manifest.settled)),
        left=to_text(max(Fraction(0), from_text(manifest.guarantee.dataset_cap.amount) - files.allotted)),
        runs=manifest.runs,
        looks=len(manifest.looks),
        source="ledger.jsonl: the entry of each question, its event and its price",
    )


def _charges(manifest: Manifest, schema: Schema, limit: Fraction) -> tuple[ChargePart, ...]:
    charges = []
    for question in manifest.questions:
        stage, about = _stage(question.question, schema)
        variance = question.event.variance
        charges.append(
            ChargePart(
                entry=question.entry,
                stage=stage,
                about=about,
                event=question.event,
                noise=None if variance is None else round(math.sqrt(from_text(variance)), 3),
                cost=question.cost,
                delta=question.delta,
                share=_share(from_text(question.cost), limit),
            )
        )
    return tuple(charges)


def _stages(charges: tuple[ChargePart, ...], limit: Fraction) -> tuple[StagePart, ...]:
    by_stage: dict[Stage, list[ChargePart]] = {}
    for charge in charges:
        by_stage.setdefault(charge.stage, []).append(charge)
    parts = []
    for name, members in by_stage.items():
        cost = sum((from_text(charge.cost) for charge in members), Fraction(0))
        parts.append(
            StagePart(
                name=name,
                questions=len(members),
                entries=(members[0].entry, members[-1].entry),
                cost=to_text(cost),
                share=_share(cost, limit),
            )
        )
    return tuple(parts)


def _rounds(charges: tuple[ChargePart, ...]) -> tuple[RoundPart, ...]:
    """Cut the questions into rounds, each from a choice (or a vote) to the next; what came before belongs to none."""
    rounds: list[list[ChargePart]] = []
    for charge in charges:
        if charge.stage in _ROUND_BEGINS:
            rounds.append([])
        if rounds:
            rounds[-1].append(charge)
    parts = []
    for number, members in enumerate(rounds, start=1):
        choosing = [charge for charge in members if charge.stage == "choosing what to measure"]
        measured = [charge for charge in members if charge.stage != "choosing what to measure"]
        parts.append(
            RoundPart(
                number=number,
                entries=(members[0].entry, members[-1].entry),
                about=", ".join(charge.about for charge in measured[:_FEW]),
                choosing=round(sum(charge.share for charge in choosing), 6),
                measuring=round(sum(charge.share for charge in measured), 6),
            )
        )
    return tuple(parts)


def _share(cost: Fraction, limit: Fraction) -> float:
    return round(float(cost / limit), 6)


def _stage(question: dict[str, Any], schema: Schema) -> tuple[Stage, str]:
    """Name the kind of a question, and what it was about."""
    match question["question"]:
        case "total":
            return "number of rows", "all rows"
        case "marginals":
            cliques, number = cliques_of(question, schema), clique_count(question)
            alone = cliques is not None and all(len(clique) == 1 for clique in cliques)
            named = [" × ".join(clique) for clique in cliques or ()]
            about = ", ".join(named) if cliques is not None and number <= _FEW else f"{number} marginals"
            return "single columns" if alone else "several columns together", about
        case "quantiles" | "categories":
            return "domain", str(question["column"])
        case "votes":
            return "votes for rows", "candidate rows"
        case _:
            return "choosing what to measure", "candidate marginals"
