"""What a figure is: a number, perhaps with an interval, or a sentence that says why there is none."""

import math
from dataclasses import dataclass
from typing import TypeAlias

from accounting.errors import ConfigError


@dataclass(frozen=True, slots=True)
class NotComputable:
    """A figure that does not exist, and why; the field's name is what documents show."""

    not_computable_because: str

    def __str__(self) -> str:
        return f"not computable, because {self.not_computable_because}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A finite number; ``low`` and ``high`` bound it at 95 % where it was estimated from a sample."""

    value: float
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise ConfigError("a figure is finite; what does not exist is NotComputable")


Result: TypeAlias = Figure | NotComputable
"""Never NaN, never an infinity, never a 0 that stands for nothing."""
