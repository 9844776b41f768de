"""A drafted column: keys that somebody declared, keys that were guessed, keys that only a person can give; as TOML."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from accounting.errors import ConfigError
from accounting.schema.declared import suggest
from accounting.schema.schema import KINDS

CHECK = "# check"
MANY_CELLS = 1000
BINS = 50
REAL_BINS = 20

_NEEDED = {"categorical": ("categories",)} | dict.fromkeys(("integer", "real", "date", "datetime"), ("min", "max"))

Scalar = str | int | bool | Decimal | date
Setting = Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """A setting that nobody declared, with the reason for it in a few words."""

    value: Setting
    reason: str


@dataclass(slots=True)
class DraftColumn:
    """A column as far as it is known.

    Args:
        name: its name in the header.
        keys: its schema keys; a ``Guess`` is marked for checking.
        missing: keys that the schema needs and nothing tells, with what to write.
    """

    name: str
    keys: dict[str, Setting | Guess]
    missing: dict[str, str] = field(default_factory=dict)

    def value(self, key: str) -> Setting | None:
        """Return a key's setting, declared or guessed."""
        found = self.keys.get(key)
        return found.value if isinstance(found, Guess) else found

    def complete(self) -> None:
        """Guess what a kind needs and can be guessed; note what cannot."""
        kind = self.value("kind")
        if kind == "identifier":
            return
        if "nullable" not in self.keys:
            self.keys["nullable"] = Guess(True, "nulls may occur")
        for key in _NEEDED.get(str(kind), ()):
            if key not in self.keys:
                self.missing[key] = f"{key} = …"
        if kind == "real":
            self.keys.setdefault("decimals", Guess(2, "two decimals"))
        if kind in {"date", "datetime"}:
            text = "%Y-%m-%d" if kind == "date" else "%Y-%m-%d %H:%M:%S"
            self.keys.setdefault("format", Guess(text, "the usual form"))
            self.keys.setdefault("resolution", Guess("day" if kind == "date" else "hour", "the usual step"))
        if not {"edges", "bins"} & self.keys.keys():
            self._guess_bins(kind)
        if self.value("nullable") is False and "replacement" not in self.keys:
            self.missing["replacement"] = "replacement = …   a declared value for nulls and unreadable texts"

    def _guess_bins(self, kind: object) -> None:
        low, high = self.value("min"), self.value("max")
        if kind == "real":
            self.keys["bins"] = Guess(REAL_BINS, "equal bins")
        elif kind == "integer" and isinstance(low, int) and isinstance(high, int) and high - low >= MANY_CELLS:
            self.keys["bins"] = Guess(BINS, f"{high - low + 1} values")
        elif kind == "datetime" or (kind == "date" and self.value("resolution") == "day"):
            self.keys["bins"] = Guess(BINS, "equal bins")


def read_number(text: str, key: str, column: str) -> int | Decimal:
    """Read a number exactly, whole where it is whole.

    Raises:
        ConfigError: it is none.
    """
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise ConfigError(f"column {column!r}: {key} = {text!r} is not a number")
    return int(number) if number == number.to_integral_value() else number


def check_kind(kind: str, column: str) -> str:
    """Return a schema's kind.

    Raises:
        ConfigError: there is no such kind.
    """
    if kind not in KINDS:
        raise ConfigError(f"column {column!r}: there is no kind {kind!r}; {suggest(kind, KINDS)}")
    return kind


def guesses(columns: Sequence[DraftColumn]) -> int:
    """Count the guesses of a draft."""
    return sum(isinstance(value, Guess) for column in columns for value in column.keys.values())


def missing(columns: Sequence[DraftColumn]) -> int:
    """Count the keys that are still to be given."""
    return sum(len(column.missing) for column in columns)


def draft_text(name: str, max_rows: int | None, columns: Sequence[DraftColumn], source: str) -> str:
    """Write a draft as TOML: each guess is followed by ``# check`` and its reason, each missing key is a comment.

    Args:
        name: the table's public name.
        max_rows: the declared ceiling on the number of rows.
        columns: the columns in the header's order.
        source: where the draft comes from, one line.
    """
    lines = [f"# Drafted from {_one_line(source)}; nothing in it may come from the private rows."]
    lines += ["", "[table]", f"name = {_toml(name)}"]
    lines.append("# max_rows = …   # check: a public ceiling" if max_rows is None else f"max_rows = {max_rows}")
    for column in columns:
        lines += ["", "[[columns]]", f"name = {_toml(column.name)}"]
        for key, value in column.keys.items():
            if isinstance(value, Guess):
                lines.append(f"{key} = {_toml(value.value)}   {CHECK}: {_one_line(value.reason)}")
            else:
                lines.append(f"{key} = {_toml(value)}")
        lines += [f"# {line}   {CHECK}: to be given" for line in column.missing.values()]
    return "\n".join(lines) + "\n"


def _toml(value: Setting) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def with_keys(name: str, keys: Mapping[str, Setting | Guess]) -> DraftColumn:
    """Build a column and complete it."""
    column = DraftColumn(name, dict(keys))
    column.complete()
    return column
