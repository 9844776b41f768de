"""Write the release folder: every file into a hidden folder beside it, signed, then renamed into place in one step."""

import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from accounting.canonical import canonical_bytes
from accounting.errors import ConfigError, LedgerError
from mechanisms.base import MechanismResult
from mechanisms.domain import FoundDomain
from release.bounds import write_bounds
from release.domain import domain_record, write_domain
from release.excerpt import EVIDENCE_NAME, Summary, summarise, take_excerpt
from release.keys import fingerprint
from release.manifest import Manifest, build_manifest
from release.marginals import MARGINALS_NAME, write_marginals
from release.output import write_table
from release.prepared import Prepared
from release.record import DomainRecord, RunRecord
from release.report.writing import write_reports
from release.runfile import RunFile
from release.settlement import Settlement
from release.software import versions
from release.statement import write_signed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from accounting.ledger import Account, Ledger

SCHEMA_NAME = "schema.json"
LEDGER_NAME = "ledger.jsonl"
AUDIT_NAME: Final = "audit.json"
ISOLATION: Final = "in-process"
_SPARE_BYTES = 50_000_000
_BYTES_PER_VALUE = 16


def check_free(target: Path, prepared: Prepared) -> None:
    """Check that a release's folder is free, can be written, and that the disk has room for the rows foreseen.

    Raises:
        ConfigError: it is there already, or the disk is too full.
        OSError: the workspace cannot be written.
    """
    if target.exists():
        raise ConfigError(f"{target} is there already; nothing was overwritten")
    partial = _partial_folder(target)
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir(parents=True)
    partial.rmdir()
    rows = prepared.declared_rows or prepared.schema.max_rows or 0
    needed = _SPARE_BYTES + rows * len(prepared.schema.columns) * _BYTES_PER_VALUE * len(prepared.config.output.formats)
    if shutil.disk_usage(target.parent).free < needed:
        raise ConfigError(f"{target.parent} has less than the {needed // 10**6} MB free that a release may need")


@dataclass(frozen=True, slots=True)
class Finished:
    """A run whose questions are all answered and settled.

    Args:
        prepared: what was prepared.
        ledger: the workspace's ledger.
        account: the release's account, closed.
        run: the run's own file.
        result: the synthetic rows and the transcript.
        settlement: what the ledger says, equal to the transcript.
        audit: the ``audit.json`` of an audit that was made for this release, or None.
        found: the search for the domains that were measured, or None.
    """

    prepared: Prepared
    ledger: "Ledger"
    account: "Account"
    run: RunFile
    result: MechanismResult
    settlement: Settlement
    audit: bytes | None = None
    found: FoundDomain | None = None


def write_release(finished: Finished, key: "Ed25519PrivateKey") -> Manifest:
    """Write, read back and sign a release's files, in the hidden folder.

    Returns:
        The manifest.

    Raises:
        ConfigError: the noise was seeded: a test cannot be signed as a release.
    """
    if finished.account.purpose != "release":
        raise ConfigError("this run is a test: its noise was seeded, so that it cannot be signed as a release")
    prepared = finished.prepared
    target = prepared.workspace.release_folder(finished.run.release_id)
    check_free(target, prepared)
    partial = _partial_folder(target)
    partial.mkdir()
    write_table(partial, finished.result.synthetic, prepared.config.output.formats)
    write_bounds(partial, finished.result.error_bounds)
    if prepared.config.output.model and finished.result.fitted is not None:
        finished.result.fitted.save(partial)
    if prepared.config.output.marginals:
        write_marginals(partial / MARGINALS_NAME, prepared.schema, finished.result.transcript)
    (partial / SCHEMA_NAME).write_bytes(canonical_bytes(prepared.schema.to_json()))
    if finished.found is not None:
        write_domain(partial, prepared.declared, finished.found.transcript)
    excerpt = take_excerpt(finished.ledger, prepared.dataset.label, key)
    (partial / LEDGER_NAME).write_bytes(b"".join(line + b"\n" for line in excerpt.lines))
    (partial / EVIDENCE_NAME).write_bytes(canonical_bytes(dict(excerpt.evidence)))
    if finished.audit is not None:
        (partial / AUDIT_NAME).write_bytes(finished.audit)
    names = tuple(sorted(path.name for path in partial.iterdir()))
    manifest = build_manifest(make_record(finished, summarise(excerpt.lines), names, fingerprint(key.public_key())))
    write_reports(partial, manifest)
    write_signed(partial, manifest, [key])
    _make_durable(partial, finished.settlement.day)
    return manifest


def put_in_place(target: Path) -> Path:
    """Rename a finished release's hidden folder to its own name, in one step."""
    _partial_folder(target).rename(target)
    _sync(target.parent)
    return target


def make_record(finished: Finished, summary: Summary, files: tuple[str, ...], issuer: str) -> RunRecord:
    """Gather everything public about a finished run for its manifest.

    Args:
        finished: the run.
        summary: what the entries that go into the release say about the dataset.
        files: the names of the release's files.
        issuer: the fingerprint of the key that signs the release first.

    Raises:
        LedgerError: the dataset's law was changed after the run.
    """
    prepared, account, run = finished.prepared, finished.account, finished.run
    result, settlement = finished.result, finished.settlement
    if summary.law is not account.law:
        raise LedgerError("the dataset's law was changed after this run, so that its release cannot be written")
    return RunRecord(
        release_id=run.release_id,
        dataset=account.label,
        purpose=account.purpose,
        issuer=issuer,
        day=settlement.day,
        config=prepared.config.to_json(),
        schema=prepared.schema.to_json(),
        schema_digest=prepared.schema.digest,
        unit=prepared.unit,
        dataset_cap=summary.cap,
        dataset_statement=summary.statement,
        cap=account.cap,
        statement=prepared.statement,
        delta=prepared.delta,
        mechanism=prepared.mechanism_json,
        plan=prepared.plan,
        questions=settlement.questions,
        settled=settlement.settled,
        bounds=result.error_bounds,
        notes=result.notes,
        public_seed=run.public_seed,
        output_rows=result.synthetic.rows,
        noise=account.noise,
        isolation=ISOLATION,
        software=versions(),
        runs=summary.runs,
        looks=summary.looks,
        ledger_entries=summary.entries,
        ledger_head=summary.head,
        files=files,
        domain=_domain(finished),
    )


def _domain(finished: Finished) -> DomainRecord | None:
    share, search = finished.prepared.config.domain.share, finished.prepared.search
    if finished.found is None or search is None or share is None:
        return None
    return domain_record(search, share, finished.found)


def _partial_folder(target: Path) -> Path:
    return target.with_name(f".{target.name}.partial")


def _make_durable(folder: Path, day: str) -> None:
    """Flush every file, and date it by the day only: a file's time would tell when the private run ended."""
    midnight = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    for path in folder.iterdir():
        _sync(path)
        os.utime(path, (midnight, midnight))
    _sync(folder)
    os.utime(folder, (midnight, midnight))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
