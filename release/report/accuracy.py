"""What the synthetic rows can be used for, from the error bounds and the noise that was paid for."""

import math
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from accounting.exact import from_text
from release.report.files import ReleaseFiles
from release.report.model import AccuracyPart, ColumnPart, GroupPart, MarginalPart, Reliability, Sentence
from release.report.questions import cliques_of
from release.report.sentences import sentence

Margins: TypeAlias = dict[str, tuple[float, int]]
"""For each column the 95 % margin of one of its counts, and the ledger entry whose noise that is."""

GOOD, MODERATE = 0.02, 0.1
"""Total variation up to which a column is called good, or moderate."""

_NORMAL_95 = 1.959964
_SHOWN = 10


def accuracy(files: ReleaseFiles) -> AccuracyPart:
    """Gather the error of every column and of the workload, and warn where it is too large."""
    bounds = files.manifest.error_bounds
    margins = _margins(files)
    columns = _columns(files, margins)
    groups = _groups(files, margins)
    names = {column.name for column in columns}
    together = sorted(
        (_marginal(row) for row in files.bounds if row["columns"] not in names),
        key=lambda marginal: (marginal.error, marginal.columns),
    )
    return AccuracyPart(
        confidence=bounds.confidence,
        marginals=bounds.marginals,
        mean_error=round(fmean(_share(row["share"]) for row in files.bounds), 6),
        largest_error_together=bounds.largest_share_simultaneous,
        columns=columns,
        best=tuple(together[:_SHOWN]),
        worst=tuple(reversed(together[max(_SHOWN, len(together) - _SHOWN) :])),
        groups=groups,
        warnings=tuple(_warnings(files, columns)),
        source="bounds.csv (bounds from paid answers, arXiv:2201.12677 section 6) and the variance of each question in "
        "ledger.jsonl",
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


def _columns(files: ReleaseFiles, margins: Margins) -> tuple[ColumnPart, ...]:
    rows = {row["columns"]: row for row in files.bounds}
    parts = []
    for column in files.schema.columns:
        row = rows.get(column.name)
        margin, entry = margins.get(column.name, (None, None))
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
                margin_entry=entry,
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


def _margins(files: ReleaseFiles) -> Margins:
    """Return the 95 % margin of one count of each column, from the most exact question that counted its own cells."""
    margins: Margins = {}
    for question in files.manifest.questions:
        content = question.question
        if content["question"] != "marginals":
            continue
        margin = round(_NORMAL_95 * math.sqrt(from_text(content["variance"])), 1)
        coded = _coded(content["coding"])
        for clique in cliques_of(content, files.schema) or ():
            if len(clique) == 1 and clique[0] not in coded:
                margins[clique[0]] = min((margin, question.entry), margins.get(clique[0], (math.inf, 0)))
    return margins


def _groups(files: ReleaseFiles, margins: Margins) -> tuple[GroupPart, ...]:
    """Name the values that hold fewer synthetic rows than the noise on a count."""
    groups = []
    for column in files.schema.columns:
        if column.name not in margins:
            continue
        (margin, entry), counts = margins[column.name], files.counts[column.name]
        small = [(int(counts[cell]), int(cell)) for cell in np.flatnonzero(counts < margin)]
        if not small:
            continue
        labels = column.labels()
        groups.append(
            GroupPart(
                column=column.name,
                margin=margin,
                entry=entry,
                values=tuple((labels[cell], rows) for rows, cell in sorted(small)[:_SHOWN]),
                more=max(0, len(small) - _SHOWN),
            )
        )
    return tuple(groups)


def _coded(coding: Any) -> set[str]:  # noqa: ANN401 - JSON: an object, or its items as pairs
    return set(coding) if isinstance(coding, dict) else {name for name, _ in coding}


def _warnings(files: ReleaseFiles, columns: tuple[ColumnPart, ...]) -> list[Sentence]:
    warnings = [sentence("use.no-rows")] if files.manifest.output_rows == 0 else []
    warnings += _together(
        [sentence("use.no-bound", column=column.name) for column in columns if column.error is None],
        "use.no-bound-many",
    )
    warnings += _together(
        [
            sentence("use.poor", column=column.name, share=column.error)
            for column in columns
            if column.error is not None and column.reliability == "poor"
        ],
        "use.poor-many",
    )
    warnings += _together(
        [
            sentence(
                "use.below-noise",
                column=column.name,
                below=column.below_margin,
                cells=column.cells,
                margin=column.margin,
            )
            for column in columns
            if column.margin is not None and 2 * column.below_margin > column.cells
        ],
        "use.below-noise-many",
    )
    total = sum(row["basis"] == "total" for row in files.bounds)
    return [*warnings, sentence("use.by-total", n=total, of=len(files.bounds))] if total else warnings


def _together(warnings: list[Sentence], key: str) -> list[Sentence]:
    """Say the same of many columns once; the table of columns has their figures."""
    if len(warnings) <= _SHOWN:
        return warnings
    names = ", ".join(str(warning.values["column"]) for warning in warnings[:_SHOWN])
    return [sentence(key, n=len(warnings), columns=names, more=len(warnings) - _SHOWN)]
