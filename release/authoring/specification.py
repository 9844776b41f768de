"""A column written on one line: ``age:integer:min=0,max=110,nullable=false,replacement=0``."""

from datetime import date, datetime

from accounting.errors import ConfigError
from accounting.schema.declared import suggest
from accounting.schema.schema import KINDS
from release.authoring.draft import DraftColumn, Scalar, Setting, check_kind, read_number, with_keys

LISTS = {"categories", "null_strings", "true_values", "false_values", "canonical"}
NUMBER_LISTS = {"edges", "points"}
FLAGS = {"nullable", "strip"}


def read_specification(text: str) -> DraftColumn:
    """Read ``NAME:KIND`` or ``NAME:KIND:KEY=VALUE,…``; a list's items are separated by ``|``.

    Raises:
        ConfigError: another form, an unknown kind or key, or a value that does not fit its key.
    """
    name, _, rest = text.partition(":")
    kind, _, settings = rest.partition(":")
    if not name or not kind:
        raise ConfigError(f"a column is written as NAME:KIND:KEY=VALUE,… and not {text!r}")
    keys: dict[str, Setting] = {"kind": check_kind(kind, name)}
    for part in settings.split(",") if settings else ():
        key, sign, value = part.partition("=")
        if not sign:
            raise ConfigError(f"column {name!r}: {part!r} is not KEY=VALUE; the items of a list are separated by |")
        keys[key] = read_setting(key, value, kind, name)
    return with_keys(name, keys)


def read_setting(key: str, value: str, kind: str, column: str) -> Setting:
    """Read the text of a schema key by what the key takes.

    Raises:
        ConfigError: the kind has no such key, or the text does not fit.
    """
    known = [name for name in KINDS[kind].model_fields if name not in {"name", "kind"}]
    if key not in known:
        raise ConfigError(f"column {column!r}: a column of kind {kind!r} has no key {key!r}; {suggest(key, known)}")
    if key in FLAGS or (kind == "boolean" and key == "replacement"):
        if value not in {"true", "false"}:
            raise ConfigError(f"column {column!r}: {key} is true or false")
        return value == "true"
    if key in LISTS:
        return tuple(value.split("|"))
    if key in NUMBER_LISTS:
        return tuple(_bound(key, item, kind, column) for item in value.split("|"))
    if key in {"min", "max", "replacement", "bins", "decimals"} and kind != "categorical":
        return _bound(key, value, kind, column)
    return value


def _bound(key: str, text: str, kind: str, column: str) -> Scalar:
    if kind in {"date", "datetime"} and key not in {"bins", "decimals"}:
        read = date.fromisoformat if kind == "date" else datetime.fromisoformat
        try:
            return read(text.strip())
        except ValueError:
            raise ConfigError(f"column {column!r}: {key} = {text!r} is not a date such as 2020-01-31") from None
    return read_number(text, key, column)
