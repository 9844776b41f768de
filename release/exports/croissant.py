"""croissant.json: Croissant 1.1 with the responsible-AI vocabulary, so that a loader reads the synthetic rows."""

import json
from typing import Any
from urllib.parse import quote

from accounting.schema import BooleanColumn, CategoricalColumn, Column, DateColumn, DatetimeColumn
from release.exports.facts import Facts, PublishedFile
from release.exports.usage import NOT_FOR, use_sentences

CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
RECORDS = "rows"

_TERMS = (
    "annotation arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject fileSet "
    "format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate sdVersion separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_MEDIA = {
    ".csv": "text/csv",
    ".parquet": "application/x-parquet",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".html": "text/html",
}
_NUMBERS = {"integer": "sc:Integer", "real": "sc:Float"}
_KNOWN_NULLS = {"", "NA", "NaN", "null"}
_KNOWN_BOOLEANS = {("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("1", "0")}


def croissant(facts: Facts) -> bytes:
    """Return the release in Croissant 1.1; its records are read from Parquet where the release holds it."""
    publication, manifest = facts.publication, facts.manifest
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": facts.title,
        "description": facts.description,
        "version": "1.0.0",
        "datePublished": manifest.day,
        "citeAs": _citation(facts),
        "keywords": ["synthetic data", "differential privacy"],
        "isLiveDataset": False,
        "identifier": f"sha256:{facts.statement}",
    }
    if publication.url:
        document["url"] = publication.url
    if publication.license:
        document["license"] = publication.license_url
    if facts.publishers:
        parties = [{"@type": "sc:Organization", "name": name} for name in facts.publishers]
        document |= {"creator": parties, "publisher": parties}
    document |= _responsible(facts)
    document["distribution"] = [_file(facts, file) for file in facts.published]
    document["recordSet"] = _record_sets(facts)
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _responsible(facts: Facts) -> dict[str, Any]:
    """Say what differential privacy means here, in the terms of the responsible-AI vocabulary and of PROV."""
    report, manifest = facts.report, facts.manifest
    kind, questions = str(manifest.mechanism.get("kind")), len(manifest.questions)
    return {
        "rai:dataCollection": (
            f"Drawn from a model that the mechanism {kind} fitted to {questions} noisy "
            f"answer{'s' if questions > 1 else ''} about a private table. Each answer was paid for from a privacy "
            "budget before the table was touched."
        ),
        "rai:dataCollectionType": ["Others: synthetic data under differential privacy"],
        "rai:dataManipulationProtocol": f"{facts.guarantee} {facts.noise}",
        "rai:dataUseCases": list(use_sentences(facts)),
        "rai:dataLimitations": [*NOT_FOR, *map(str, report.accuracy.warnings)],
        "rai:personalSensitiveInformation": [
            f"No row stands for a real person. {report.protected} {report.strength}",
            *(f"Not protected: {item}." for item in report.not_protected),
        ],
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "prov:label": f"Differentially private release {manifest.release_id} by {kind}",
            "prov:wasAssociatedWith": [
                {"@type": "prov:SoftwareAgent", "prov:label": f"{name} {version}"}
                for name, version in sorted(manifest.software.items())
            ],
        },
    }


def _citation(facts: Facts) -> str:
    publishers = ", ".join(facts.publishers) or facts.manifest.dataset
    return f"{publishers} ({facts.manifest.day[:4]}): {facts.title}. Release {facts.manifest.release_id}."


def _file(facts: Facts, file: PublishedFile) -> dict[str, Any]:
    suffix = file.name[file.name.rindex(".") :]
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": facts.address(file.name),
        "contentSize": f"{file.size} B",
        "encodingFormat": _MEDIA.get(suffix, "application/octet-stream"),
        "sha256": file.sha256,
    }


def _record_sets(facts: Facts) -> list[dict[str, Any]]:
    kind, file = list(facts.tables.items())[-1]  # Parquet comes after CSV and keeps every type
    columns = facts.files.schema.columns
    rows = {
        "@type": "cr:RecordSet",
        "@id": RECORDS,
        "name": RECORDS,
        "description": f"The {facts.manifest.output_rows} synthetic rows.",
        "field": [_field(column, file.name, typed=kind == "parquet") for column in columns],
    }
    return [rows, *(_values(column) for column in columns if isinstance(column, CategoricalColumn))]


def _field(column: Column, source: str, *, typed: bool) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{RECORDS}/{quote(column.name, safe='')}",
        "name": column.name,
        "description": " ".join(_sentences(column)),
        "dataType": _type(column, typed=typed),
        "source": {"fileObject": {"@id": source}, "extract": {"column": column.name}},
    }


def _values(column: CategoricalColumn) -> dict[str, Any]:
    """List a column's categories as an enumeration of their own."""
    set_id = f"values/{quote(column.name, safe='')}"
    return {
        "@type": "cr:RecordSet",
        "@id": set_id,
        "name": set_id,
        "description": f"The declared values of column {column.name}.",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{set_id}/name"},
        "field": [{"@type": "cr:Field", "@id": f"{set_id}/name", "name": "name", "dataType": "sc:Text"}],
        "data": [{f"{set_id}/name": category} for category in column.categories],
    }


def _sentences(column: Column) -> list[str]:
    sentences = [column.description] if column.description else []
    match column:
        case CategoricalColumn():
            sentences.append(f"One of {len(column.categories)} declared values.")
        case BooleanColumn():
            sentences.append(f"True is written {column.true_values[0]!r}, false {column.false_values[0]!r}.")
        case _:
            low, high = column.text_of_ticks([0, column.ticks - 1])
            sentences.append(f"From {low} to {high}.")
    sentences.append(f"Null is written {column.null_strings[0]!r}." if column.nullable else "Never null.")
    return sentences


def _type(column: Column, *, typed: bool) -> str:
    """Return the type that a loader can read; texts of CSV that it would misread stay texts."""
    readable = typed or not column.nullable or column.null_strings[0] in _KNOWN_NULLS
    match column:
        case BooleanColumn():
            known = (column.true_values[0], column.false_values[0]) in _KNOWN_BOOLEANS
            return "sc:Boolean" if readable and (typed or known) else "sc:Text"
        case DateColumn() | DatetimeColumn():
            name = "sc:Date" if column.kind == "date" else "sc:DateTime"
            return name if readable and (typed or column.format.startswith("%Y-%m-%d")) else "sc:Text"
        case CategoricalColumn():
            return "sc:Text"
        case _:
            return _NUMBERS[column.kind] if readable else "sc:Text"
