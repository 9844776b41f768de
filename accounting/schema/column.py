"""The modelled column: its value grid, its cells, and the total cast from texts and typed values by its policies."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from pydantic import StrictBool, model_validator

from accounting.errors import ConfigError, SchemaError
from accounting.schema.declared import BLANKS, DeclaredColumn
from accounting.schema.layout import Ints, Layout
from accounting.schema.typed import NoText, Spelled, plain_values, text_of_value

NULL = -1
"""The tick of a null."""


class Problem(StrEnum):
    """A rule that a text or value may break. Its count is private: for the curator's confidential check only."""

    NULL = "null in a column that is not nullable"
    UNREADABLE = "not readable as the declared kind"
    UNDECLARED = "category that is not declared"
    BELOW = "below min"
    ABOVE = "above max"
    ROUNDED = "more decimals than declared"


class Reading(NamedTuple):
    """What a text says: a tick of the grid (the nearest one where it lies outside) and the rule it breaks, if any."""

    tick: int
    problem: Problem | None = None


NULL_READING = Reading(NULL, Problem.NULL)
UNREADABLE = Reading(NULL, Problem.UNREADABLE)


class Column(DeclaredColumn, ABC):
    """A modelled column of the private table, entirely public.

    Its values lie on a grid of ``ticks`` positions 0…ticks−1; null is −1. Its one-way marginal has ``cells`` cells:
    contiguous intervals of ticks and, where the column is nullable, one last cell for null. Everything follows from the
    declaration, nothing from data.

    Args:
        nullable: whether null may occur; public, without a default.
        replacement: (of each kind's own type) the declared value that takes the place of nulls and unreadable texts in
            a column that is not nullable, and of others where a policy says "replacement".
    """

    nullable: StrictBool

    @property
    @abstractmethod
    def ticks(self) -> int:
        """The number of positions of the value grid, at least 1."""

    @property
    @abstractmethod
    def _layout(self) -> Layout: ...

    @property
    @abstractmethod
    def _replacement_tick(self) -> int | None:
        """The declared replacement's tick, or None where none is declared."""

    @property
    @abstractmethod
    def _policies(self) -> dict[str, str]:
        """The value of each policy key of the kind, by key."""

    @property
    def is_measured(self) -> bool:
        """Whether the column's domain is not public, so that it has to be asked for before the column is modelled."""
        return False

    @abstractmethod
    def _read(self, text: str) -> Reading:
        """Read a stripped text that is no null string."""

    @abstractmethod
    def _text(self, tick: int) -> str:
        """Write a tick ≥ 0 canonically."""

    @abstractmethod
    def _value(self, tick: int) -> object:
        """Return the typed value of a tick ≥ 0."""

    @property
    def cells(self) -> int:
        """The number of cells of the one-way marginal, the null cell included."""
        return self._layout.cells + self.nullable

    @property
    def null_cell(self) -> int | None:
        """The number of the null cell, which is the last, or None where the column is not nullable."""
        return self._layout.cells if self.nullable else None

    @cached_property
    def cell_starts(self) -> Ints:
        """The first tick of each cell except the null cell; int64, read-only."""
        return self._layout.cell_starts()

    def cell_of_tick(self, ticks: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return the cell of each tick, int32 of the same shape; null goes to the null cell.

        Raises:
            ConfigError: a tick lies outside the grid, or is null in a column that is not nullable.
        """
        known = self._checked(ticks)
        cells = self._layout.cell_of(known)
        if self.nullable:
            cells[known == NULL] = self._layout.cells
        return cells

    def ticks_of_cell(self, cell: int) -> tuple[int, int]:
        """Return the first and the last tick of a cell, both inclusive; (−1, −1) for the null cell.

        Raises:
            ConfigError: the column has no such cell.
        """
        if not 0 <= cell < self.cells:
            raise ConfigError(f"column {self.name!r} has cells 0 to {self.cells - 1}")
        return (NULL, NULL) if cell == self.null_cell else self._layout.interval(int(cell))

    def ticks_of_text(self, texts: Sequence[str] | npt.NDArray[Any]) -> Ints:
        """Cast texts to ticks by the declared policies; total: no text ever raises.

        Returns:
            One tick a text, int64; −1 only in a nullable column.
        """
        return self._cast(texts.ravel().tolist() if isinstance(texts, np.ndarray) else texts)

    def ticks_of_values(self, values: Any) -> Ints:  # noqa: ANN401  # whatever a typed file holds
        """Cast typed values to ticks by the same policies; total: no value ever raises.

        Each value is first written as text: whole numbers and whole floats without a decimal point, other floats by
        their shortest exact text, booleans as the column's canonical text (elsewhere "true", "false"), dates and times
        in the column's format. None and NaN are null; lists, durations and the like are not readable.

        Args:
            values: a pyarrow Array or ChunkedArray, a NumPy array, or a sequence of Python values.
        """
        return self._cast([self._spelled(value) for value in plain_values(values)])

    def text_of_ticks(self, ticks: npt.ArrayLike) -> list[str]:
        """Write ticks as canonical texts, which ``ticks_of_text`` reads back to the same ticks.

        Null is written as the first null string.

        Raises:
            ConfigError: a tick lies outside the grid, or is null in a column that is not nullable.
        """
        return self._spell(ticks, self._text, self.null_strings[0] if self.nullable else "")

    def values_of_ticks(self, ticks: npt.ArrayLike) -> list[Any]:
        """Return typed values for typed files: str, bool, int, Decimal, date or datetime by kind; None for null.

        Raises:
            ConfigError: as :meth:`text_of_ticks`.
        """
        return self._spell(ticks, self._value, None)

    def problems_of_text(self, texts: Iterable[str]) -> dict[Problem, int]:
        """Count the texts that break each rule; rules that none breaks are left out.

        Privacy:
            The counts are exact private statistics: for the curator's confidential check only.
        """
        return self._count(texts)

    def problems_of_values(self, values: Any) -> dict[Problem, int]:  # noqa: ANN401  # as ticks_of_values
        """Count the typed values that break each rule; as confidential as :meth:`problems_of_text`."""
        return self._count(self._spelled(value) for value in plain_values(values))

    def labels(self) -> list[str]:
        """Name each cell for reports: its canonical text, "low to high", or "(null)"."""
        names = []
        for cell in range(self._layout.cells):
            low, high = self._layout.interval(cell)
            names.append(self._text(low) if low == high else f"{self._text(low)} to {self._text(high)}")
        return [*names, "(null)"] if self.nullable else names

    def _reading(self, text: Spelled) -> Reading:
        if text is None:
            return NULL_READING
        if isinstance(text, NoText):
            return UNREADABLE
        bare = text.strip(BLANKS) if self.strip else text
        return NULL_READING if bare in self.null_strings else self._read(bare)

    def _spelled(self, value: object) -> Spelled:
        """Write a typed value as a text to be read."""
        return text_of_value(value)

    def _settle(self, reading: Reading) -> int:
        """Return the tick that the declared policies give a reading."""
        return reading.tick if reading.problem in (None, Problem.ROUNDED) else self._fallback

    def _by_policy(self, policy: str) -> int:
        if policy == "null":
            return NULL
        assert self._replacement_tick is not None
        return self._replacement_tick

    @cached_property
    def _fallback(self) -> int:
        return self._by_policy("null" if self.nullable else "replacement")

    def _cast(self, texts: Sequence[Spelled]) -> Ints:
        memo = _Memo(lambda text: self._settle(self._reading(text)))
        return np.fromiter(map(memo.__getitem__, texts), dtype=np.int64, count=len(texts))

    def _spell(self, ticks: npt.ArrayLike, spell: Callable[[int], Any], null: str | None) -> list[Any]:
        distinct, position = np.unique(self._checked(ticks).ravel(), return_inverse=True)
        spelled = [null if tick == NULL else spell(tick) for tick in distinct.tolist()]
        return [spelled[index] for index in position.tolist()]

    def _count(self, texts: Iterable[Spelled]) -> dict[Problem, int]:
        counts = dict.fromkeys(Problem, 0)
        for text, times in Counter(texts).items():
            problem = self._reading(text).problem
            if problem is not None:
                counts[problem] += times
        if self.nullable:
            counts[Problem.NULL] = 0
        return {problem: count for problem, count in counts.items() if count}

    def _checked(self, ticks: npt.ArrayLike) -> Ints:
        given = np.asarray(ticks)
        if given.size and given.dtype.kind != "i":
            raise ConfigError(f"column {self.name!r}: ticks are whole numbers of a signed integer type")
        known = given.astype(np.int64)
        low = NULL if self.nullable else 0
        if known.size and (known.min() < low or known.max() >= self.ticks):
            raise ConfigError(f"column {self.name!r}: a tick lies outside the declared domain")
        return known

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_strings()
        self._check_kind()
        if self.nullable and not self.null_strings:
            raise SchemaError("a nullable column needs at least one null string to write a null", column=self.name)
        for text in self.null_strings:
            if self._read(text).problem in (None, Problem.ROUNDED):
                raise SchemaError(
                    f"the null string {text!r} also reads as a declared value; "
                    "leave that value out of the declaration or the text out of null_strings",
                    column=self.name,
                )
        self._check_policies()
        return self

    def _check_kind(self) -> None:
        """Check what is special to the kind; sizes before anything is allocated."""

    def _check_policies(self) -> None:
        for key, policy in self._policies.items():
            if policy == "null" and not self.nullable:
                raise SchemaError(f'{key} = "null" needs a nullable column', column=self.name)
        declared = self._replacement_tick is not None
        if not self.nullable and not declared:
            raise SchemaError(
                "a column that is not nullable needs a value for nulls and unreadable texts; "
                f"add the line replacement = {self._example}",
                column=self.name,
            )
        if self.nullable and "replacement" in self._policies.values() and not declared:
            raise SchemaError(
                f'a policy says "replacement"; add the line replacement = {self._example}', column=self.name
            )
        if self.nullable and declared and "replacement" not in self._policies.values():
            raise SchemaError("replacement is never used in this column; leave it out", column=self.name)

    @property
    @abstractmethod
    def _example(self) -> str:
        """A replacement as it would be written in TOML."""


class _Memo(dict[Spelled, int]):
    """Casts each distinct text once, so that a column of many rows costs about as much as its distinct texts."""

    def __init__(self, tick_of: Callable[[Spelled], int]) -> None:
        super().__init__()
        self._tick_of = tick_of

    def __missing__(self, text: Spelled) -> int:
        tick = self[text] = self._tick_of(text)
        return tick
