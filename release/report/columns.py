"""The public schema column by column, as the report's annex shows it."""

from accounting.canonical import Json
from accounting.schema import Column, Schema
from release.manifest import DomainPart
from release.report.model import SchemaColumnPart, Sentence
from release.report.sentences import sentence

_SHOWN = 12


def schema_columns(schema: Schema, measured: DomainPart | None) -> tuple[SchemaColumnPart, ...]:
    """Describe each modelled column: what values it may have, whether that was public, and what becomes of others."""
    entries = {} if measured is None else {part.column: part.entries for part in measured.columns}
    return tuple(
        SchemaColumnPart(
            name=column.name,
            kind=column.kind,
            description=column.description,
            domain=_domain(column),
            origin=_origin(entries.get(column.name)),
            cells=column.cells,
            rules=tuple(_rules(column)),
        )
        for column in schema.columns
    )


def _origin(entries: tuple[int, ...] | None) -> Sentence | None:
    if not entries:
        return None
    key = "annex.measured" if len(entries) == 1 else "annex.measured-by"
    return sentence(key, first=entries[0], last=entries[-1], n=len(entries))


def _domain(column: Column) -> Sentence:
    declared = column.to_json()
    if column.kind in {"categorical", "boolean"}:
        names = [label for label in column.labels() if label != "(null)"]
        key = "annex.values" if len(names) <= _SHOWN else "annex.many-values"
        return sentence(key, values=", ".join(names[:_SHOWN]), n=len(names))
    return sentence("annex.range", low=str(declared["min"]), high=str(declared["max"]), steps=column.ticks)


def _rules(column: Column) -> list[Sentence]:
    declared = column.to_json()
    replacement = _replacement(declared)
    rules = [
        sentence("annex.nullable") if column.nullable else sentence("annex.null-replaced", replacement=replacement)
    ]
    if "undeclared" in declared:
        value = str(declared.get("other") or replacement)
        rules.append(sentence(f"annex.undeclared-{declared['undeclared']}", replacement=value))
    if "out_of_range" in declared:
        rules.append(sentence(f"annex.outside-{declared['out_of_range']}", replacement=replacement))
    return rules


def _replacement(declared: dict[str, Json]) -> str:
    """Write what a null becomes as the released table writes it."""
    value = declared.get("replacement")
    if not isinstance(value, bool):
        return str(value)
    texts = declared["true_values" if value else "false_values"]
    return str(texts[0]) if isinstance(texts, list) else str(value)
