"""A data dictionary, JSON or CSV, as a drafted schema: what it says is declared, what it leaves out is guessed."""

import csv
import json
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from accounting.errors import ConfigError, InputFileError
from accounting.schema.schema import KINDS
from release.authoring.draft import DraftColumn, Guess, Setting, with_keys
from release.authoring.specification import read_setting

_NAMES = ("column", "name", "variable", "field")
_SYNONYMS = {
    "int": "integer",
    "float": "real",
    "double": "real",
    "decimal": "real",
    "number": "real",
    "numeric": "real",
    "string": "categorical",
    "text": "categorical",
    "category": "categorical",
    "factor": "categorical",
    "enum": "categorical",
    "code": "categorical",
    "bool": "boolean",
    "timestamp": "datetime",
    "id": "identifier",
    "key": "identifier",
}


def read_dictionary(path: Path) -> list[DraftColumn]:
    """Read a data dictionary.

    JSON: a list of objects, or an object of them by column. CSV: a header with ``column`` (or name, variable, field)
    and any of ``kind`` (or type), ``values``, ``min``, ``max``, ``description`` and the schema's own keys. Values are a
    list, an object of codes and labels, or a text such as ``1=male|2=female``.

    Raises:
        InputFileError: the file is missing, not UTF-8, or of neither form.
        ConfigError: a column without a name, or a value that does not fit its key.
    """
    entries = [_lowered(entry) for entry in _entries(path)]
    if not entries:
        raise InputFileError(f"{path} describes no column")
    return [_column(entry, position) for position, entry in enumerate(entries, start=1)]


def _entries(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputFileError(f"{path} is not UTF-8; save it as UTF-8") from None
    if path.suffix.lower() != ".json":
        return _rows(text, path)
    try:
        document = json.loads(text, parse_float=str)
    except ValueError:
        raise InputFileError(f"{path} is not valid JSON") from None
    if isinstance(document, dict) and set(document) == {"columns"}:
        document = document["columns"]
    if isinstance(document, dict):
        document = [{"column": name, **entry} if isinstance(entry, dict) else entry for name, entry in document.items()]
    if not isinstance(document, list) or not all(isinstance(entry, dict) for entry in document):
        raise InputFileError(f"{path} is neither a list of columns nor an object of columns by name")
    return document


def _rows(text: str, path: Path) -> list[dict[str, str]]:
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        header, *rows = (row for row in reader if any(row))
    except (csv.Error, ValueError):
        raise InputFileError(f"{path} is not a CSV file with a header") from None
    if any(len(row) != len(header) for row in rows):
        raise InputFileError(f"{path}: a row has not one cell for each name of the header")
    return [{name: cell for name, cell in zip(header, row, strict=True) if cell.strip()} for row in rows]


def _lowered(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): value for key, value in entry.items() if value is not None}


def _column(entry: dict[str, Any], position: int) -> DraftColumn:
    name = next((str(entry.pop(key)).strip() for key in _NAMES if key in entry), "")
    if not name:
        raise ConfigError(f"entry {position} of the dictionary has no column name; give it as 'column'")
    stated = str(entry.pop("kind", entry.pop("type", ""))).strip().lower()
    values = _codes(entry.pop("values", entry.pop("categories", None)))
    kind = _kind(stated, values, entry)
    keys: dict[str, Setting | Guess] = {"kind": kind}
    chosen = kind.value if isinstance(kind, Guess) else kind
    known = KINDS[str(chosen)].model_fields
    for key, value in entry.items():
        if key in known:
            keys[key] = _setting(key, value, str(chosen), name)
    if values and chosen == "categorical":
        keys["categories"] = values
    return with_keys(name, keys)


def _kind(stated: str, values: tuple[str, ...], entry: Mapping[str, Any]) -> Setting | Guess:
    if stated in KINDS:
        return stated
    if stated in _SYNONYMS:
        return Guess(_SYNONYMS[stated], f"the dictionary says {stated}")
    if values:
        return Guess("categorical", "it has a list of values")
    if "min" in entry and "max" in entry:
        whole = all("." not in str(entry[bound]) for bound in ("min", "max"))
        return Guess("integer" if whole else "real", "it has bounds")
    return Guess("categorical", f"the dictionary says {stated}" if stated else "nothing tells the kind")


def _codes(values: Any) -> tuple[str, ...]:  # noqa: ANN401 - as the dictionary holds it
    """Return the codes of a list of values; labels are left out."""
    if values is None:
        return ()
    if isinstance(values, (list, dict)):
        return tuple(str(value) for value in values)
    separator = "|" if "|" in str(values) else ";"
    return tuple(item.partition("=")[0].strip() for item in str(values).split(separator) if item.strip())


def _setting(key: str, value: Any, kind: str, column: str) -> Setting:  # noqa: ANN401 - as the dictionary holds it
    if key in {"description", "format", "resolution", "utc_offset"}:
        return str(value)
    if isinstance(value, bool):
        value = "true" if value else "false"
    text = "|".join(str(item) for item in value) if isinstance(value, list) else str(value).strip()
    is_flag = key in {"nullable", "strip"} or (kind == "boolean" and key == "replacement")
    return read_setting(key, text.lower() if is_flag else text, kind, column)
