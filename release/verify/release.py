"""Verify a release folder: signature, form, digests, the ledger's entries, ε by two formulas, output."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from accounting.budget import cap
from accounting.errors import ConfigError, VerificationFailed
from accounting.exact import decimal_above, from_text, to_text
from accounting.schema import Schema
from release.confidentiality import is_confidential
from release.dsse import unseal
from release.excerpt import EVIDENCE_NAME, Excerpt
from release.manifest import CapPart, CurvePoint, Manifest
from release.statement import (
    ATTESTATIONS,
    DOMAIN_NAME,
    MANIFEST_NAME,
    Statement,
    check_release_folder,
    file_digest,
    parse_statement,
)
from release.verify.entries import LEDGER_NAME, check_entries, read_evidence, read_lines
from release.verify.sums import Sums
from release.verify.table import check_csv, check_parquet

SCHEMA_NAME = "schema.json"
TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Verified:
    """A release that keeps what it says.

    Args:
        manifest: its manifest.
        signers: the fingerprints of the trusted keys that signed it.
        rows: the number of synthetic rows.
        checks: one sentence for each thing that was checked.
    """

    manifest: Manifest
    signers: tuple[str, ...]
    rows: int
    checks: tuple[str, ...]


def verify_release(folder: Path, trusted: Mapping[str, Ed25519PublicKey]) -> Verified:
    """Verify a release folder offline.

    Args:
        folder: the release.
        trusted: the public keys that may sign, by fingerprint; never taken from the release.

    Raises:
        ConfigError: there is no such release.
        VerificationFailed: names the file and what is wrong with it.
    """
    statement, signers = _open(folder, trusted)
    manifest = statement.predicate
    _check_files(folder, statement)
    _check_attestations(folder, trusted)
    schema = _check_schema(folder, manifest)
    checkpoint, sums = check_entries(folder, manifest, list(trusted.values()))
    _check_guarantee(manifest, sums)
    measured = _check_domain(folder, manifest)
    rows = _check_tables(folder, schema, manifest)
    spent = f"{manifest.guarantee.law.unit} = {decimal_above(from_text(sums.settled))}"
    return Verified(
        manifest,
        signers,
        rows,
        (
            f"signed by {len(signers)} trusted key{'s' if len(signers) > 1 else ''}, in canonical form",
            f"{len(statement.subject)} files are exactly the signed ones",
            f"{manifest.ledger.entries} ledger entries form one chain, in a signed checkpoint of {checkpoint.size}",
            f"{len(manifest.questions)} questions cost {spent}, within the caps, by two codes",
            *_measured(measured, sums),
            f"epsilon at {len(manifest.guarantee.release_curve)} deltas, by two formulas",
            f"{rows} synthetic rows keep the schema{_and_constraints(schema)}",
        ),
    )


def _measured(columns: int, sums: Sums) -> tuple[str, ...]:
    """Say that measured domains follow from the released answers, if any are."""
    if not columns:
        return ()
    delta = decimal_above(from_text(sums.settled_delta))
    domains = f"{columns} measured domain{'s follow' if columns > 1 else ' follows'}"
    return (f"{domains} from the settled answers, at delta = {delta}",)


def _check_attestations(folder: Path, trusted: Mapping[str, Ed25519PublicKey]) -> None:
    if (folder / ATTESTATIONS).exists():  # most releases have none, and need no model of an audit
        from release.auditing import check_attestations

        check_attestations(folder, trusted)


def _check_domain(folder: Path, manifest: Manifest) -> int:
    if manifest.domain is None and not (folder / DOMAIN_NAME).exists():
        return 0
    from release.domain import check_domain  # a search is repeated, which takes the mechanisms

    return check_domain(folder, manifest)


def signed_excerpt(folder: Path, trusted: Mapping[str, Ed25519PublicKey]) -> Excerpt:
    """Return a release's ledger entries and their proof, as a trusted key signed them; nothing else is checked.

    Raises:
        ConfigError: there is no such release.
        VerificationFailed: not signed by a trusted key, or changed afterwards.
    """
    statement, _ = _open(folder, trusted)
    listed = {subject.name: subject.digest.sha256 for subject in statement.subject}
    for name in (LEDGER_NAME, EVIDENCE_NAME):
        if not (folder / name).is_file() or listed.get(name) != file_digest(folder / name):
            raise VerificationFailed("this file is missing or was changed after it was signed", file=name)
    return Excerpt(tuple(read_lines(folder)), read_evidence(folder))


def _open(folder: Path, trusted: Mapping[str, Ed25519PublicKey]) -> tuple[Statement, tuple[str, ...]]:
    check_release_folder(folder)
    payload, signers = unseal((folder / MANIFEST_NAME).read_bytes(), trusted, file=MANIFEST_NAME)
    return parse_statement(payload), signers


def _and_constraints(schema: Schema) -> str:
    number = len(schema.constraints)
    return f" and its {number} constraint{'s' if number > 1 else ''}" if number else ""


def _check_files(folder: Path, statement: Statement) -> None:
    listed = {subject.name: subject.digest.sha256 for subject in statement.subject}
    if len(listed) != len(statement.subject) or MANIFEST_NAME in listed:
        raise VerificationFailed("the statement lists a file twice, or itself", file=MANIFEST_NAME)
    for path in sorted(folder.iterdir()):
        if path.name == ATTESTATIONS:
            continue
        if path.name != MANIFEST_NAME and path.name not in listed:
            raise VerificationFailed("this file is not part of the signed release", file=path.name)
        if path.is_symlink() or not path.is_file():
            raise VerificationFailed("a release holds plain files only", file=path.name)
    for name, digest in listed.items():
        if not (folder / name).is_file():
            raise VerificationFailed("this file of the release is missing", file=name)
        if file_digest(folder / name) != digest:
            raise VerificationFailed("this file was changed after it was signed", file=name)
        if is_confidential(folder / name):
            raise VerificationFailed("this file is confidential and must never be in a release", file=name)


def _check_schema(folder: Path, manifest: Manifest) -> Schema:
    try:
        schema = Schema.from_json(json.loads((folder / SCHEMA_NAME).read_bytes()))
    except (OSError, ValueError, ConfigError):
        raise VerificationFailed("this is not a schema", file=SCHEMA_NAME) from None
    if schema.digest != manifest.schema_digest:
        raise VerificationFailed("this is not the schema of the manifest", file=SCHEMA_NAME)
    return schema


def _check_guarantee(manifest: Manifest, sums: Sums) -> None:
    guarantee = manifest.guarantee
    law = guarantee.law
    stated = (law.value, guarantee.dataset_cap, guarantee.release_cap)
    caps = (CapPart(amount=sums.dataset_cap, delta=sums.dataset_delta), CapPart(amount=sums.cap, delta=sums.cap_delta))
    if stated != (sums.law, *caps):
        raise VerificationFailed("the manifest states other caps than the ledger", file=MANIFEST_NAME)
    release_cap = from_text(guarantee.release_cap.amount)
    if from_text(manifest.plan.total) > release_cap:
        raise VerificationFailed("the plan could cost more than the release's cap", file=MANIFEST_NAME)
    if guarantee.groups and sums.cap_delta != "0/1":
        raise VerificationFailed("bounds for groups do not follow from a cap with a delta", file=MANIFEST_NAME)
    groups = [(int(size), part) for size, part in guarantee.groups.items()]
    for size, part in [(2, guarantee.replacing_one_unit), *groups]:
        if part != CapPart(amount=to_text(release_cap * size * size), delta=guarantee.release_cap.delta):
            raise VerificationFailed(f"the bound for {size} units is not what the cap gives", file=MANIFEST_NAME)
    for stated_cap, points in (
        (guarantee.release_cap, guarantee.release_curve),
        (guarantee.dataset_cap, guarantee.dataset_curve),
    ):
        for point in points:
            _check_point(law.value, stated_cap, point, manifest)


def _check_point(law: str, stated: CapPart, point: CurvePoint, manifest: Manifest) -> None:
    from accounting import convert, second_opinion

    amount, delta = from_text(stated.amount), from_text(point.delta) - from_text(stated.delta)
    for formula in (convert.epsilon, second_opinion.epsilon):
        try:
            recomputed = formula(cap(manifest.guarantee.law, amount).amount, delta)
        except ConfigError:
            reason = f"epsilon at delta {point.delta} is outside what the conversions cover"
            raise VerificationFailed(reason, file=MANIFEST_NAME) from None
        if abs(Fraction(point.epsilon) - recomputed) > TOLERANCE * max(recomputed, TOLERANCE):
            raise VerificationFailed(
                f"epsilon at delta {point.delta} is not what the cap gives under {law}", file=MANIFEST_NAME
            )


def _check_tables(folder: Path, schema: Schema, manifest: Manifest) -> int:
    counts = []
    for name, check in (("synthetic.csv", check_csv), ("synthetic.parquet", check_parquet)):
        if (folder / name).is_file():
            counts.append((name, check(folder / name, schema)))
    if not counts:
        raise VerificationFailed("the release holds no synthetic table", file=MANIFEST_NAME)
    for name, rows in counts:
        if rows != manifest.output_rows:
            raise VerificationFailed("the number of rows is not that of the manifest", file=name)
    return manifest.output_rows
