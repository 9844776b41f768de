"""datapackage.json: a Data Package, version 2, with the table's types, bounds, categories and nulls."""

import json
import re
from decimal import Decimal
from typing import Any

from accounting.errors import ConfigError
from accounting.schema import (
    BooleanColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    DatetimeColumn,
    IntegerColumn,
    RealColumn,
)
from release.bounds import BOUNDS_NAME
from release.exports.facts import Facts
from release.output import NAMES

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
_SAFE_INTEGER = 2**53
_TYPES = {
    "categorical": "string",
    "boolean": "boolean",
    "integer": "integer",
    "real": "number",
    "date": "date",
    "datetime": "datetime",
}
_ISO = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%M:%S%z"}
_BOUNDS = (
    ("columns", "string", "the marginal's columns"),
    ("cells", "integer", "its number of cells"),
    ("basis", "string", "what its bound follows from"),
    ("l1", "number", "the bound on its L1 distance, by itself"),
    ("l1_simultaneous", "number", "the bound that holds for all marginals together"),
    ("share", "number", "l1 as a total variation distance"),
    ("share_simultaneous", "number", "l1_simultaneous as a total variation distance"),
)


def data_package(facts: Facts) -> bytes:
    """Return the release as a Data Package; its files lie in the folder beside it, or where the publisher says.

    Raises:
        ConfigError: the release holds no CSV, the one table format that every reader of Data Packages knows.
    """
    if "csv" not in facts.tables:
        raise ConfigError(
            'a Data Package describes a CSV table, and this release holds none; see "formats" in [output]'
        )
    publication, manifest = facts.publication, facts.manifest
    package: dict[str, Any] = {
        "$schema": PROFILE,
        "name": _name(manifest.release_id),
        "id": f"sha256:{facts.statement}",
        "title": facts.title,
        "description": f"{facts.description} {facts.report.protected} {facts.guarantee}",
        "version": manifest.day,
        "created": f"{manifest.day}T00:00:00Z",
    }
    if publication.url:
        package["homepage"] = publication.url
    if publication.license:
        package["licenses"] = [{"name": publication.license, "path": publication.license_url}]
    if facts.publishers:
        package["contributors"] = [{"title": name, "roles": ["publisher"]} for name in facts.publishers]
    package["keywords"] = ["synthetic data", "differential privacy"]
    columns = [_field(column) for column in facts.files.schema.columns]
    package["resources"] = [
        _table(facts, NAMES["csv"], "The synthetic rows", columns),
        _table(facts, BOUNDS_NAME, "How far the synthetic rows may be from the private table", _bounds_fields()),
    ]
    return (json.dumps(package, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _name(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]", "-", text.lower())


def _table(facts: Facts, name: str, title: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    file = facts.file(name)
    return {
        "name": name.removesuffix(".csv"),
        "type": "table",
        "title": title,
        "path": facts.address(name),
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": file.size,
        "hash": f"sha256:{file.sha256}",
        "dialect": {"delimiter": ",", "lineTerminator": "\r\n", "doubleQuote": True},
        "schema": {"fieldsMatch": "exact", "fields": fields},
    }


def _bounds_fields() -> list[dict[str, Any]]:
    return [{"name": name, "type": kind, "description": text} for name, kind, text in _BOUNDS]


def _field(column: Column) -> dict[str, Any]:
    """Describe a column: a null is a missing value, while a declared category such as "unknown" is a value."""
    field: dict[str, Any] = {"name": column.name, "type": _TYPES[column.kind]}
    if column.description:
        field["description"] = column.description
    field["missingValues"] = list(column.null_strings) if column.nullable else []
    constraints: dict[str, Any] = {} if column.nullable else {"required": True}
    match column:
        case CategoricalColumn():
            field["categories"] = list(column.categories)
            constraints["enum"] = list(column.categories)
        case BooleanColumn():
            field |= {"trueValues": list(column.true_values), "falseValues": list(column.false_values)}
        case DateColumn() | DatetimeColumn():
            if column.format != _ISO[column.kind]:
                field["format"] = column.format
            constraints |= _bounds(column)
        case _:
            constraints |= _bounds(column)
    if constraints:
        field["constraints"] = constraints
    return field


def _bounds(column: Column) -> dict[str, Any]:
    low, high = column.text_of_ticks([0, column.ticks - 1])
    return {"minimum": _bound(column, low), "maximum": _bound(column, high)}


def _bound(column: Column, text: str) -> str | int | float:
    """Write a bound as a JSON number where that is exact, else as the text of a cell."""
    if isinstance(column, IntegerColumn) and abs(int(text)) < _SAFE_INTEGER:
        return int(text)
    if isinstance(column, RealColumn) and Decimal(repr(float(text))) == Decimal(text):
        return float(text)
    return text
