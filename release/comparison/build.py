"""Compare releases of the same table by their public error bounds or, for the curator, by their confidential audits."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from accounting.errors import ConfigError
from release.comparison.model import ComparedRelease, Comparison, MetricPart, Setting, Spread
from release.report.files import ReleaseFiles, read_release

if TYPE_CHECKING:
    from audits.output_document import OutputAudit

Figures = Mapping[str, float | None]

_BOUNDS = "bounds.csv: mean bound on the total variation distance, each by itself"
_AUDIT = "output-audit.json of each release: exact figures of private rows"
_USUAL_DELTA = "1/1000000"
_MOST_WAYS = 3
_LONGEST_OPTION = 40


def compare(folders: Sequence[Path], confidential: Path | None = None) -> Comparison:
    """Put releases side by side.

    Args:
        folders: two releases or more, whose signatures are checked elsewhere.
        confidential: the workspace's folder of confidential results, to compare by these; None for public bounds.

    Raises:
        ConfigError: the releases cannot be compared, or a confidential result is missing.
        VerificationFailed: a file of a release is not what its manifest says.
    """
    files = [read_release(folder) for folder in folders]
    _check_comparable(files)
    delta = _common_delta(files)
    labels = _labels(files)
    if confidential is None:
        metrics, figures = _public(files)
    else:
        metrics, figures = _private(files, confidential)
    releases = tuple(
        _release(one, label, delta, found) for one, label, found in zip(files, labels, figures, strict=True)
    )
    return Comparison(
        confidential=confidential is not None,
        delta=delta,
        unit=files[0].manifest.unit,
        columns=len(files[0].schema.columns),
        metrics=metrics,
        releases=releases,
        settings=_settings(releases, metrics),
    )


def _check_comparable(files: Sequence[ReleaseFiles]) -> None:
    if len(files) < 2:
        raise ConfigError("a comparison needs two releases or more")
    first, ids = files[0].manifest, [one.manifest.release_id for one in files]
    if len(set(ids)) < len(ids):
        raise ConfigError("the same release is named twice; name each once")
    for one in files[1:]:
        manifest = one.manifest
        if manifest.schema_digest != first.schema_digest:
            raise ConfigError(
                f"{manifest.release_id} has another schema than {first.release_id}: errors over different columns or "
                "values cannot be compared"
            )
        if manifest.unit != first.unit:
            raise ConfigError(
                f"{manifest.release_id} protects another unit than {first.release_id}: their epsilons cannot be "
                "compared"
            )


def _common_delta(files: Sequence[ReleaseFiles]) -> str:
    """Choose the δ at which every release states its ε: 1e-6 where all do, else the largest."""
    shared = set.intersection(*({point.delta for point in one.manifest.guarantee.release_curve} for one in files))
    if not shared:
        raise ConfigError("no delta is common to these releases: their epsilons cannot be compared")
    return _USUAL_DELTA if _USUAL_DELTA in shared else max(shared, key=Fraction)


def _labels(files: Sequence[ReleaseFiles]) -> list[str]:
    """Name each release's mechanism by its kind and the options in which releases of this kind differ."""
    labels = []
    for one in files:
        own = one.manifest.mechanism
        same_kind = [other.manifest.mechanism for other in files if other.manifest.mechanism["kind"] == own["kind"]]
        keys = sorted({key for other in same_kind for key in other})
        differing = [key for key in keys if any(other.get(key) != own.get(key) for other in same_kind)]
        options = [f"{key} = {str(own.get(key))[:_LONGEST_OPTION]}" for key in differing]
        labels.append(", ".join([str(own["kind"]), *options]))
    return labels


def _release(files: ReleaseFiles, label: str, delta: str, figures: Figures) -> ComparedRelease:
    manifest = files.manifest
    (epsilon,) = [point.epsilon for point in manifest.guarantee.release_curve if point.delta == delta]
    return ComparedRelease(
        release_id=manifest.release_id,
        dataset=manifest.dataset,
        mechanism=label,
        options=manifest.mechanism,
        law=manifest.guarantee.law.value,
        cap=manifest.guarantee.release_cap.amount,
        epsilon=float(epsilon),
        rows=manifest.output_rows,
        metrics=dict(figures),
    )


def _public(files: Sequence[ReleaseFiles]) -> tuple[tuple[MetricPart, ...], list[Figures]]:
    """Average the bounds of the marginals that every release bounds, by their number of columns."""
    bounds = [{row["columns"]: min(1.0, float(row["share"])) for row in one.bounds} for one in files]
    common = set.intersection(*(set(one) for one in bounds))
    single = {column.name for column in files[0].schema.columns}
    by_ways: dict[int, list[str]] = {}
    for name in sorted(common):
        by_ways.setdefault(1 if name in single else name.count(" × ") + 1, []).append(name)
    ways = [number for number in sorted(by_ways) if number <= _MOST_WAYS]
    metrics = tuple(
        MetricPart(
            key=f"bound_{number}_way",
            label=f"expected error of {number} column{'s' if number > 1 else ''}: mean bound of "
            f"{len(by_ways[number])} marginal{'s' if len(by_ways[number]) > 1 else ''}",
            better="lower",
            source=_BOUNDS,
        )
        for number in ways
    )
    return metrics, [
        {f"bound_{number}_way": round(fmean(one[name] for name in by_ways[number]), 6) for number in ways}
        for one in bounds
    ]


_CONFIDENTIAL = (
    ("variation_1_way", "total variation, one column", "lower"),
    ("variation_2_way", "total variation, two columns", "lower"),
    ("variation_3_way", "total variation, three columns", "lower"),
    ("workload_error", "workload error", "lower"),
    ("correlation_error", "correlation error", "lower"),
    ("propensity_mse", "propensity mean squared error", "lower"),
    ("marginal_score", "k-marginal score", "higher"),
    ("tstr_auc", "AUC, trained on synthetic rows", "higher"),
    ("membership_auc", "membership attack, AUC", "lower"),
)


def _private(files: Sequence[ReleaseFiles], folder: Path) -> tuple[tuple[MetricPart, ...], list[Figures]]:
    from audits.output_document import OutputAudit
    from release.attacking import FILE_NAME

    audits = []
    for one in files:
        path = folder / one.manifest.release_id / FILE_NAME
        if not path.is_file():
            raise ConfigError(
                f"{one.manifest.release_id} has no confidential result here; `dprelease audit release` makes one"
            )
        audits.append(OutputAudit.model_validate_json(path.read_bytes()))
    metrics = tuple(
        MetricPart.model_validate({"key": key, "label": label, "better": better, "source": _AUDIT})
        for key, label, better in _CONFIDENTIAL
    )
    return metrics, [{metric.key: _figure(audit, metric.key) for metric in metrics} for audit in audits]


def _figure(audit: "OutputAudit", key: str) -> float | None:
    if key == "tstr_auc":
        result = getattr(audit.utility.train_synthetic_test_real, "auc", None)
    elif key == "membership_auc":
        result = getattr(getattr(audit.attacks, "membership", None), "auc", None)
    else:
        result = getattr(audit.utility, key)
    return getattr(result, "value", None)


def _settings(releases: Sequence[ComparedRelease], metrics: Sequence[MetricPart]) -> tuple[Setting, ...]:
    """Gather the runs of one mechanism at one cap."""
    groups: dict[tuple[str, str, str], list[ComparedRelease]] = {}
    for one in releases:
        groups.setdefault((one.mechanism, one.law, one.cap), []).append(one)
    settings = [
        Setting(
            mechanism=members[0].mechanism,
            law=members[0].law,
            cap=members[0].cap,
            epsilon=members[0].epsilon,
            runs=len(members),
            metrics={metric.key: _spread([one.metrics[metric.key] for one in members]) for metric in metrics},
        )
        for members in groups.values()
    ]
    return tuple(sorted(settings, key=lambda setting: (setting.mechanism, setting.epsilon)))


def _spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return None
    return Spread(mean=fmean(known), sd=stdev(known) if len(known) > 1 else None, runs=len(known))
