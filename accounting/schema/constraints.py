"""What rows can never be, entirely public: impossible and possible combinations, dependencies, and orders of values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, StrictInt

from accounting.errors import SchemaError
from accounting.schema.column import NULL, Column
from accounting.schema.dates import DateColumn, DatetimeColumn
from accounting.schema.decimals import DecimalNumber
from accounting.schema.declared import Document, Name, Text, as_mapping, suggest
from accounting.schema.discrete import BooleanColumn
from accounting.schema.layout import MAX_CELLS, Ints
from accounting.schema.ordered import OrderedColumn, RealColumn

Bools = npt.NDArray[np.bool_]
Value = StrictBool | StrictInt | Text | DecimalNumber


@dataclass(frozen=True, slots=True, eq=False)
class Combinations:
    """A constraint on combinations of classes of cells; a row breaks it where its classes are impossible together.

    Args:
        columns: the names of the columns, distinct.
        classes: for each column the class of each of its cells, int32, from 0 without gaps.
        impossible: over the classes, True where no row can be.
    """

    columns: tuple[str, ...]
    classes: tuple[npt.NDArray[np.int32], ...]
    impossible: Bools


@dataclass(frozen=True, slots=True)
class Order:
    """A constraint low ≤ high (or <) on two columns of one scale; a null on either side keeps it.

    Args:
        low: the name of the column whose value is the smaller.
        high: the name of the other.
        shift: what is added to a tick of ``low`` to compare it with a tick of ``high``: low + shift ≤ high.
    """

    low: str
    high: str
    shift: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Both names."""
        return self.low, self.high


Meaning = Combinations | Order


class _Constraint(Document):
    """The keys of every constraint.

    Args:
        name: a public name for messages and reports.
    """

    place: ClassVar[str] = "[[constraints]]: "

    name: Name
    kind: str

    def _refuse(self, reason: str) -> SchemaError:
        return SchemaError(f"constraint {self.name!r}: {reason}")

    def _column(self, columns: Mapping[str, Column], name: str) -> Column:
        if name not in columns:
            raise self._refuse(f"the schema models no column {name!r}; {suggest(name, columns)}")
        return columns[name]

    def _tick(self, column: Column, value: Value) -> int:
        """Read a declared value; a null string says null."""
        is_boolean = isinstance(value, bool) and isinstance(column, BooleanColumn)
        text = column.text_of_ticks([int(value)])[0] if is_boolean else str(value)
        tick = int(column.ticks_of_text([text])[0])
        if column.problems_of_text([text]) or (tick == NULL and text not in column.null_strings):
            raise self._refuse(f"{text!r} is no declared value of column {column.name!r}")
        return tick

    def _cell(self, column: Column, value: Value) -> int:
        """Return the cell of a declared value, which has it for itself."""
        tick = self._tick(column, value)
        cell = int(column.cell_of_tick([tick])[0])
        if column.ticks_of_cell(cell) != (tick, tick):
            raise self._refuse(
                f"{str(value)!r} shares a cell of column {column.name!r} with other values; "
                "add it to the column's points, or begin cells at it and after it"
            )
        return cell


class Condition(Document):
    """Which values of one column a rule speaks of: listed ones, a range, all others than listed ones, or null.

    Args:
        column: the column's name.
        any_of: these values.
        none_of: all values except these.
        min, max: the values from min to max, both inclusive; either may be left out.
        null: alone, whether the value is null; beside another key, true adds null to its values.
    """

    place: ClassVar[str] = "[[constraints]], a condition: "

    column: Name
    any_of: tuple[Value, ...] | None = None
    none_of: tuple[Value, ...] | None = None
    min: Value | None = None
    max: Value | None = None
    null: StrictBool | None = None


class ImpossibleConstraint(_Constraint):
    """No row meets all the conditions of ``when`` at once."""

    kind: Literal["impossible"] = "impossible"
    when: Annotated[tuple[Condition, ...], Field(min_length=1)]

    def meaning(self, columns: Mapping[str, Column]) -> Combinations:
        """Resolve the names and values.

        Raises:
            SchemaError: an unknown column or value, or a range that ends inside a cell.
        """
        names = tuple(condition.column for condition in self.when)
        if len(set(names)) < len(names):
            raise self._refuse("each column has one condition")
        classes = [self._cells(self._column(columns, item.column), item).astype(np.int32) for item in self.when]
        for name, members in zip(names, classes, strict=True):
            if not members.any():
                raise self._refuse(f"the condition on column {name!r} holds for no value")
        impossible = np.zeros((2,) * len(names), dtype=np.bool_)
        impossible[(1,) * len(names)] = True
        return Combinations(names, tuple(classes), impossible)

    def _cells(self, column: Column, condition: Condition) -> Bools:
        """Return which cells meet a condition."""
        ways = [condition.any_of is not None, condition.none_of is not None]
        ways.append(condition.min is not None or condition.max is not None)
        if sum(ways) > 1 or (not any(ways) and condition.null is None):
            raise self._refuse(f"column {column.name!r} needs one of any_of, none_of, min and max, null")
        if condition.null and not column.nullable:
            raise self._refuse(f"column {column.name!r} is not nullable")
        met = np.zeros(column.cells, dtype=np.bool_)
        if condition.any_of is not None:
            met[[self._cell(column, value) for value in condition.any_of]] = True
        elif condition.none_of is not None:
            met[:] = True
            met[[self._cell(column, value) for value in condition.none_of]] = False
        elif ways[2]:
            met[self._range(column, condition)] = True
        else:
            met[:] = not condition.null
        if column.null_cell is not None:
            listed = condition.any_of is not None and bool(met[column.null_cell])
            met[column.null_cell] = listed or bool(condition.null)
        return met

    def _range(self, column: Column, condition: Condition) -> slice:
        if not isinstance(column, OrderedColumn):
            raise self._refuse(f"column {column.name!r} has no order: list its values in any_of")
        low = 0 if condition.min is None else self._tick(column, condition.min)
        high = column.ticks - 1 if condition.max is None else self._tick(column, condition.max)
        if not 0 <= low <= high:
            raise self._refuse(f"min lies above max for column {column.name!r}")
        first, last = column.cell_of_tick([low, high]).tolist()
        if column.ticks_of_cell(first)[0] != low:
            raise self._refuse(f"min = {condition.min} lies inside a cell of column {column.name!r}; begin one there")
        if column.ticks_of_cell(last)[1] != high:
            raise self._refuse(f"max = {condition.max} lies inside a cell of column {column.name!r}; end one there")
        return slice(first, last + 1)


class PossibleConstraint(_Constraint):
    """Of the listed columns' combinations only the listed rows are possible; a null string stands for null."""

    kind: Literal["possible"] = "possible"
    columns: Annotated[tuple[Name, ...], Field(min_length=2)]
    rows: Annotated[tuple[tuple[Value, ...], ...], Field(min_length=1)]

    def meaning(self, columns: Mapping[str, Column]) -> Combinations:
        """Resolve the names and values; see :meth:`ImpossibleConstraint.meaning`."""
        if len(set(self.columns)) < len(self.columns):
            raise self._refuse("a column is named twice")
        known = [self._column(columns, name) for name in self.columns]
        if any(len(row) != len(known) for row in self.rows):
            raise self._refuse(f"each row has {len(known)} values, one for each of columns")
        return _only(self, known, [[self._cell(*pair) for pair in zip(known, row, strict=True)] for row in self.rows])


class DeterminesConstraint(_Constraint):
    """The value of one column determines that of a coarser one by a public map.

    Args:
        fine: the column that determines.
        coarse: the column that is determined.
        map: the coarse value of every fine value; a null goes with a null unless the map says otherwise.
    """

    kind: Literal["determines"] = "determines"
    fine: Name
    coarse: Name
    map: Annotated[dict[Text, Value], Field(min_length=1)]

    def meaning(self, columns: Mapping[str, Column]) -> Combinations:
        """Resolve the names and values; see :meth:`ImpossibleConstraint.meaning`."""
        fine, coarse = self._column(columns, self.fine), self._column(columns, self.coarse)
        if fine is coarse:
            raise self._refuse("a column does not determine itself")
        of = {self._cell(fine, text): self._cell(coarse, value) for text, value in self.map.items()}
        if fine.null_cell is not None and fine.null_cell not in of:
            if coarse.null_cell is None:
                raise self._refuse(f"say in the map what a null of {fine.name!r} goes with")
            of[fine.null_cell] = coarse.null_cell
        missing = [fine.labels()[cell] for cell in range(fine.cells) if cell not in of]
        if missing:
            raise self._refuse(f"the map leaves out {len(missing)} values of {fine.name!r}, first {missing[0]!r}")
        return _only(self, [fine, coarse], [[cell, of[cell]] for cell in sorted(of)])


class OrderConstraint(_Constraint):
    """The value of one column is never above that of another; where one is null nothing is said.

    Args:
        low: the column whose value is the smaller.
        high: the other column, of the same kind and step.
        strict: equal values are impossible, too.
    """

    kind: Literal["order"] = "order"
    low: Name
    high: Name
    strict: StrictBool = False

    def meaning(self, columns: Mapping[str, Column]) -> Order:
        """Resolve the names.

        Raises:
            SchemaError: an unknown column, or two columns whose values cannot be compared.
        """
        low, high = self._column(columns, self.low), self._column(columns, self.high)
        if not isinstance(low, OrderedColumn) or not isinstance(high, OrderedColumn) or low is high:
            raise self._refuse("an order compares two different columns of numbers, dates or times")
        if _scale(low) != _scale(high):
            raise self._refuse("both columns must have the same kind and the same decimals, resolution and utc_offset")
        return Order(self.low, self.high, low.first_step - high.first_step + self.strict)


Constraint = ImpossibleConstraint | PossibleConstraint | DeterminesConstraint | OrderConstraint

CONSTRAINTS: Mapping[str, type[Constraint]] = {
    "impossible": ImpossibleConstraint,
    "possible": PossibleConstraint,
    "determines": DeterminesConstraint,
    "order": OrderConstraint,
}


def load_constraint(item: object, position: int) -> Constraint:
    """Load one constraint from its keys.

    Raises:
        SchemaError: an unknown kind or key, or a missing one.
    """
    if isinstance(item, _Constraint):
        return item  # type: ignore[return-value]  # the closed table holds every subclass
    keys = dict(as_mapping(item, f"constraint number {position}"))
    kind = keys.get("kind")
    if not isinstance(kind, str) or kind not in CONSTRAINTS:
        given = "the key 'kind' is missing" if kind is None else f"there is no kind {kind!r}"
        raise SchemaError(f"constraint number {position}: {given}; {suggest(str(kind), CONSTRAINTS)}")
    return CONSTRAINTS[kind](**keys)


def broken(meaning: Meaning, columns: Mapping[str, Column], ticks: Mapping[str, Ints]) -> Bools:
    """Say which rows break a constraint.

    Args:
        meaning: the resolved constraint.
        columns: the schema's columns by name.
        ticks: for each of the constraint's columns one tick a row.
    """
    if isinstance(meaning, Order):
        low, high = ticks[meaning.low], ticks[meaning.high]
        return np.asarray((low != NULL) & (high != NULL) & (low + meaning.shift > high), dtype=np.bool_)
    classes = [
        of[columns[name].cell_of_tick(ticks[name])] for name, of in zip(meaning.columns, meaning.classes, strict=True)
    ]
    return np.asarray(meaning.impossible[tuple(classes)], dtype=np.bool_)


def _only(constraint: _Constraint, columns: list[Column], rows: Iterable[list[int]]) -> Combinations:
    """Allow the listed combinations of cells only; cells that allow the same combinations share a class."""
    listed = np.array(list(rows), dtype=np.int64)
    classes = []
    for cells, column in zip(listed.T, columns, strict=True):
        of = np.zeros(column.cells, dtype=np.int32)
        known = np.unique(cells)
        of[known] = np.arange(known.size) + (known.size < column.cells)
        classes.append(of)
    shape = tuple(int(of.max()) + 1 for of in classes)
    if prod(shape) > MAX_CELLS:
        raise constraint._refuse(f"its table has {prod(shape)} cells, over the limit of {MAX_CELLS}")  # noqa: SLF001 - same module
    impossible = np.ones(shape, dtype=np.bool_)
    impossible[tuple(of[cells] for of, cells in zip(classes, listed.T, strict=True))] = False
    for axis, of in enumerate(classes):
        impossible, alike = _joined(impossible, axis)
        classes[axis] = alike[of]
    return Combinations(tuple(column.name for column in columns), tuple(classes), impossible)


def _joined(impossible: Bools, axis: int) -> tuple[Bools, npt.NDArray[np.int32]]:
    """Join the classes of one column that are possible beside the same classes of the others."""
    slices = np.moveaxis(impossible, axis, 0)
    _, first, alike = np.unique(slices.reshape(slices.shape[0], -1), axis=0, return_index=True, return_inverse=True)
    return np.take(impossible, first, axis=axis), alike.ravel().astype(np.int32)


def _scale(column: OrderedColumn) -> tuple[object, ...]:
    """Return what two columns must share for their steps to be comparable."""
    if isinstance(column, RealColumn):
        return column.kind, column.decimals
    if isinstance(column, DateColumn):
        return column.kind, column.resolution
    return (column.kind, column.resolution, column.utc_offset) if isinstance(column, DatetimeColumn) else (column.kind,)
