"""Verify a release folder: signature, form, digests, ledger chain, sums by two codes, ε by two formulas, output."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from accounting.budget import cap
from accounting.errors import ConfigError, LedgerError, VerificationFailed
from accounting.exact import decimal_above, from_text, to_text
from accounting.ledger.history import History
from accounting.schema import Schema
from release.auditing import ATTESTATIONS, check_attestations
from release.dsse import unseal
from release.manifest import CapPart, CurvePoint, Manifest, QuestionPart
from release.statement import MANIFEST_NAME, Statement, file_digest, parse_statement
from release.verify.sums import Sums, sum_lines
from release.verify.table import check_csv, check_parquet

SCHEMA_NAME = "schema.json"
LEDGER_NAME = "ledger.jsonl"
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
    if not (folder / MANIFEST_NAME).is_file():
        raise ConfigError(f"{folder} is not a release folder: it has no {MANIFEST_NAME}")
    payload, signers = unseal((folder / MANIFEST_NAME).read_bytes(), trusted, file=MANIFEST_NAME)
    statement = parse_statement(payload)
    manifest = statement.predicate
    _check_files(folder, statement)
    check_attestations(folder, trusted)
    schema = _check_schema(folder, manifest)
    sums = _check_ledger(folder, manifest)
    _check_guarantee(manifest, sums)
    rows = _check_tables(folder, schema, manifest)
    spent = f"{manifest.guarantee.law.unit} = {decimal_above(from_text(sums.settled))}"
    return Verified(
        manifest,
        signers,
        rows,
        (
            f"signed by {len(signers)} trusted key{'s' if len(signers) > 1 else ''}, in canonical form",
            f"{len(statement.subject)} files are exactly the signed ones",
            f"{manifest.ledger.entries} ledger entries form one chain",
            f"{len(manifest.questions)} questions cost {spent}, within the caps, by two codes",
            f"epsilon at {len(manifest.guarantee.release_curve)} deltas, by two formulas",
            f"{rows} synthetic rows keep the schema{_and_constraints(schema)}",
        ),
    )


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


def _check_schema(folder: Path, manifest: Manifest) -> Schema:
    try:
        schema = Schema.from_json(json.loads((folder / SCHEMA_NAME).read_bytes()))
    except (OSError, ValueError, ConfigError):
        raise VerificationFailed("this is not a schema", file=SCHEMA_NAME) from None
    if schema.digest != manifest.schema_digest:
        raise VerificationFailed("this is not the schema of the manifest", file=SCHEMA_NAME)
    return schema


def _check_ledger(folder: Path, manifest: Manifest) -> Sums:
    """Replay the chain (first code), add it up again (second code), and compare both with the manifest."""
    try:
        lines = (folder / LEDGER_NAME).read_bytes().splitlines()
    except OSError:
        raise VerificationFailed("the ledger's entries are missing", file=LEDGER_NAME) from None
    replay = _replay(lines, manifest)
    release, dataset = replay.history.releases[manifest.release_id], replay.history.datasets[manifest.dataset]
    sums = sum_lines(lines, manifest.release_id, file=LEDGER_NAME)
    replayed = (dataset.cap, dataset.allotted, release.cap, release.granted, release.settled)
    if replayed != tuple(map(from_text, (sums.dataset_cap, sums.allotted, sums.cap, sums.granted, sums.settled))):
        raise VerificationFailed("two ways of adding up the entries differ", file=LEDGER_NAME)
    if [(q.request_id, q.entry, q.answer_digest) for q in manifest.questions] != replay.settled:
        raise VerificationFailed("the manifest lists other questions than the ledger settled", file=MANIFEST_NAME)
    for question in manifest.questions:
        _check_question(question, replay.reserved[question.request_id])
    if manifest.settled != sums.settled:
        raise VerificationFailed("the manifest states another spend than the ledger", file=MANIFEST_NAME)
    return sums


@dataclass(frozen=True, slots=True)
class _Replay:
    """The replayed lines: their history, this release's reservations by request, its settlements in order."""

    history: History
    reserved: dict[str, Mapping[str, Any]]
    settled: list[tuple[str, int, str]]


def _replay(lines: list[bytes], manifest: Manifest) -> _Replay:
    replay = _Replay(History(whole=False), {}, [])
    try:
        for line in lines:
            body = replay.history.apply(line)
            if body.get("release") == manifest.release_id and body["kind"] == "reserved":
                replay.reserved[body["request"]] = body
            elif body.get("release") == manifest.release_id and body["kind"] == "settled":
                replay.settled.append((body["request"], body["number"], body["answer"]))
    except LedgerError as error:
        raise VerificationFailed(str(error), file=LEDGER_NAME) from None
    history = replay.history
    if manifest.release_id not in history.releases or set(history.datasets) != {manifest.dataset}:
        raise VerificationFailed("the entries are not those of this dataset and release", file=LEDGER_NAME)
    if (len(lines), history.heads[manifest.dataset]) != (manifest.ledger.entries, manifest.ledger.head):
        raise VerificationFailed("the chain does not end where the manifest says", file=LEDGER_NAME)
    return replay


def _check_question(question: QuestionPart, entry: Mapping[str, Any]) -> None:
    event = question.event.model_dump(exclude_none=True)
    if (question.digest, question.cost, event) != (entry["digest"], entry["amount"], entry["event"]):
        reason = f"question {question.request_id} is another one than the ledger reserved"
        raise VerificationFailed(reason, file=MANIFEST_NAME)


def _check_guarantee(manifest: Manifest, sums: Sums) -> None:
    guarantee = manifest.guarantee
    law = guarantee.law
    stated = (law.value, guarantee.dataset_cap.amount, guarantee.release_cap.amount)
    if stated != (sums.law, sums.dataset_cap, sums.cap):
        raise VerificationFailed("the manifest states other caps than the ledger", file=MANIFEST_NAME)
    release_cap = from_text(guarantee.release_cap.amount)
    if from_text(manifest.plan.total) > release_cap:
        raise VerificationFailed("the plan could cost more than the release's cap", file=MANIFEST_NAME)
    groups = [(int(size), part) for size, part in guarantee.groups.items()]
    for size, part in [(2, guarantee.replacing_one_unit), *groups]:
        if part != CapPart(amount=to_text(release_cap * size * size), delta=guarantee.release_cap.delta):
            raise VerificationFailed(f"the bound for {size} units is not what the cap gives", file=MANIFEST_NAME)
    for amount, points in (
        (release_cap, guarantee.release_curve),
        (from_text(sums.dataset_cap), guarantee.dataset_curve),
    ):
        for point in points:
            _check_point(law.value, amount, point, manifest)


def _check_point(law: str, amount: Fraction, point: CurvePoint, manifest: Manifest) -> None:
    from accounting import convert, second_opinion

    delta = from_text(point.delta)
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
