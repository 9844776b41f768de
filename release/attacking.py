"""Audit a release's output on private and held-out rows: confidential, written outside the release."""

import json
import os
from itertools import combinations
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING

from accounting.confidential import Ticks, on_private_rows
from accounting.errors import ConfigError
from accounting.schema import Schema
from release.verify.release import SCHEMA_NAME

if TYPE_CHECKING:
    from accounting.ledger import Ledger
    from audits.output import Say
    from audits.output_document import OutputAudit
    from release.manifest import Manifest
    from release.prepared import Prepared

LOOK = "audit-release"
FILE_NAME, PAGE_NAME = "output-audit.json", "output-audit.html"
_DEFAULT_WAYS = 3


def audit_output(
    prepared: "Prepared",
    ledger: "Ledger",
    folder: Path,
    manifest: "Manifest",
    *,
    holdout: Path | None,
    target: str | None,
    say: "Say",
) -> Path:
    """Attack and measure a release on its private rows, and write the result for the curator only.

    The look is an entry of the dataset's ledger, durable before a private file is opened.

    Args:
        prepared: the release.toml that names the private file.
        ledger: the workspace's ledger.
        folder: the release, verified.
        manifest: its manifest.
        holdout: rows that were not in the private table; None leaves the attacks out.
        target: the column to predict and to infer; None for the last.
        say: is told what is computed next.

    Returns:
        The result's file, in ``WORKSPACE/confidential/RELEASE-ID/`` (mode 0700); the page lies beside it.

    Raises:
        ConfigError: the release is of another schema or dataset, or the target is not a column.
        InputFileError: a file is refused for its form.
    """
    from audits.output import Tables, audit_tables, expected_seconds

    schema, unit, encoding = _released_schema(folder), prepared.unit, prepared.config.encoding
    declared = manifest.schema_digest if manifest.domain is None else manifest.domain.declared_schema_digest
    if declared != prepared.declared.digest or manifest.dataset != prepared.dataset.label:
        raise ConfigError("the release was made by another schema or of another dataset than this release.toml's")
    secret = target or schema.columns[-1].name
    schema.column(secret)
    synthetic = read_synthetic(folder, schema)
    workload = _workload(prepared)
    rows = int(next(iter(synthetic.values())).size)
    seconds = expected_seconds(schema, rows, held_out=holdout is not None)
    say(f"this takes about {max(1, round(seconds / 60))} min on an idle core")
    ledger.record_look(prepared.dataset.label, LOOK, schema.digest)
    held_out = None
    if holdout is not None:
        held_out = on_private_rows(holdout, schema, unit, lambda rows: rows, encoding=encoding).reveal_to_curator()

    def audit(private: Ticks) -> "OutputAudit":
        tables = Tables(schema, private, synthetic, held_out)
        return audit_tables(tables, release=manifest.release_id, target=secret, workload=workload, say=say)

    document = on_private_rows(prepared.data, schema, unit, audit, encoding=encoding).reveal_to_curator()
    return _write(prepared.workspace.folder / "confidential" / manifest.release_id, document)


def read_synthetic(folder: Path, schema: Schema) -> Ticks:
    """Read a release's synthetic rows, whose header is the schema's modelled columns."""
    from accounting.unit import RowUnit

    known = json.loads(json.dumps(schema.to_json()))
    known["columns"] = [column for column in known["columns"] if column["kind"] != "identifier"]
    modelled = Schema.from_json(known)
    path = next(folder / name for name in ("synthetic.csv", "synthetic.parquet") if (folder / name).is_file())
    return on_private_rows(path, modelled, RowUnit(), lambda rows: rows).reveal_to_curator()


def _released_schema(folder: Path) -> Schema:
    """Read the schema that a release states: where domains were measured, the one they led to."""
    return Schema.from_json(json.loads((folder / SCHEMA_NAME).read_bytes()))


def _workload(prepared: "Prepared") -> list[tuple[tuple[str, ...], int]]:
    """Return the marginals that the mechanism's options name, with whole weights; by default all of three columns."""
    from mechanisms.workload import WorkloadMarginal

    names = [column.name for column in prepared.schema.columns]
    named = prepared.config.mechanism_options.get("workload")
    if named is None:
        return [(clique, 1) for clique in combinations(names, min(_DEFAULT_WAYS, len(names)))]
    marginals = [WorkloadMarginal.from_option(item) for item in named]
    unit = lcm(*(marginal.weight.denominator for marginal in marginals))
    return [(tuple(sorted(m.columns, key=names.index)), int(m.weight * unit)) for m in marginals]


def _write(place: Path, document: "OutputAudit") -> Path:
    """Write the result and its page into a folder of the curator's alone."""
    from release.report.confidential import confidential_html

    place.parent.mkdir(mode=0o700, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)
    os.chmod(place, 0o700)  # noqa: PTH101 - one call for a folder that may have been there before
    _write_own(place / FILE_NAME, (document.model_dump_json(indent=2) + "\n").encode())
    _write_own(place / PAGE_NAME, confidential_html(document))
    return place / FILE_NAME


def _write_own(target: Path, content: bytes) -> None:
    target.unlink(missing_ok=True)
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
