"""Categorical and boolean columns: one tick and one cell for each declared value."""

from functools import cached_property
from typing import Literal

import numpy as np
from pydantic import Field, StrictBool

from accounting.errors import SchemaError
from accounting.schema.column import UNREADABLE, Column, Problem, Reading
from accounting.schema.declared import Text, suggest
from accounting.schema.layout import Layout, check_size
from accounting.schema.typed import Spelled


class CategoricalColumn(Column):
    """A column whose values are the declared texts, in the declared order.

    Args:
        categories: the texts, exactly as the file writes them; ``"1"`` and ``"01"`` are different.
        undeclared: what becomes of a text that is not declared: "null", "other" or "replacement"; by default null where
            the column is nullable, else the replacement.
        other: the declared category that undeclared texts become; given exactly where undeclared is "other".
        replacement: a declared category.
    """

    kind: Literal["categorical"] = "categorical"
    categories: tuple[Text, ...]
    undeclared: Literal["null", "other", "replacement"] = Field(
        default_factory=lambda known: "null" if known.get("nullable") else "replacement"
    )
    other: Text | None = None
    replacement: Text | None = None

    @property
    def ticks(self) -> int:
        """The number of categories."""
        return len(self.categories)

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.ticks)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {category: tick for tick, category in enumerate(self.categories)}

    @cached_property
    def _replacement_tick(self) -> int | None:
        return None if self.replacement is None else self._position[self.replacement]

    @property
    def _policies(self) -> dict[str, str]:
        return {"undeclared": self.undeclared}

    @property
    def _example(self) -> str:
        return f'"{self.categories[0]}"'

    def _read(self, text: str) -> Reading:
        tick = self._position.get(text)
        return Reading(0, Problem.UNDECLARED) if tick is None else Reading(tick)

    def _settle(self, reading: Reading) -> int:
        if reading.problem is not Problem.UNDECLARED:
            return super()._settle(reading)
        return self._by_policy(self.undeclared) if self.other is None else self._position[self.other]

    def _text(self, tick: int) -> str:
        return self.categories[tick]

    def _value(self, tick: int) -> str:
        return self.categories[tick]

    def _check_kind(self) -> None:
        if not self.categories:
            raise SchemaError("categories must name at least one category", column=self.name)
        check_size(self.ticks + self.nullable, self.ticks, self.name)
        self._check_distinct(self.categories, "category")
        self._check_reachable(self.categories, "category")
        for text in self.null_strings:
            if text in self._position:
                raise SchemaError(
                    f"{text!r} is both a category and a null string; leave it out of one of them "
                    '(null_strings is [""] unless declared)',
                    column=self.name,
                )
        for key, category in (("other", self.other), ("replacement", self.replacement)):
            if category is not None and category not in self._position:
                raise SchemaError(
                    f"{key} = {category!r} is not among the categories; {suggest(category, self.categories[:20])}",
                    column=self.name,
                )
        if (self.undeclared == "other") != (self.other is not None):
            raise SchemaError(
                'undeclared = "other" and other = "…" (a declared category) belong together', column=self.name
            )


class BooleanColumn(Column):
    """A column of two values, false (tick 0) and true (tick 1).

    Args:
        true_values: the texts that mean true; the first one is written.
        false_values: the texts that mean false; the first one is written.
        replacement: true or false.
    """

    kind: Literal["boolean"] = "boolean"
    true_values: tuple[Text, ...] = ("true",)
    false_values: tuple[Text, ...] = ("false",)
    replacement: StrictBool | None = None

    @property
    def ticks(self) -> int:
        """Two."""
        return 2

    @cached_property
    def _layout(self) -> Layout:
        return Layout(2)

    @cached_property
    def _position(self) -> dict[str, int]:
        return dict.fromkeys(self.false_values, 0) | dict.fromkeys(self.true_values, 1)

    @property
    def _replacement_tick(self) -> int | None:
        return None if self.replacement is None else int(self.replacement)

    @property
    def _policies(self) -> dict[str, str]:
        return {}

    @property
    def _example(self) -> str:
        return "false"

    def _read(self, text: str) -> Reading:
        tick = self._position.get(text)
        return UNREADABLE if tick is None else Reading(tick)

    def _spelled(self, value: object) -> Spelled:
        return self._text(int(value)) if isinstance(value, (bool, np.bool_)) else super()._spelled(value)

    def _text(self, tick: int) -> str:
        return (self.false_values[0], self.true_values[0])[tick]

    def _value(self, tick: int) -> bool:
        return bool(tick)

    def _check_kind(self) -> None:
        if not self.true_values or not self.false_values:
            raise SchemaError("true_values and false_values need at least one text each", column=self.name)
        for key in ("true_values", "false_values"):
            self._check_reachable(getattr(self, key), "text")
        self._check_distinct((*self.true_values, *self.false_values), "text")
