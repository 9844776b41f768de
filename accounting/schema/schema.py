"""The schema: the public description of a private table, from TOML or JSON, with its digest."""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, StrictInt, field_validator, model_validator

from accounting.canonical import Json, digest
from accounting.errors import InputFileError, SchemaError
from accounting.schema.column import Column
from accounting.schema.constraints import Bools, Constraint, Meaning, broken, load_constraint
from accounting.schema.dates import DateColumn, DatetimeColumn
from accounting.schema.declared import DeclaredColumn, Document, Name, Text, as_mapping, suggest
from accounting.schema.discrete import BooleanColumn, CategoricalColumn
from accounting.schema.identifier import IdentifierColumn
from accounting.schema.layout import Ints
from accounting.schema.ordered import IntegerColumn, RealColumn

FORMAT_VERSION = 1

KINDS: Mapping[str, type[DeclaredColumn]] = {
    "categorical": CategoricalColumn,
    "boolean": BooleanColumn,
    "integer": IntegerColumn,
    "real": RealColumn,
    "date": DateColumn,
    "datetime": DatetimeColumn,
    "identifier": IdentifierColumn,
}


class TableKeys(Document):
    """The keys of ``[table]``.

    Args:
        name: the table's public name.
        max_rows: a declared public ceiling on the number of rows; a release's output is capped at it.
        description: a public sentence for reports.
    """

    place: ClassVar[str] = "[table]: "

    name: Name
    max_rows: Annotated[StrictInt, Field(ge=1, lt=2**53)] | None = None
    description: Text | None = None


class Schema(Document):
    """The public description of a private table; nothing in it comes from data.

    Args:
        table: the table's own keys.
        columns: every column of the private file, in the header's order.
        constraints: what rows can never be; a release never breaks one.

    Raises:
        SchemaError: any rule broken; the message names the column and what to write.
    """

    table: TableKeys
    declared: tuple[DeclaredColumn, ...] = Field(alias="columns")
    constraints: tuple[Constraint, ...] = ()

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Load a schema from a TOML file.

        Raises:
            InputFileError: the file is missing or is not UTF-8.
            SchemaError: it is not valid TOML or breaks a rule.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputFileError(f"the schema file {path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputFileError(f"the schema file {path} is not UTF-8; save it as UTF-8") from None
        return cls.from_text(text)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Load a schema from TOML text; numbers are read exactly."""
        try:
            document = tomllib.loads(text, parse_float=Decimal)
        except ValueError as error:
            raise SchemaError(f"the schema is not valid TOML: {error}") from None
        return cls(**document)

    @classmethod
    def from_json(cls, document: Mapping[str, Json]) -> Self:
        """Load a schema from what :meth:`to_json` returned.

        Raises:
            SchemaError: another version of the format, or any rule broken.
        """
        as_mapping(document, "a schema's JSON form")
        version = document.get("version")
        if version != FORMAT_VERSION or isinstance(version, bool):
            raise SchemaError(f"this program reads version {FORMAT_VERSION} of the schema's JSON form")
        return cls(**{key: value for key, value in document.items() if key != "version"})

    def to_json(self) -> dict[str, Json]:
        """Describe the schema as JSON: every key with its default filled in, numbers and dates as text."""
        document: dict[str, Json] = {
            "version": FORMAT_VERSION,
            "table": self.table.to_json(),
            "columns": [column.to_json() for column in self.declared],
        }
        if self.constraints:
            document["constraints"] = [constraint.to_json() for constraint in self.constraints]
        return document

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the canonical JSON form; any change of meaning changes it."""
        return digest(self.to_json())

    @property
    def name(self) -> str:
        """The table's public name."""
        return self.table.name

    @property
    def max_rows(self) -> int | None:
        """The declared public ceiling on the number of rows, or None."""
        return self.table.max_rows

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The modelled columns in the header's order: all but identifiers. This is the output's header, too."""
        return tuple(column for column in self.declared if isinstance(column, Column))

    @cached_property
    def measured(self) -> tuple[Column, ...]:
        """The modelled columns whose domains are not public: they are asked for before anything is modelled."""
        return tuple(column for column in self.columns if column.is_measured)

    def with_columns(self, columns: Mapping[str, Column]) -> Self:
        """Return the schema with some columns replaced, by their names."""
        declared = tuple(columns.get(column.name, column) for column in self.declared)
        return type(self)(table=self.table, columns=declared, constraints=self.constraints)

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """The names of the identifier columns, which are never modelled and never released."""
        return tuple(column.name for column in self.declared if isinstance(column, IdentifierColumn))

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of all columns of the private file, in order."""
        return tuple(column.name for column in self.declared)

    def column(self, name: str) -> Column:
        """Return a modelled column by its name.

        Raises:
            SchemaError: the schema models no such column.
        """
        column = self._by_name.get(name)
        if not isinstance(column, Column):
            raise SchemaError(f"the schema models no column {name!r}; {suggest(name, self._names(Column))}")
        return column

    def identifier(self, name: str) -> IdentifierColumn:
        """Return an identifier column by its name.

        Raises:
            SchemaError: the schema has no such identifier.
        """
        column = self._by_name.get(name)
        if not isinstance(column, IdentifierColumn):
            raise SchemaError(
                f"the schema has no identifier column {name!r}; {suggest(name, self._names(IdentifierColumn))}"
            )
        return column

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """What each constraint says, by its name."""
        columns = {column.name: column for column in self.columns}
        return {constraint.name: constraint.meaning(columns) for constraint in self.constraints}

    def broken(self, ticks: Mapping[str, Ints]) -> dict[str, Bools]:
        """Say for each constraint, by its name, which rows break it.

        Args:
            ticks: for each modelled column one tick a row, int64.

        Privacy:
            On private rows the answer is private: for the curator's confidential check only.
        """
        columns = {column.name: column for column in self.columns}
        return {name: broken(meaning, columns, ticks) for name, meaning in self.meanings.items()}

    def _names(self, kind: type[DeclaredColumn]) -> list[str]:
        return [column.name for column in self.declared if isinstance(column, kind)]

    @cached_property
    def _by_name(self) -> dict[str, DeclaredColumn]:
        return {column.name: column for column in self.declared}

    @field_validator("table", mode="before")
    @classmethod
    def _load_table(cls, value: object) -> TableKeys:
        return value if isinstance(value, TableKeys) else TableKeys(**as_mapping(value, "[table]"))

    @field_validator("declared", mode="before")
    @classmethod
    def _load_columns(cls, value: object) -> tuple[DeclaredColumn, ...]:
        if not isinstance(value, (list, tuple)):
            raise SchemaError("columns are declared one by one, each under the line [[columns]]")
        return tuple(_load_column(item, position) for position, item in enumerate(value, start=1))

    @field_validator("constraints", mode="before")
    @classmethod
    def _load_constraints(cls, value: object) -> tuple[Constraint, ...]:
        if not isinstance(value, (list, tuple)):
            raise SchemaError("constraints are declared one by one, each under the line [[constraints]]")
        return tuple(load_constraint(item, position) for position, item in enumerate(value, start=1))

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = self.header
        for index, name in enumerate(names):
            if name in names[:index]:
                raise SchemaError(f"two columns are named {name!r}; names must differ")
        if not self.columns:
            raise SchemaError("a schema models at least one column that is no identifier; add a [[columns]] part")
        measured = {column.name for column in self.measured}
        for name, meaning in self.meanings.items():
            if measured & set(meaning.columns):
                raise SchemaError(
                    f"constraint {name!r}: it names a column whose domain is measured, so that its meaning would not "
                    "be public; declare that column's domain, or leave the constraint out"
                )
        if len(self.meanings) < len(self.constraints):
            raise SchemaError("two constraints have the same name; names must differ")
        return self


def _load_column(item: object, position: int) -> DeclaredColumn:
    if isinstance(item, DeclaredColumn):
        return item
    keys: dict[str, Any] = dict(as_mapping(item, f"column number {position}"))
    name, kind = keys.get("name"), keys.get("kind")
    if not isinstance(name, str):
        raise SchemaError(f'column number {position} needs a name in quotes; add the line name = "…"')
    if not isinstance(kind, str) or kind not in KINDS:
        given = "the key 'kind' is missing" if kind is None else f"there is no kind {kind!r}"
        raise SchemaError(f"{given}; {suggest(str(kind), KINDS)}", column=name)
    return KINDS[kind](**keys)
