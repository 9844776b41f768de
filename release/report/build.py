"""Turn a release's files into the content of its report."""

import math
from fractions import Fraction
from typing import Any, Literal

from accounting.budget import Cap, Law, cap
from accounting.exact import decimal_above, from_text, to_text
from audits.document import AuditDocument
from release.manifest import CapPart, CurvePoint, Manifest
from release.report.accuracy import accuracy
from release.report.attacks import attack
from release.report.files import AUDIT_NAME, ReleaseFiles
from release.report.model import (
    AnnexPart,
    AuditPart,
    BudgetPart,
    ChargePart,
    FilePart,
    GuaranteePart,
    PairPart,
    Report,
    StagePart,
)
from release.report.others import OTHERS

_AMOUNTS = {Law.ZCDP: "ρ", Law.GDP: "μ²"}
_USUAL_DELTA = Fraction(1, 10**6)
_FEW = 3


def build_report(files: ReleaseFiles) -> Report:
    """Build the report of a release.

    Privacy:
        Functions of the release's own files alone: paid answers, public inputs and the synthetic rows.
    """
    manifest = files.manifest
    guarantee = _guarantee(manifest)
    return Report(
        release_id=manifest.release_id,
        dataset=manifest.dataset,
        table=files.schema.name,
        day=manifest.day,
        rows=manifest.output_rows,
        signers=files.signers,
        verify=f"dprelease verify {manifest.release_id} --key PUBLIC-KEY.pem",
        protected=_protected(manifest),
        strength=_strength(guarantee),
        not_protected=manifest.not_protected,
        guarantee=guarantee,
        budget=_budget(files),
        accuracy=accuracy(files),
        audit=None if files.audit is None else _audit(files.audit),
        annex=_annex(files),
    )


def _protected(manifest: Manifest) -> str:
    if manifest.unit["kind"] == "row":
        return "Each row of the private table is protected: the promise compares the table with and without it."
    return (
        f"Each person is protected as a whole: all rows with the same value in column {manifest.unit['id_column']!r}, "
        f"of which at most {manifest.unit['max_rows']} count. The promise compares the table with and without them."
    )


def _strength(guarantee: GuaranteePart) -> str:
    """Say the guarantee in one sentence; ε and the rates are rounded up."""
    point, gain = guarantee.release_epsilon, guarantee.attacks[0]
    return (
        f"Epsilon is {decimal_above(Fraction(point.epsilon), 4)} at delta {short(point.delta)}: whoever wants to find "
        f"out from this release whether somebody is in the table, and accepts 1 false alarm in 100, is right about at "
        f"most {math.ceil(round(100 * gain.power, 6))} in 100 of those who are."
    )


def short(text: str, digits: int = 4) -> str:
    """Write an exact text ``p/q`` as a short decimal, rounded up; a power of ten below 1/1000 as 1e-k."""
    value = from_text(text)
    zeros = len(str(value.denominator)) - 1
    if value == Fraction(1, 10**zeros) and zeros > 3:
        return f"1e-{zeros}"
    return decimal_above(value, digits)


def _guarantee(manifest: Manifest) -> GuaranteePart:
    stated = manifest.guarantee
    delta = _delta(manifest)
    return GuaranteePart(
        law=stated.law.value,
        amount_name=_AMOUNTS[stated.law],
        release_cap=stated.release_cap,
        dataset_cap=stated.dataset_cap,
        release_epsilon=_at(stated.release_curve, delta),
        dataset_epsilon=_at(stated.dataset_curve, delta),
        release_curve=stated.release_curve,
        dataset_curve=stated.dataset_curve,
        attacks=(
            attack("release", _cap(stated.law, stated.release_cap)),
            attack("dataset", _cap(stated.law, stated.dataset_cap)),
        ),
        others=OTHERS,
        source=stated.conversion,
    )


def _cap(law: Law, part: CapPart) -> Cap:
    return cap(law, from_text(part.amount), from_text(part.delta))


def _delta(manifest: Manifest) -> str:
    """Return the δ at which the release states its ε."""
    if manifest.guarantee.release_statement is not None:
        return manifest.guarantee.release_statement.delta
    return str(manifest.config.get("budget", {}).get("delta") or to_text(_USUAL_DELTA))


def _at(curve: tuple[CurvePoint, ...], delta: str) -> CurvePoint:
    found = [point for point in curve if point.delta == delta]
    return found[0] if found else curve[0]


def _budget(files: ReleaseFiles) -> BudgetPart:
    manifest = files.manifest
    limit = from_text(manifest.guarantee.release_cap.amount)
    charges = []
    totals: dict[str, list[Fraction]] = {}
    for question in manifest.questions:
        stage, about = _stage(question.question)
        cost = from_text(question.cost)
        totals.setdefault(stage, []).append(cost)
        variance = question.event.variance
        charges.append(
            ChargePart(
                entry=question.entry,
                stage=stage,
                about=about,
                noise=None if variance is None else round(math.sqrt(from_text(variance)), 3),
                cost=question.cost,
                share=round(float(cost / limit), 6),
            )
        )
    settled = from_text(manifest.settled)
    return BudgetPart(
        stages=tuple(
            StagePart(
                name=name,
                questions=len(costs),
                cost=to_text(sum(costs, Fraction(0))),
                share=round(float(sum(costs, Fraction(0)) / limit), 6),
            )
            for name, costs in totals.items()
        ),
        charges=tuple(charges),
        settled=manifest.settled,
        unused=to_text(limit - settled),
        left=to_text(max(Fraction(0), from_text(manifest.guarantee.dataset_cap.amount) - files.allotted)),
        runs=manifest.runs,
        looks=len(manifest.looks),
        source="ledger.jsonl: the entry of each question, its event and its price",
    )


Stage = Literal[
    "number of rows", "single columns", "several columns together", "choosing what to measure", "votes for rows"
]


def _stage(question: dict[str, Any]) -> tuple[Stage, str]:
    """Name the kind of a question, and what it was about."""
    match question["question"]:
        case "total":
            return "number of rows", "all rows"
        case "marginals":
            cliques = [" × ".join(clique) for clique in question["cliques"]]
            alone = all(len(clique) == 1 for clique in question["cliques"])
            about = ", ".join(cliques) if len(cliques) <= _FEW else f"{len(cliques)} marginals"
            return "single columns" if alone else "several columns together", about
        case "votes":
            return "votes for rows", "candidate rows"
        case _:
            return "choosing what to measure", "candidate marginals"


def _audit(document: AuditDocument) -> AuditPart:
    return AuditPart(
        level=document.level,
        significance=document.significance,
        columns=len(document.columns),
        whole_schema=document.whole_schema,
        pairs=tuple(
            PairPart(
                pair=part.pair,
                runs=part.runs_each_side,
                errors=part.false_positives + part.false_negatives,
                lower_bound=part.lower_bound,
                claimed=part.claimed_mu,
                power=part.power,
                verdict=part.verdict,
            )
            for part in document.pairs
        ),
        samplers=len(document.goodness),
        verdict=document.verdict,
        limits=document.no_proof,
        source=AUDIT_NAME,
    )


def _annex(files: ReleaseFiles) -> AnnexPart:
    manifest = files.manifest
    return AnnexPart(
        mechanism=manifest.mechanism,
        notes=manifest.notes,
        constraints=tuple(files.schema.meanings),
        schema_digest=manifest.schema_digest,
        identifiers_left_out=len(files.schema.identifiers),
        noise=manifest.randomness.noise,
        isolation=manifest.randomness.isolation,
        public_seed=manifest.randomness.public_seed,
        ledger_entries=manifest.ledger.entries,
        ledger_head=manifest.ledger.head,
        software=manifest.software,
        files=tuple(FilePart(name=name, sha256=digest) for name, digest in files.digests),
    )
