"""A schema and its check for people and for scripts."""

from dataclasses import asdict

from release.cli.console import table
from release.summary import SchemaSummary


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
