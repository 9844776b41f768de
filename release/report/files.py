"""Read the files of a release that its report is made from."""

import csv
import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError, VerificationFailed
from accounting.exact import from_text
from accounting.schema import Column, Schema
from audits.document import AuditDocument
from release.bounds import BOUNDS_NAME
from release.dsse import payload_of
from release.manifest import Manifest
from release.statement import MANIFEST_NAME, check_release_folder, file_digest, parse_statement

HTML_NAME, JSON_NAME = "report.html", "report.json"
SCHEMA_NAME, LEDGER_NAME, AUDIT_NAME = "schema.json", "ledger.jsonl", "audit.json"
_CSV, _PARQUET = "synthetic.csv", "synthetic.parquet"


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseFiles:
    """What a report is made from.

    Args:
        manifest: the release's manifest.
        schema: the public schema.
        bounds: the rows of ``bounds.csv``.
        counts: for each column the number of synthetic rows in each cell.
        allotted: what all runs up to this one took from the dataset's cap.
        audit: the audit that is signed with the release, or None.
        digests: each file's name and SHA-256, the manifest and the reports left out.
    """

    manifest: Manifest
    schema: Schema
    bounds: tuple[dict[str, str], ...]
    counts: dict[str, npt.NDArray[np.int64]]
    allotted: Fraction
    audit: AuditDocument | None
    digests: tuple[tuple[str, str], ...]


def read_release(folder: Path) -> ReleaseFiles:
    """Read a signed release; the signature is not checked here, ``verify`` does that.

    Raises:
        ConfigError: there is no such release, or it lacks a file that a report needs.
        VerificationFailed: a file is not what the manifest says.
    """
    check_release_folder(folder)
    statement = parse_statement(payload_of((folder / MANIFEST_NAME).read_bytes(), file=MANIFEST_NAME))
    listed = {subject.name: subject.digest.sha256 for subject in statement.subject}
    for name, digest in listed.items():
        if not (folder / name).is_file() or file_digest(folder / name) != digest:
            raise VerificationFailed("this file is missing or was changed after it was signed", file=name)
    for name in (BOUNDS_NAME, SCHEMA_NAME, LEDGER_NAME):
        if name not in listed:
            raise ConfigError(f"{folder} lists no {name}, which a report needs")
    names = tuple(name for name in sorted(listed) if name not in {HTML_NAME, JSON_NAME})
    return read_files(folder, names, statement.predicate)


def read_files(folder: Path, names: tuple[str, ...], manifest: Manifest) -> ReleaseFiles:
    """Read a finished folder whose manifest is known, signed or about to be.

    Args:
        folder: the folder.
        names: its files, the manifest and the reports left out.
        manifest: what is said about it.
    """
    schema = Schema.from_json(json.loads((folder / SCHEMA_NAME).read_bytes()))
    with (folder / BOUNDS_NAME).open(encoding="utf-8", newline="") as file:
        bounds = tuple(csv.DictReader(file))
    count = _count_csv if _CSV in names else _count_parquet
    return ReleaseFiles(
        manifest,
        schema,
        bounds,
        count(folder, schema),
        _allotted(folder),
        AuditDocument.model_validate_json((folder / AUDIT_NAME).read_bytes()) if AUDIT_NAME in names else None,
        tuple((name, file_digest(folder / name)) for name in names),
    )


def _allotted(folder: Path) -> Fraction:
    """Return what the last entry with the dataset's state says is taken."""
    states = (json.loads(line).get("dataset") for line in (folder / LEDGER_NAME).read_bytes().splitlines())
    return from_text([state for state in states if state is not None][-1]["allotted"])


def _count_csv(folder: Path, schema: Schema) -> dict[str, npt.NDArray[np.int64]]:
    found: list[Counter[str]] = [Counter() for _ in schema.columns]
    with (folder / _CSV).open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, strict=True)
        next(rows)
        for row in rows:
            for values, text in zip(found, row, strict=True):
                values[text] += 1
    return {
        column.name: _cells(column, column.ticks_of_text(list(values)), values)
        for column, values in zip(schema.columns, found, strict=True)
    }


def _count_parquet(folder: Path, schema: Schema) -> dict[str, npt.NDArray[np.int64]]:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / _PARQUET)
    counts = {}
    for column in schema.columns:
        values: Counter[Any] = Counter(table.column(column.name).to_pylist())
        counts[column.name] = _cells(column, column.ticks_of_values(list(values)), values)
    return counts


def _cells(column: Column, ticks: npt.NDArray[np.int64], values: "Counter[Any]") -> npt.NDArray[np.int64]:
    """Add up the rows of each distinct value into the column's cells."""
    counts = np.zeros(column.cells, dtype=np.int64)
    np.add.at(counts, column.cell_of_tick(ticks), np.fromiter(values.values(), dtype=np.int64, count=len(values)))
    return counts
