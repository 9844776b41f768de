"""What the synthetic rows can be used for, from the error bounds and the noise that was paid for."""

import math
from typing import Any

from accounting.exact import from_text
from release.manifest import Manifest
from release.report.files import ReleaseFiles
from release.report.model import AccuracyPart, ColumnPart, MarginalPart, Reliability

GOOD, MODERATE = 0.02, 0.1
"""Total variation up to which a column is called good, or moderate."""

_NORMAL_95 = 1.959964
_SHOWN = 10


def accuracy(files: ReleaseFiles) -> AccuracyPart:
    """Gather the error of every column and of the workload, and warn where it is too large."""
    bounds = files.manifest.error_bounds
    columns = _columns(files)
    names = {column.name for column in columns}
    together = sorted(
        (_marginal(row) for row in files.bounds if row["columns"] not in names),
        key=lambda marginal: (marginal.error, marginal.columns),
    )
    return AccuracyPart(
        confidence=bounds.confidence,
        marginals=bounds.marginals,
        mean_error=bounds.mean_share,
        largest_error_together=bounds.largest_share_simultaneous,
        columns=columns,
        best=tuple(together[:_SHOWN]),
        worst=tuple(reversed(together[max(_SHOWN, len(together) - _SHOWN) :])),
        warnings=tuple(_warnings(files, columns)),
        source="bounds.csv (bounds from paid answers) and the variance of each question in ledger.jsonl",
    )


def _marginal(row: dict[str, str]) -> MarginalPart:
    return MarginalPart(
        columns=row["columns"],
        cells=int(row["cells"]),
        basis=row["basis"],
        error=_share(row["share"]),
        error_together=_share(row["share_simultaneous"]),
    )


def _share(text: str) -> float:
    """Read a total variation distance; it cannot be above 1, whatever its bound says."""
    return min(1.0, float(text))


def _columns(files: ReleaseFiles) -> tuple[ColumnPart, ...]:
    margins = _margins(files.manifest)
    rows = {row["columns"]: row for row in files.bounds}
    parts = []
    for column in files.schema.columns:
        row, margin = rows.get(column.name), margins.get(column.name)
        error = None if row is None else _share(row["share"])
        below = 0 if margin is None else int((files.counts[column.name] < margin).sum())
        parts.append(
            ColumnPart(
                name=column.name,
                kind=column.kind,
                cells=column.cells,
                error=error,
                error_together=None if row is None else _share(row["share_simultaneous"]),
                margin=margin,
                below_margin=below,
                reliability=_reliability(error),
            )
        )
    return tuple(parts)


def _reliability(error: float | None) -> Reliability:
    if error is None:
        return "unknown"
    if error <= GOOD:
        return "good"
    return "moderate" if error <= MODERATE else "poor"


def _margins(manifest: Manifest) -> dict[str, float]:
    """Return the 95 % margin of one count of each column, from the most exact question that counted its own cells."""
    margins: dict[str, float] = {}
    for question in manifest.questions:
        content = question.question
        if content["question"] != "marginals":
            continue
        margin = round(_NORMAL_95 * math.sqrt(from_text(content["variance"])), 1)
        coded = _coded(content["coding"])
        for clique in content["cliques"]:
            if len(clique) == 1 and clique[0] not in coded:
                margins[clique[0]] = min(margin, margins.get(clique[0], margin))
    return margins


def _coded(coding: Any) -> set[str]:  # noqa: ANN401 - JSON: an object, or its items as pairs
    return set(coding) if isinstance(coding, dict) else {name for name, _ in coding}


def _warnings(files: ReleaseFiles, columns: tuple[ColumnPart, ...]) -> list[str]:
    warnings = []
    if files.manifest.output_rows == 0:
        warnings.append("The release has no rows: the noisy number of rows was zero. Nothing can be computed from it.")
    for column in columns:
        if column.error is None:
            warnings.append(f"Column {column.name}: no bound on its error is known.")
        elif column.reliability == "poor":
            warnings.append(
                f"Column {column.name}: up to {_percent(column.error)} of the rows may have another value than they "
                "should. Do not use it alone."
            )
        if column.margin is not None and 2 * column.below_margin > column.cells:
            warnings.append(
                f"Column {column.name}: {column.below_margin} of its {column.cells} values hold fewer rows than the "
                f"noise on one count (± {column.margin:g}). Group its values before you count."
            )
    total = sum(row["basis"] == "total" for row in files.bounds)
    if total:
        plural = "marginals are" if total > 1 else "marginal is"
        warnings.append(
            f"{total} of {len(files.bounds)} {plural} bounded by the number of rows only: treat as unknown."
        )
    return warnings


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
