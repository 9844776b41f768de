"""A schema and its check for people and for scripts."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from release.cli.console import table
from release.summary import SchemaSummary

if TYPE_CHECKING:
    from accounting.confidential import SchemaReport

CONFIDENTIAL = "CONFIDENTIAL: exact counts of private rows, for the curator only. The ledger recorded this look."
_FAULTS_SHOWN = 20


def summary_text(summary: SchemaSummary) -> str:
    """Lay out a schema's summary for a terminal."""
    head = f"Schema {summary.name}, SHA-256 {summary.digest}"
    if summary.identifiers:
        head += f"\nNever modelled nor released: {', '.join(summary.identifiers)}"
    columns = table(
        ("column", "kind", "nulls", "values", "cells"),
        [
            (item.name, item.kind, "yes" if item.nullable else "no", str(item.values), str(item.cells))
            for item in summary.columns
        ],
    )
    marginals = table(
        ("marginals", "number", "cells in all", "largest", "MB", "largest columns"),
        [
            (
                f"{item.ways}-way",
                str(item.number),
                str(item.cells),
                str(item.largest),
                f"{item.largest_megabytes:.1f}",
                ", ".join(item.largest_columns),
            )
            for item in summary.marginals
        ],
    )
    return "\n\n".join([head, columns, marginals, *(f"warning: {text}" for text in summary.warnings)])


def summary_document(summary: SchemaSummary) -> dict[str, object]:
    """Describe a schema's summary as JSON."""
    return asdict(summary)


def report_text(report: "SchemaReport") -> str:
    """Lay out a confidential check for the curator's terminal."""
    lines = [CONFIDENTIAL, f"{report.rows} rows were read."]
    if report.similar_ids:
        lines.append(
            f"{report.similar_ids} ids differ from another one by case, blanks, width or leading zeros alone. If they "
            "are spellings of one id, declare its canonical form: each spelling now counts as a person."
        )
    if report.is_clean:
        return "\n".join([*lines, "No row breaks a rule of the schema."])
    broken = [
        (column, str(problem), str(count))
        for column, problems in report.problems.items()
        for problem, count in problems.items()
    ]
    if broken:
        lines += ["", table(("column", "rule", "rows"), broken)]
        lines += ["", "The schema's policies decide what becomes of these values; a run does not fail because of them."]
    if report.constraints:
        counts = [(name, str(count)) for name, count in report.constraints.items()]
        lines += ["", table(("constraint", "rows that break it"), counts)]
        lines += ["", "Such rows are counted as they are; no synthetic row will be like them."]
    if report.faults:
        lines += ["", "A run refuses the file for its form:"]
        lines += [f"  line {fault.line}: {fault.rule}" for fault in report.faults[:_FAULTS_SHOWN]]
        if len(report.faults) > _FAULTS_SHOWN:
            lines.append(f"  and {len(report.faults) - _FAULTS_SHOWN} more")
    if report.null_ids:
        lines += ["", f"{report.null_ids} rows have no id and are left out."]
    if report.crowded_persons:
        crowded, dropped = report.crowded_persons, report.dropped_rows
        lines += ["", f"{crowded} persons have more rows than the unit keeps; {dropped} rows are left out."]
    return "\n".join(lines)


def report_document(report: "SchemaReport") -> dict[str, object]:
    """Describe a confidential check as JSON, for the curator."""
    return {
        "confidential": True,
        "clean": report.is_clean,
        "rows": report.rows,
        "problems": {
            column: {str(problem): count for problem, count in problems.items()}
            for column, problems in report.problems.items()
            if problems
        },
        "constraints": dict(report.constraints),
        "faults": [{"line": fault.line, "rule": fault.rule} for fault in report.faults],
        "null_ids": report.null_ids,
        "crowded_persons": report.crowded_persons,
        "dropped_rows": report.dropped_rows,
        "similar_ids": report.similar_ids,
    }
