"""Ordered columns: bounds, a grid of equal steps between them, cells by edges, bins and points; integers and reals."""

from abc import abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, StrictInt

from accounting.errors import SchemaError
from accounting.schema.column import NULL, NULL_READING, UNREADABLE, Column, Problem, Reading
from accounting.schema.decimals import (
    MAX_SCALED,
    DecimalNumber,
    WholeNumber,
    plain_text,
    read_number,
    scale,
    scaled_number,
    write_scaled,
)
from accounting.schema.layout import Ints, Layout, check_size, layout_of

MOST_MEASURED_BINS = 1024
"""The most bins of a column whose bounds are measured."""


class OrderedColumn(Column):
    """A column of values between two declared bounds, both inclusive; each kind gives the values its own type.

    Args:
        min, max: the bounds; public and never taken from the data.
        edges: the values after min at which a new cell begins, increasing; min itself is left out.
        bins: instead of edges, a number of equal bins; without either, each value has a cell of its own.
        points: values with a cell of their own, cut out of the cells around them.
        out_of_range: what becomes of a value outside the bounds: "clip" (the nearer bound), "null" or "replacement".
        replacement: a value within the bounds.
        domain: "measured": min and max are wide public limits, within which the useful bounds and the edges of ``bins``
            cells of about equal mass are found by paid questions.
    """

    domain: Literal["measured"] | None = None
    min: Any
    max: Any
    edges: tuple[Any, ...] | None = None
    bins: Annotated[StrictInt, Field(ge=1)] | None = None
    points: tuple[Any, ...] = ()
    out_of_range: Literal["clip", "null", "replacement"] = "clip"
    replacement: Any = None

    @abstractmethod
    def _steps(self, value: Any) -> int:  # noqa: ANN401  # each kind has its own type
        """Return the number of the step that a declared value lies in, counted from any fixed origin.

        Raises:
            SchemaError: the value lies on no step.
        """

    @abstractmethod
    def _write(self, value: Any) -> str:  # noqa: ANN401  # each kind has its own type
        """Write a declared value for a message."""

    @cached_property
    def _origin(self) -> int:
        return self._steps(self.min)

    @property
    def first_step(self) -> int:
        """The number of min's step, comparable between columns of one kind and one length of step."""
        return self._origin

    @cached_property
    def ticks(self) -> int:
        """The number of steps from min to max, both included."""
        return self._last_step() - self._origin + 1

    @property
    def is_measured(self) -> bool:
        """Whether the useful bounds and edges are not public."""
        return self.domain is not None

    def narrowed(self, low: int, high: int, edges: Sequence[int]) -> Self:
        """Return the column once its bounds and edges were measured; a replacement outside moves to the nearer bound.

        Args:
            low: the tick of the new lower bound.
            high: the tick of the new upper bound.
            edges: the ticks after ``low``, up to ``high``, where new cells begin, increasing.
        """
        keys: dict[str, Any] = {
            **{key: value for key, value in self.to_json().items() if key not in {"domain", "bins"}},
            "min": self._declarable(low),
            "max": self._declarable(high),
            "edges": [self._declarable(edge) for edge in edges],
        }
        if self._replacement_tick is not None:
            keys["replacement"] = self._declarable(min(max(self._replacement_tick, low), high))
        return type(self)(**keys)

    def ticks_from(self, wide: "OrderedColumn", ticks: Ints) -> Ints:
        """Return where the values of a column of the same scale lie in this one, by the declared policies.

        Args:
            wide: the column that the ticks are of, nullable only where this one is.
            ticks: int64.
        """
        moved: Ints = np.where(ticks == NULL, NULL, ticks + (wide.first_step - self.first_step))
        below, above = (moved < 0) & (ticks != NULL), moved >= self.ticks
        moved[below] = self._settle(Reading(0, Problem.BELOW))
        moved[above] = self._settle(Reading(self.ticks - 1, Problem.ABOVE))
        return moved

    def _declarable(self, tick: int) -> Any:  # noqa: ANN401  # each kind has its own type
        """Return the value of a tick as a schema declares it."""
        return self._value(tick)

    @cached_property
    def _layout(self) -> Layout:
        edges = None if self.edges is None else [self._tick(edge) for edge in self.edges]
        return layout_of(self.ticks, edges, self.bins, [self._tick(point) for point in self.points])

    @cached_property
    def _replacement_tick(self) -> int | None:
        return None if self.replacement is None else self._tick(self.replacement)

    @property
    def _policies(self) -> dict[str, str]:
        return {"out_of_range": self.out_of_range}

    def _last_step(self) -> int:
        return self._steps(self.max)

    def _tick(self, value: Any) -> int:  # noqa: ANN401  # each kind has its own type
        return self._steps(value) - self._origin

    def _place(self, step: int) -> Reading:
        tick = step - self._origin
        if tick < 0:
            return Reading(0, Problem.BELOW)
        return Reading(tick) if tick < self.ticks else Reading(self.ticks - 1, Problem.ABOVE)

    def _settle(self, reading: Reading) -> int:
        if reading.problem not in (Problem.BELOW, Problem.ABOVE):
            return super()._settle(reading)
        return reading.tick if self.out_of_range == "clip" else self._by_policy(self.out_of_range)

    def _check_kind(self) -> None:
        if self.ticks < 1:
            raise SchemaError(
                f"min = {self._write(self.min)} lies above max = {self._write(self.max)}", column=self.name
            )
        if self.edges is not None and self.bins is not None:
            raise SchemaError("edges and bins exclude each other; leave one of them out", column=self.name)
        if self.bins is not None and self.bins > self.ticks:
            raise SchemaError(f"bins = {self.bins} is more than the {self.ticks} declared values", column=self.name)
        if self.is_measured and (self.bins is None or self.bins > MOST_MEASURED_BINS or self.points):
            raise SchemaError(
                f'domain = "measured" needs bins = 1 to {MOST_MEASURED_BINS}, the number of cells whose edges are '
                "asked for, and no points",
                column=self.name,
            )
        edges = self._ticks_within("edges", self.edges or ())
        if edges and edges[0] == 0:
            raise SchemaError(
                "each of the edges begins a new cell after min, so min is left out "
                "(and so is max, unless max is to have a cell of its own)",
                column=self.name,
            )
        if any(later <= earlier for earlier, later in pairwise(edges)):
            raise SchemaError("edges must increase and begin different cells", column=self.name)
        points = self._ticks_within("points", self.points)
        if len(set(points)) < len(points):
            raise SchemaError("points must be different values", column=self.name)
        if self.replacement is not None:
            self._ticks_within("replacement", (self.replacement,))
        if self.points and self.edges is None and self.bins is None:
            raise SchemaError("points need edges or bins; without, each value has its own cell", column=self.name)
        check_size(self._most_cells(), self.ticks, self.name)

    def _most_cells(self) -> int:
        """Count the cells before they are laid out: exactly, or with points at most."""
        cells = self.ticks if self.edges is None else len(self.edges) + 1
        return (self.bins or cells) + 2 * len(self.points) + self.nullable

    def _ticks_within(self, key: str, values: tuple[Any, ...]) -> list[int]:
        ticks = [self._tick(value) for value in values]
        for value, tick in zip(values, ticks, strict=True):
            if not 0 <= tick < self.ticks:
                raise SchemaError(
                    f"{key}: {self._write(value)} lies outside the bounds "
                    f"{self._write(self.min)} to {self._write(self.max)}",
                    column=self.name,
                )
        return ticks


class _NumberColumn(OrderedColumn):
    """What integer and real columns share: a value is a whole number of units 10^-decimals."""

    @property
    @abstractmethod
    def _decimals(self) -> int: ...

    @property
    def _example(self) -> str:
        return self._write(self.min)

    def _text(self, tick: int) -> str:
        return write_scaled(self._origin + tick, self._decimals)

    def _is_readable(self, number: Decimal) -> bool:  # noqa: ARG002  # a real column reads every finite number
        return True

    def _read(self, text: str) -> Reading:
        short = scaled_number(text, self._decimals)
        if short is not None:
            return self._place(short)
        number = read_number(text)
        if number is None or (number.is_finite() and not self._is_readable(number)):
            return UNREADABLE
        if number.is_nan():
            return NULL_READING
        scaled, rounded = scale(number, self._decimals, self._origin, self._origin + self.ticks - 1)
        place = self._place(scaled)
        return Reading(place.tick, Problem.ROUNDED) if rounded and place.problem is None else place

    def _in_range(self, scaled: int) -> int:
        if abs(scaled) >= MAX_SCALED:
            raise SchemaError("a bound reaches 2^62 units of its last decimal, the limit", column=self.name)
        return scaled


class IntegerColumn(_NumberColumn):
    """A column of whole numbers from min to max; one cell a value unless edges or bins are declared.

    ``486.0`` and ``1e3`` read as whole numbers and ``007`` as 7; ``3.5`` is not readable. NaN reads as null; ±inf lie
    out of range.
    """

    kind: Literal["integer"] = "integer"
    min: WholeNumber
    max: WholeNumber
    edges: tuple[WholeNumber, ...] | None = None
    points: tuple[WholeNumber, ...] = ()
    replacement: WholeNumber | None = None

    @property
    def _decimals(self) -> int:
        return 0

    def _steps(self, value: int) -> int:
        return self._in_range(value)

    def _write(self, value: int) -> str:
        return str(value)

    def _value(self, tick: int) -> int:
        return self._origin + tick

    def _is_readable(self, number: Decimal) -> bool:
        return number == number.to_integral_value()


class RealColumn(_NumberColumn):
    """A column of decimal numbers from min to max with a declared number of decimals, to which texts are rounded.

    Rounding is half to even and comes before the bounds are checked. NaN reads as null; ±inf lie out of range.

    Args:
        decimals: decimals of every value, from 0 to 9; written in full.
        edges, bins: exactly one of them is required.
    """

    kind: Literal["real"] = "real"
    decimals: Annotated[StrictInt, Field(ge=0, le=9)]
    min: DecimalNumber
    max: DecimalNumber
    edges: tuple[DecimalNumber, ...] | None = None
    points: tuple[DecimalNumber, ...] = ()
    replacement: DecimalNumber | None = None

    @property
    def _decimals(self) -> int:
        return self.decimals

    def _steps(self, value: Decimal) -> int:
        scaled = Fraction(value) * 10**self.decimals
        if scaled.denominator != 1:
            raise SchemaError(
                f"{self._write(value)} has more decimals than decimals = {self.decimals}", column=self.name
            )
        return self._in_range(scaled.numerator)

    def _write(self, value: Decimal) -> str:
        return plain_text(value)

    def _value(self, tick: int) -> Decimal:
        return Decimal(self._text(tick))

    def _check_kind(self) -> None:
        if self.edges is None and self.bins is None:
            raise SchemaError(
                "a real column needs cells; add the line bins = 20 (equal bins) or edges = [ … ]", column=self.name
            )
        super()._check_kind()
