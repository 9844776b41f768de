"""What every declared column shares: exact texts, unknown keys refused with a suggestion, and one kind of error."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError
from pydantic_core import ErrorDetails

from accounting.canonical import Json
from accounting.errors import SchemaError

BLANKS = " \t"
BYTE_ORDER_MARK = "\ufeff"

_LINE_TO_ADD = {
    "table": '[table] and below it name = "…"',
    "columns": "[[columns]], and its keys, once for each column of the file",
    "name": 'name = "…"',
    "kind": 'kind = "…"',
    "nullable": "nullable = true or nullable = false; whether nulls may occur is public and has no default",
    "categories": 'categories = ["…", "…"]; the list is public and never taken from the data',
    "min": "min = …; a bound is public and never taken from the data",
    "max": "max = …; a bound is public and never taken from the data",
    "decimals": "decimals = …, from 0 to 9",
    "format": 'format = "%Y-%m-%d", or as the file writes it',
    "resolution": 'resolution = "day", or another of this kind',
}


def _encodable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a text must be valid Unicode without lone surrogates") from None
    return text


def _unblanked(name: str) -> str:
    if not name or name != name.strip() or name.startswith(BYTE_ORDER_MARK):
        raise ValueError(
            "a name is not empty and neither begins with a byte-order mark nor begins or ends with a blank, "
            "since headers are read without them"
        )
    return name


Text = Annotated[StrictStr, AfterValidator(_encodable)]
Name = Annotated[Text, AfterValidator(_unblanked)]


class Document(BaseModel):
    """A frozen part of a schema whose every refusal is a ``SchemaError`` that names the key and what to write."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    place: ClassVar[str] = ""
    """Where the part stands in a schema, for messages; empty where the column's name says it."""

    def __init__(self, /, **data: Any) -> None:  # noqa: ANN401  # pydantic validates each key by its own type
        try:
            super().__init__(**data)
        except ValidationError as error:
            name = data.get("name")
            column = name if isinstance(self, DeclaredColumn) and isinstance(name, str) else None
            keys = [field.alias or key for key, field in type(self).model_fields.items()]
            raise SchemaError(self.place + _explain(error.errors()[0], keys), column=column) from None

    def to_json(self) -> dict[str, Json]:
        """Describe the part as JSON: every key with its default filled in, numbers and dates as text."""
        return cast("dict[str, Json]", self.model_dump(mode="json", exclude_none=True))


class DeclaredColumn(Document):
    """The keys of every column of the private file.

    Args:
        name: the name in the file's header, kept exactly as written.
        kind: the kind's name.
        description: a public sentence for reports.
        strip: blanks and tabs around each text are removed before it is read.
        null_strings: texts that mean null; the first one is written for a null.
    """

    name: Name
    kind: str
    description: Text | None = None
    strip: StrictBool = False
    null_strings: tuple[Text, ...] = Field(default=("",))

    def _check_strings(self) -> None:
        """Check the null strings on their own.

        Raises:
            SchemaError: a repeated one, or one that stripping makes unreachable.
        """
        self._check_distinct(self.null_strings, "null string")
        self._check_reachable(self.null_strings, "null string")

    def _check_distinct(self, texts: Sequence[str], what: str) -> None:
        """Refuse a list that names the same text twice."""
        if len(set(texts)) < len(texts):
            twice = next(text for index, text in enumerate(texts) if text in texts[:index])
            raise SchemaError(f"the {what} {twice!r} is declared twice", column=self.name)

    def _check_reachable(self, texts: Iterable[str], what: str) -> None:
        """Refuse a text with blanks around it when the column strips them before reading."""
        if self.strip:
            for text in texts:
                if text != text.strip(BLANKS):
                    raise SchemaError(
                        f"the {what} {text!r} has blanks around it, which strip = true removes from the file's texts",
                        column=self.name,
                    )


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a "did you mean" for a mistyped word, or the list of the known ones."""
    words = list(known)
    close = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(words)}"


def as_mapping(value: object, what: str) -> Mapping[str, object]:
    """Take a table of keys.

    Raises:
        SchemaError: for anything else.
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise SchemaError(f"{what} is a table of keys and values")
    return value


def _explain(error: ErrorDetails, keys: Sequence[str]) -> str:
    where = [str(part + 1) if isinstance(part, int) else part for part in error["loc"]]
    key = where[0]
    place = key if len(where) == 1 else f"{key}, item {where[1]}"
    match error["type"]:
        case "missing":
            return f"the key {key!r} is missing; add the line {_LINE_TO_ADD.get(key, key + ' = …')}"
        case "extra_forbidden":
            return f"unknown key {key!r}; {suggest(key, keys)}"
        case "tuple_type":
            return f"{place} must be a list in brackets"
        case "literal_error":
            return f"{place} must be {error['ctx']['expected']}"
        case "value_error":
            return f"{place}: {error['ctx']['error']}"
        case "string_type":
            return f'{place} must be a text in quotes: write "1", not 1'
        case "bool_type":
            return f"{place} must be true or false, without quotes"
        case "int_type":
            return f"{place} must be a whole number"
        case _:
            return f"{place}: {error['msg'][0].lower()}{error['msg'][1:]}"
