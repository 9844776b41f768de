"""Audit a prepared release on planted tables, check a release's claim, and sign an audit into ``attestations/``."""

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from accounting.budget import Law
from accounting.canonical import canonical_bytes, sha256
from accounting.errors import VerificationFailed
from accounting.exact import from_text
from audits.document import AuditDocument
from release.dsse import payload_of, seal, unseal
from release.statement import ATTESTATIONS, MANIFEST_NAME, STATEMENT_TYPE, Digest, Subject

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from audits.claim import ClaimCheck
    from audits.mechanism import Level, Say
    from release.manifest import Manifest
    from release.prepared import Prepared

_SUFFIX = ".dsse.json"
_STATEMENT = "statement"
"""What an audit is about: the payload of the release's envelope, to which further signatures may be added."""


class AuditStatement(BaseModel):
    """An in-toto Statement v1 about a signed release's manifest whose predicate is an audit."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: tuple[Subject]
    predicate_type: Literal["urn:dprelease:predicate:audit:v1"] = Field(alias="predicateType")
    predicate: AuditDocument

    def to_bytes(self) -> bytes:
        """Return the statement's one canonical byte form."""
        return canonical_bytes(self.model_dump(mode="json", by_alias=True))


def audit_prepared(
    prepared: "Prepared", level: "Level", *, runs: int | None = None, keep: Path | None = None, say: "Say"
) -> AuditDocument:
    """Audit a prepared release's mechanism; the private file is not opened and nothing is spent.

    Raises:
        ConfigError: the mechanism cannot be audited, or ``keep`` belongs to another audit.
    """
    from audits.mechanism import Subject as Audited
    from audits.mechanism import audit_mechanism
    from mechanisms.registry import config_from_table

    config = config_from_table(prepared.config.mechanism_kind, prepared.config.mechanism_options)
    subject = Audited(
        prepared.config.mechanism_kind,
        config,
        prepared.mechanism_cap,
        prepared.unit,
        prepared.schema,
        prepared.search,
    )
    processes = len(os.sched_getaffinity(0))
    return audit_mechanism(subject, level, processes=processes, runs=runs, keep=keep, say=say)


def check_audit(document: AuditDocument) -> None:
    """Refuse a falsified claim.

    Raises:
        VerificationFailed: the audit falsified the claim.
    """
    if document.verdict == "falsified":
        raise VerificationFailed("the audit falsified the claim: do not release by this mechanism on this machine")


def audit_bytes(document: AuditDocument) -> bytes:
    """Write ``audit.json``: one canonical byte form."""
    return canonical_bytes(document.model_dump(mode="json"))


def claim_checks(folder: Path, manifest: "Manifest") -> "tuple[ClaimCheck, ...]":
    """Recompute what a verified release claims: its sums and every point of its ε(δ) curves.

    Args:
        folder: the release, verified.
        manifest: its manifest.
    """
    from audits.claim import check_epsilon, check_sum
    from release.verify.entries import LEDGER_NAME, read_lines
    from release.verify.sums import sum_lines

    guarantee, law = manifest.guarantee, Law(manifest.guarantee.law)
    costs = [from_text(question.cost) for question in manifest.questions]
    checks = [check_sum(f"sum of {law.unit}", costs, from_text(manifest.settled))]
    sums = sum_lines(read_lines(folder), manifest.release_id, file=LEDGER_NAME)
    checks.append(check_sum(f"sum of {law.unit}, against the ledger", costs, from_text(sums.settled)))
    for stated, points in (
        (guarantee.release_cap, guarantee.release_curve),
        (guarantee.dataset_cap, guarantee.dataset_curve),
    ):
        for point in points:
            delta = from_text(point.delta) - from_text(stated.delta)
            checks += check_epsilon(law, from_text(stated.amount), delta, Fraction(point.epsilon))
    return tuple(checks)


def attest(folder: Path, document: AuditDocument, key: "Ed25519PrivateKey") -> Path:
    """Sign an audit as a statement about a release's manifest, into the one place of a release that may grow.

    Args:
        folder: the release, verified.
        document: the audit.
        key: the auditor's key.

    Returns:
        The path of the new envelope.
    """
    subject = Subject(name=_STATEMENT, digest=Digest(sha256=_statement_digest(folder)))
    statement = AuditStatement(
        type_=STATEMENT_TYPE,
        subject=(subject,),
        predicate_type="urn:dprelease:predicate:audit:v1",
        predicate=document,
    )
    place = folder / ATTESTATIONS
    place.mkdir(exist_ok=True)
    number = 1 + max((int(path.name[6:9]) for path in place.glob(f"audit-[0-9][0-9][0-9]{_SUFFIX}")), default=0)
    target = place / f"audit-{number:03d}{_SUFFIX}"
    with target.open("xb") as file:
        file.write(seal(statement.to_bytes(), [key]))
    return target


def check_attestations(folder: Path, trusted: "Mapping[str, Ed25519PublicKey]") -> int:
    """Check every later audit of a release: signed by a trusted key, and about this very manifest.

    Returns:
        How many there are.

    Raises:
        VerificationFailed: names the file and what is wrong with it.
    """
    place = folder / ATTESTATIONS
    if not place.exists():
        return 0
    if place.is_symlink() or not place.is_dir():
        raise VerificationFailed("attestations are a folder", file=ATTESTATIONS)
    signed = _statement_digest(folder)
    paths = sorted(place.iterdir())
    for path in paths:
        name = f"{ATTESTATIONS}/{path.name}"
        if path.is_symlink() or not path.is_file() or not path.name.endswith(_SUFFIX):
            raise VerificationFailed("attestations are signed statements only", file=name)
        payload, _ = unseal(path.read_bytes(), trusted, file=name)
        try:
            statement = AuditStatement.model_validate_json(payload)
        except ValidationError:
            raise VerificationFailed("this is not a statement about an audit", file=name) from None
        if statement.to_bytes() != payload or statement.subject[0].digest.sha256 != signed:
            raise VerificationFailed("this statement is about another release", file=name)
    return len(paths)


def _statement_digest(folder: Path) -> str:
    return sha256(payload_of((folder / MANIFEST_NAME).read_bytes(), file=MANIFEST_NAME))
