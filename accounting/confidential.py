"""What is computed on private rows without paying: for the curator's eyes only, and refused by every public writer."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

from accounting.curator.delimited import DelimitedFile, FormFault
from accounting.curator.form import check_size, file_form, without_rows
from accounting.curator.persons import NO_PERSON
from accounting.curator.reading import number_persons, open_table
from accounting.curator.rows import Opaque
from accounting.schema import Problem, Schema, loose_form
from accounting.unit import PersonUnit, PrivacyUnit

T = TypeVar("T")

Ticks: TypeAlias = Mapping[str, npt.NDArray[np.int64]]
"""For each modelled column an int64 array of shape (rows,), −1 for null."""


@final
class Confidential(Opaque, Generic[T]):
    """A value that was computed on private rows without paying.

    It is neither shown by ``str`` or ``repr`` nor copied, pickled or serialised. Whoever reveals it answers for where
    it goes: to the curator's terminal or the workspace's confidential folder, never into a release.
    """

    __slots__ = ("_reveal",)

    def __init__(self, value: T) -> None:
        def reveal() -> T:
            return value

        self._reveal = reveal

    def reveal_to_curator(self) -> T:
        """Return the value, for the curator's eyes only."""
        return self._reveal()


@dataclass(frozen=True, slots=True)
class SchemaReport:
    """How well a private file keeps its schema; exact private counts, never a value.

    Args:
        rows: the number of rows that could be read.
        problems: for each modelled column how many rows break which rule; only rules that some row breaks.
        constraints: how many rows break which constraint, after the policies; only constraints that some row breaks.
        faults: the places at which the file breaks a rule of its form; the run would refuse the file.
        null_ids: the number of rows that are left out because they have no id.
        crowded_persons: the number of persons with more rows than the unit keeps.
        dropped_rows: the number of their rows that are left out.
        similar_ids: how many ids are likely to be spellings of another one, so that one person counts as several.
    """

    rows: int
    problems: Mapping[str, Mapping[Problem, int]]
    constraints: Mapping[str, int]
    faults: tuple[FormFault, ...]
    null_ids: int
    crowded_persons: int
    dropped_rows: int
    similar_ids: int

    @property
    def is_clean(self) -> bool:
        """Whether no row breaks a rule or is left out."""
        return not (
            any(self.problems.values()) or self.constraints or self.faults or self.null_ids or self.crowded_persons
        )


def schema_check(
    path: str | os.PathLike[str], schema: Schema, unit: PrivacyUnit, *, encoding: str = "utf-8"
) -> Confidential[SchemaReport]:
    """Count, for the curator only, which rules of the schema the rows of a private file break.

    The caller records the look in the ledger before it calls.

    Raises:
        InputFileError: the file's header or kind is refused; later faults of form are reported.
        ConfigError: the unit does not fit the schema.

    Privacy:
        Costs nothing and protects nothing: the report is exact. Whatever is edited after reading it is edited after a
        look, and the ledger says so.
    """

    def check() -> SchemaReport:
        file = open_table(Path(path), schema, unit, file_form(Path(path), encoding))
        faults: list[FormFault] = []
        problems: dict[str, Counter[Problem]] = {column.name: Counter() for column in schema.columns}
        broken: Counter[str] = Counter()
        known: dict[str | int, int] = {}
        rows_of: Counter[int] = Counter()
        rows = 0
        for chunk in file.chunks(faults) if isinstance(file, DelimitedFile) else file.chunks():
            rows += len(next(iter(chunk.values())))
            check_size(rows, schema, unit)
            for column in schema.columns:
                problems[column.name].update(file.problems(column, chunk[column.name]))
            if schema.constraints:
                ticks = {column.name: file.ticks(column, chunk[column.name]) for column in schema.columns}
                broken.update({name: int(rows_of_it.sum()) for name, rows_of_it in schema.broken(ticks).items()})
            if isinstance(unit, PersonUnit):
                identifier = schema.identifier(unit.id_column)
                ids = file.ids(identifier, chunk[unit.id_column])
                rows_of.update(number_persons(ids, known, identifier.null_ids))
        null_ids = rows_of.pop(NO_PERSON, 0)
        ids_found = [identity for identity in known if isinstance(identity, str)]
        beyond = [count - unit.max_rows for count in rows_of.values() if count > unit.max_rows]
        return SchemaReport(
            rows=rows,
            problems={name: dict(counts) for name, counts in problems.items()},
            constraints={name: count for name, count in broken.items() if count},
            faults=tuple(faults),
            null_ids=null_ids,
            crowded_persons=len(beyond),
            dropped_rows=sum(beyond),
            similar_ids=len(ids_found) - len({loose_form(identity) for identity in ids_found}),
        )

    return Confidential(without_rows("checking the private file", check))


def on_private_rows(
    path: str | os.PathLike[str],
    schema: Schema,
    unit: PrivacyUnit,
    compute: Callable[[Ticks], T],
    *,
    encoding: str = "utf-8",
) -> Confidential[T]:
    """Compute, for the curator only, on every row of a private file.

    The caller records the look in the ledger before it calls.

    Args:
        path: the file.
        schema: its schema.
        unit: the privacy unit.
        compute: gets the cast rows, rows beyond a unit's bound included.
        encoding: the text encoding of a CSV file.

    Raises:
        InputFileError: the file is refused for its form.
        ConfigError: the unit does not fit the schema.

    Privacy:
        Costs nothing and protects nothing: the result is exact. A failure's reason may be private and is not shown.
    """

    def run() -> T:
        file = open_table(Path(path), schema, unit, file_form(Path(path), encoding))
        parts: dict[str, list[npt.NDArray[np.int64]]] = {
            column.name: [np.empty(0, dtype=np.int64)] for column in schema.columns
        }
        rows = 0
        for chunk in file.chunks():
            rows += len(next(iter(chunk.values())))
            check_size(rows, schema, unit)
            for column in schema.columns:
                parts[column.name].append(file.ticks(column, chunk[column.name]))
        return compute({name: np.concatenate(pieces) for name, pieces in parts.items()})

    return Confidential(without_rows("computing on the private file", run))
