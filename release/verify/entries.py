"""Verify a release's ledger entries: one chain, in a signed checkpoint, added up by two codes, as the manifest says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accounting.canonical import Json, canonical_bytes
from accounting.errors import LedgerError, VerificationFailed
from accounting.exact import from_text
from accounting.ledger import Checkpoint, History, check_inclusion
from release.excerpt import EVIDENCE_NAME, looks_of, summary_of
from release.manifest import Manifest, QuestionPart, look_part, run_part
from release.statement import MANIFEST_NAME
from release.verify.sums import Sums, sum_lines

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

LEDGER_NAME = "ledger.jsonl"


def check_entries(folder: Path, manifest: Manifest, keys: "Sequence[Ed25519PublicKey]") -> tuple[Checkpoint, Sums]:
    """Replay the chain (first code), add it up again (second code), and compare both with the manifest.

    Args:
        folder: the release.
        manifest: its manifest.
        keys: the public keys that may sign the ledger's checkpoint.

    Returns:
        The checkpoint that proves the entries, and their sums.

    Raises:
        VerificationFailed: names the file and what is wrong with it.
    """
    lines = read_lines(folder)
    replay = _replay(lines, manifest)
    checkpoint = _check_evidence(folder, replay.history, lines[-1], keys)
    sums = sum_lines(lines, manifest.release_id, file=LEDGER_NAME)
    release, dataset = replay.history.releases[manifest.release_id], replay.history.datasets[manifest.dataset]
    replayed = [dataset.cap, dataset.allotted, release.cap, release.granted, release.settled]
    replayed += [dataset.cap_delta, dataset.allotted_delta, release.cap_delta]
    replayed += [release.granted_delta, release.settled_delta]
    added = [sums.dataset_cap, sums.allotted, sums.cap, sums.granted, sums.settled]
    added += [sums.dataset_delta, sums.allotted_delta, sums.cap_delta, sums.granted_delta, sums.settled_delta]
    if replayed != list(map(from_text, added)):
        raise VerificationFailed("two ways of adding up the entries differ", file=LEDGER_NAME)
    _check_questions(manifest, replay)
    if (manifest.settled, manifest.settled_delta) != (sums.settled, sums.settled_delta):
        raise VerificationFailed("the manifest states another spend than the ledger", file=MANIFEST_NAME)
    summary = summary_of(replay.history, looks_of(replay.bodies), len(lines))
    if manifest.runs != tuple(map(run_part, summary.runs)):
        raise VerificationFailed("the manifest lists other runs of the dataset than the ledger", file=MANIFEST_NAME)
    if manifest.looks != tuple(map(look_part, summary.looks)):
        raise VerificationFailed("the manifest lists other looks at the table than the ledger", file=MANIFEST_NAME)
    return checkpoint, sums


def read_lines(folder: Path) -> list[bytes]:
    """Read a release's ledger entries, without line feeds.

    Raises:
        VerificationFailed: they are missing.
    """
    try:
        return (folder / LEDGER_NAME).read_bytes().splitlines()
    except OSError:
        raise VerificationFailed("the ledger's entries are missing", file=LEDGER_NAME) from None


def read_evidence(folder: Path) -> dict[str, Json]:
    """Read a release's checkpoint and inclusion proof.

    Raises:
        VerificationFailed: they are missing, or not in their one canonical byte form.
    """
    try:
        content = (folder / EVIDENCE_NAME).read_bytes()
        evidence = json.loads(content)
    except (OSError, ValueError):
        evidence = None
    if not isinstance(evidence, dict) or canonical_bytes(evidence) != content:
        raise VerificationFailed("this is not the evidence of a ledger", file=EVIDENCE_NAME)
    return evidence


@dataclass(slots=True)
class _Replay:
    """The replayed lines: history, fields, this release's reservations by request and its settlements in order."""

    history: History = field(default_factory=lambda: History(whole=False))
    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    reserved: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    settled: list[tuple[str, int, str]] = field(default_factory=list)


def _replay(lines: list[bytes], manifest: Manifest) -> _Replay:
    replay = _Replay()
    try:
        for line in lines:
            body = replay.history.apply(line)
            replay.bodies.append(body)
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


def _check_evidence(folder: Path, history: History, last: bytes, keys: "Sequence[Ed25519PublicKey]") -> Checkpoint:
    evidence = read_evidence(folder)
    try:
        return check_inclusion(history, last, evidence, keys)
    except VerificationFailed as error:
        raise VerificationFailed(str(error), file=EVIDENCE_NAME) from None


def _check_questions(manifest: Manifest, replay: _Replay) -> None:
    if [(q.request_id, q.entry, q.answer_digest) for q in manifest.questions] != replay.settled:
        raise VerificationFailed("the manifest lists other questions than the ledger settled", file=MANIFEST_NAME)
    for question in manifest.questions:
        _check_question(question, replay.reserved[question.request_id])


def _check_question(question: QuestionPart, entry: Mapping[str, Any]) -> None:
    event = question.event.model_dump(exclude_none=True)
    stated = (question.digest, question.cost, question.delta, event)
    if stated != (entry["digest"], entry["amount"], entry["delta"], entry["event"]):
        reason = f"question {question.request_id} is another one than the ledger reserved"
        raise VerificationFailed(reason, file=MANIFEST_NAME)
