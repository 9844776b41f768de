"""Turn a release's files into the content of its report."""

from fractions import Fraction

from accounting.budget import Cap, Law, cap
from accounting.exact import from_text, to_text
from audits.document import AuditDocument
from audits.planted_bugs import PLANTED_BUGS
from release.manifest import CapPart, CurvePoint, Manifest
from release.report.accuracy import accuracy
from release.report.attacks import SOURCE, attack
from release.report.columns import schema_columns
from release.report.files import AUDIT_NAME, ReleaseFiles
from release.report.model import (
    AnnexPart,
    AuditPart,
    FilePart,
    GuaranteePart,
    PairPart,
    PlantedBugsPart,
    Report,
    Sentence,
    UnitPart,
)
from release.report.others import OTHERS
from release.report.sentences import sentence
from release.report.spending import budget

_AMOUNTS = {Law.ZCDP: "ρ", Law.GDP: "μ²"}
_USUAL_DELTA = Fraction(1, 10**6)


def build_report(files: ReleaseFiles) -> Report:
    """Build the report of a release.

    Privacy:
        Functions of the release's own files alone: paid answers, public inputs and the synthetic rows.
    """
    manifest = files.manifest
    guarantee = _guarantee(manifest)
    unit = UnitPart(**manifest.unit)
    about = manifest.config.get("about", {})
    return Report(
        release_id=manifest.release_id,
        dataset=manifest.dataset,
        table=files.schema.name,
        description=files.schema.table.description,
        publisher=about.get("publisher"),
        purpose=about.get("purpose"),
        language=about.get("language", "en"),
        day=manifest.day,
        rows=manifest.output_rows,
        unit=unit,
        signers=(manifest.issuer,),
        verify=f"dprelease verify {manifest.release_id} --key PUBLIC-KEY.pem",
        protected=_protected(unit),
        strength=_strength(guarantee),
        not_protected=manifest.not_protected,
        source="the signed manifest (unit, caps, number of rows) and schema.json (columns)",
        guarantee=guarantee,
        budget=budget(files),
        accuracy=accuracy(files),
        audit=None if files.audit is None else _audit(files.audit),
        planted_bugs=_planted_bugs(manifest.software.get("dprelease", "")),
        annex=_annex(files),
    )


def _protected(unit: UnitPart) -> Sentence:
    if unit.kind == "row":
        return sentence("cover.protected-row")
    return sentence("cover.protected-person", column=str(unit.id_column), rows=int(unit.max_rows or 0))


def _strength(guarantee: GuaranteePart) -> Sentence:
    """Say the guarantee in one sentence; ε and the rates are rounded up."""
    point, gain = guarantee.release_epsilon, guarantee.attacks[0]
    return sentence("cover.strength", epsilon=point.epsilon, delta=point.delta, power=gain.power)


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
        replacing_one_unit=stated.replacing_one_unit,
        groups=stated.groups,
        attacks=(
            attack("release", _cap(stated.law, stated.release_cap)),
            attack("dataset", _cap(stated.law, stated.dataset_cap)),
        ),
        attack_source=SOURCE,
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
        rows_alone=document.black_box.lower_bound,
        replayed=sum(part.questions for part in document.replay),
        violations=sum(len(part.violations) for part in document.replay),
        samplers=len(document.goodness),
        smallest_p=min((part.p_value for part in document.goodness), default=None),
        verdict=document.verdict,
        limits=document.no_proof,
        source=AUDIT_NAME,
    )


def _planted_bugs(version: str) -> tuple[PlantedBugsPart, ...]:
    """Group the bugs that this version's audits catch by the audit that catches them."""
    by_audit: dict[str, list[str]] = {}
    for bug in PLANTED_BUGS:
        by_audit.setdefault(bug.audit, []).append(bug.name)
    source = f"tests/audits/test_mutants.py of dprelease {version}"
    return tuple(
        PlantedBugsPart(audit=name, caught=len(bugs), bugs=tuple(bugs), source=source)
        for name, bugs in by_audit.items()
    )


def _annex(files: ReleaseFiles) -> AnnexPart:
    manifest = files.manifest
    return AnnexPart(
        source="the signed manifest and schema.json",
        mechanism=manifest.mechanism,
        notes=manifest.notes,
        columns=schema_columns(files.schema, manifest.domain),
        domain=manifest.domain,
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
