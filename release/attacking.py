"""Audit a release's output on private and held-out rows: confidential, written outside the release."""

import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from accounting.confidential import Ticks, on_private_rows
from accounting.errors import ConfigError
from audits.results import Figure, NotComputable
from release.verify.release import SCHEMA_NAME

if TYPE_CHECKING:
    from accounting.ledger import Ledger
    from release.manifest import Manifest
    from release.prepared import Prepared

LOOK = "audit-release"
FORMAT = "dprelease/confidential-audit/1"
_SEED = 0
_YARDSTICK_WAYS = 3


def audit_output(
    prepared: "Prepared",
    ledger: "Ledger",
    folder: Path,
    manifest: "Manifest",
    *,
    holdout: Path | None,
    target: str | None,
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

    Returns:
        The file, in ``WORKSPACE/confidential/RELEASE-ID/`` (mode 0700).

    Raises:
        ConfigError: the release is of another schema or dataset, or the target is not a column.
        InputFileError: a file is refused for its form.
    """
    schema, encoding = prepared.schema, prepared.config.encoding
    if manifest.schema_digest != schema.digest or manifest.dataset != prepared.dataset.label:
        raise ConfigError("the release was made by another schema or of another dataset than this release.toml's")
    secret = target or schema.columns[-1].name
    schema.column(secret)
    synthetic = read_synthetic(folder, prepared)
    ledger.record_look(prepared.dataset.label, LOOK, schema.digest)

    def against(held_out: Ticks | None) -> Path:
        figures = on_private_rows(
            prepared.data,
            schema,
            prepared.unit,
            lambda private: _figures(prepared, private, held_out, synthetic, secret),
            encoding=encoding,
        ).reveal_to_curator()
        place = prepared.workspace.folder / "confidential" / manifest.release_id
        return _write(place, {"format": FORMAT, "release": manifest.release_id, "confidential": True, **figures})

    if holdout is None:
        return against(None)
    return against(
        on_private_rows(holdout, schema, prepared.unit, lambda rows: rows, encoding=encoding).reveal_to_curator()
    )


def read_synthetic(folder: Path, prepared: "Prepared") -> Ticks:
    """Read a release's synthetic rows, whose header is the schema's modelled columns."""
    from accounting.unit import RowUnit

    declared = json.loads((folder / SCHEMA_NAME).read_bytes())
    declared["columns"] = [column for column in declared["columns"] if column["kind"] != "identifier"]
    schema = type(prepared.schema).from_json(declared)
    path = next(folder / name for name in ("synthetic.csv", "synthetic.parquet") if (folder / name).is_file())
    return on_private_rows(path, schema, RowUnit(), lambda rows: rows).reveal_to_curator()


def _figures(
    prepared: "Prepared", private: Ticks, holdout: Ticks | None, synthetic: Ticks, target: str
) -> dict[str, object]:
    result: dict[str, object] = {"utility": _utility(prepared, private, holdout, synthetic, target)}
    result["attacks"] = (
        NotComputable("no held-out rows were given")
        if holdout is None
        else _attacks(prepared, private, holdout, synthetic, target)
    )
    return result


def _utility(
    prepared: "Prepared", private: Ticks, holdout: Ticks | None, synthetic: Ticks, target: str
) -> dict[str, object]:
    from audits.utility.learning import propensity, train_and_test
    from audits.utility.marginals import correlation_error, k_marginal_score, subsample_yardstick, variation
    from audits.utility.wasserstein import wasserstein

    schema, rng = prepared.schema, np.random.default_rng(_SEED)
    ways = min(_YARDSTICK_WAYS, len(schema.columns))
    score = k_marginal_score(schema, private, synthetic, ways)
    return {
        **{f"variation_{k}_way": variation(schema, private, synthetic, k) for k in (1, 2, 3)},
        **{f"wasserstein_{k}_way": wasserstein(schema, private, synthetic, k, rng) for k in (1, 2)},
        "correlation_error": correlation_error(schema, private, synthetic),
        f"{ways}_marginal_score": score,
        "like_a_subsample_of": score
        if isinstance(score, NotComputable)
        else subsample_yardstick(schema, private, score.value, ways, rng),
        "propensity_mse": propensity(schema, private, synthetic),
        "train_synthetic_test_real": NotComputable("no held-out rows were given")
        if holdout is None
        else train_and_test(schema, synthetic, holdout, target),
        "train_real_test_real": NotComputable("no held-out rows were given")
        if holdout is None
        else train_and_test(schema, private, holdout, target),
    }


def _attacks(prepared: "Prepared", private: Ticks, holdout: Ticks, synthetic: Ticks, target: str) -> dict[str, object]:
    from audits.attacks.guessing import exact_copies, inference, linkability, singling_out
    from audits.attacks.membership import membership, positive_control

    schema, rng = prepared.schema, np.random.default_rng(_SEED)
    return {
        "membership": membership(schema, private, holdout, synthetic, rng),
        "membership_positive_control": positive_control(schema, private, holdout, synthetic, rng),
        "singling_out": singling_out(schema, private, holdout, synthetic, rng),
        "linkability": linkability(schema, private, holdout, synthetic, rng),
        "inference": inference(schema, private, holdout, synthetic, target, rng),
        "exact_copies": exact_copies(private, holdout, synthetic),
    }


def _write(place: Path, document: Mapping[str, object]) -> Path:
    """Write into a folder of the curator's alone."""
    place.parent.mkdir(mode=0o700, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)
    os.chmod(place, 0o700)  # noqa: PTH101 - one call for a folder that may have been there before
    target = place / "output-audit.json"
    target.write_text(json.dumps(_plain(document), indent=2) + "\n", encoding="utf-8")
    target.chmod(0o600)
    return target


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, NotComputable):
        return {"not_computable_because": value.reason}
    if isinstance(value, Figure):
        return {
            field.name: getattr(value, field.name) for field in fields(value) if getattr(value, field.name) is not None
        }
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return value
