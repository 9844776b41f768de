"""The coded synthetic table that mechanisms make: one array of ticks per column, ready to be written by the schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from accounting.errors import ConfigError
from accounting.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticTable:
    """Synthetic rows as ticks: for each modelled column an int64 array of the same length, −1 for null.

    A tick is a position on the column's public value grid (``accounting.schema``): the category's number, or the
    number of steps above the declared minimum.
    """

    schema: Schema
    ticks: Mapping[str, npt.NDArray[np.int64]]

    def __post_init__(self) -> None:
        names = [column.name for column in self.schema.columns]
        if set(self.ticks) != set(names):
            raise ConfigError("a synthetic table has exactly the schema's modelled columns")
        frozen = {}
        for column in self.schema.columns:
            values = np.array(self.ticks[column.name], dtype=np.int64)
            low = -1 if column.nullable else 0
            if values.ndim != 1 or (values.size and (values.min() < low or values.max() >= column.ticks)):
                raise ConfigError(f"column {column.name!r}: a synthetic value lies outside the declared domain")
            values.setflags(write=False)
            frozen[column.name] = values
        if len({values.size for values in frozen.values()}) > 1:
            raise ConfigError("the columns of a synthetic table have equal length")
        object.__setattr__(self, "ticks", MappingProxyType(frozen))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(next(iter(self.ticks.values())).size)

    def cells(self, name: str) -> npt.NDArray[np.int32]:
        """Return a column's cells (positions in its one-way marginal), shape (rows,)."""
        return self.schema.column(name).cell_of_tick(self.ticks[name])
