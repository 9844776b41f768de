"""Categorical and boolean columns: one tick and one cell for each declared value."""

import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, StrictBool, StrictInt, model_validator

from accounting.errors import SchemaError
from accounting.schema.column import UNREADABLE, Column, Problem, Reading
from accounting.schema.declared import BLANKS, Text, suggest
from accounting.schema.layout import Layout, check_size
from accounting.schema.names import canonical_name
from accounting.schema.typed import Spelled, plain_values

MOST_FOUND = 1000
"""The most categories that are found in a column whose categories are measured, unless it declares ``most``."""

_NEEDS_OTHER = (
    'domain = "measured" needs other = "…", the category that stands for every name not found; undeclared = "other" '
    'and unicode = "NFC" go with it by themselves'
)


class CategoricalColumn(Column):
    """A column whose values are the declared texts, in the declared order.

    Args:
        categories: the texts, exactly as the file writes them; ``"1"`` and ``"01"`` are different.
        undeclared: what becomes of a text that is not declared: "null", "other" or "replacement"; by default null where
            the column is nullable, else the replacement.
        other: the declared category that undeclared texts become; given exactly where undeclared is "other".
        replacement: a declared category.
        unicode: "NFC": a text is read as its canonical composed form; without it texts are compared as they are.
        domain: "measured": the categories are not public. Those declared are kept, at least ``other``, which is the
            default of them; more are found by a paid question; ``other`` stands for all that are not found.
        most: the most categories that are found; only where they are measured, by default ``MOST_FOUND``.
    """

    kind: Literal["categorical"] = "categorical"
    domain: Literal["measured"] | None = None
    most: Annotated[StrictInt, Field(ge=1, le=2**16)] | None = None
    unicode: Literal["NFC"] | None = None
    categories: tuple[Text, ...]
    undeclared: Literal["null", "other", "replacement"] = Field(
        default_factory=lambda known: "null" if known.get("nullable") else "replacement"
    )
    other: Text | None = None
    replacement: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _measured_defaults(cls, keys: Any) -> Any:  # noqa: ANN401  # pydantic checks each key afterwards
        if isinstance(keys, dict) and keys.get("domain") == "measured":
            if not isinstance(keys.get("other"), str):
                raise SchemaError(_NEEDS_OTHER, column=str(keys.get("name")))
            defaults = {"categories": [keys["other"]], "undeclared": "other", "unicode": "NFC", "most": MOST_FOUND}
            return {**defaults, **keys}
        return keys

    @property
    def ticks(self) -> int:
        """The number of categories."""
        return len(self.categories)

    @property
    def is_measured(self) -> bool:
        """Whether the categories are not public."""
        return self.domain is not None

    def names_of_text(self, texts: Sequence[str]) -> list[str | None]:
        """Return the canonical name of each text, None for nulls, declared categories and what cannot be a name.

        Total: no text ever raises. The names are private: for the curator only.
        """
        return self._names(texts)

    def names_of_values(self, values: Any) -> list[str | None]:  # noqa: ANN401  # whatever a typed file holds
        """Return the canonical name of each typed value by its text; as :meth:`names_of_text`."""
        return self._names([self._spelled(value) for value in plain_values(values)])

    def with_found(self, names: Sequence[str]) -> Self:
        """Return the column once its categories were measured: the declared ones, then those found."""
        keys = self.to_json()
        known = set(self.categories)
        return type(self)(
            **{key: value for key, value in keys.items() if key not in {"domain", "most"}}
            | {"categories": [*self.categories, *(name for name in names if name not in known)]}
        )

    def _names(self, texts: Sequence[Spelled]) -> list[str | None]:
        known: dict[Spelled, str | None] = {}
        for text in texts:
            if text not in known:
                known[text] = self._name(text)
        return [known[text] for text in texts]

    def _name(self, text: Spelled) -> str | None:
        if not isinstance(text, str):
            return None
        bare = text.strip(BLANKS) if self.strip else text
        name = None if bare in self.null_strings else canonical_name(bare)
        return None if name in self._position or name in self.null_strings else name

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
        tick = self._position.get(unicodedata.normalize("NFC", text) if self.unicode else text)
        if tick is None and self.is_measured and self.other is not None and self._name(text) is not None:
            return Reading(self._position[self.other])
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
        self._check_measured()
        if (self.undeclared == "other") != (self.other is not None):
            raise SchemaError(
                'undeclared = "other" and other = "…" (a declared category) belong together', column=self.name
            )

    def _check_measured(self) -> None:
        if self.is_measured and (self.undeclared != "other" or self.unicode is None or self.most is None):
            raise SchemaError(_NEEDS_OTHER, column=self.name)
        if self.most is not None and not self.is_measured:
            raise SchemaError('most belongs to domain = "measured"', column=self.name)
        for text in (*self.categories, *self.null_strings) if self.unicode else ():
            if text != unicodedata.normalize("NFC", text):
                raise SchemaError(f'{text!r} is not in the form that unicode = "NFC" reads', column=self.name)


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
