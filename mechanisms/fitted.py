"""A fitted model with what decodes it: saved, loaded, and sampled again at no further cost, also under conditions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.canonical import canonical_bytes
from accounting.errors import ConfigError
from accounting.queries import Coding
from accounting.schema import NULL, Schema
from accounting.schema.declared import suggest
from accounting.schema.ordered import OrderedColumn
from mechanisms.coding import HybridCoding
from mechanisms.pgm import Model
from mechanisms.rows import OUTPUT_CELLS
from mechanisms.table import SyntheticTable

MODEL_NAME = "model.npz"
CODING_NAME = "model-coding.json"
_FORMAT = 1
_BLOCK_ROWS = 2**18
_PROBES = 2**16


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition on one column of synthetic rows: values, or a range.

    Args:
        name: the column.
        ticks: the values that meet it, −1 for null; None for a range.
        low, high: the range of ticks, both inclusive; null is in no range.
    """

    name: str
    ticks: frozenset[int] | None = None
    low: int = 0
    high: int = 2**53

    def met(self, ticks: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Say which ticks meet the condition."""
        if self.ticks is None:
            return np.asarray((ticks >= self.low) & (ticks <= self.high), dtype=np.bool_)
        return np.isin(ticks, sorted(self.ticks))


def read_condition(text: str, schema: Schema) -> RowCondition:
    """Read ``NAME=VALUE``, ``NAME=VALUE|VALUE``, ``NAME>=VALUE`` or ``NAME<=VALUE``.

    Values are written as in the synthetic table; a null as the column's first null string.

    Raises:
        ConfigError: another form, an unknown column, or a value that is not declared.
    """
    name, sign, value = _parts(text, [column.name for column in schema.columns])
    column = schema.column(name)

    def tick(item: str) -> int:
        found = int(column.ticks_of_text([item])[0])
        if column.problems_of_text([item]):
            raise ConfigError(f"{item!r} is no declared value of column {name!r}")
        return found

    if sign == "=":
        return RowCondition(name, frozenset(tick(item) for item in value.split("|")))
    if not isinstance(column, OrderedColumn) or tick(value) == NULL:
        raise ConfigError(f"column {name!r}: {sign} needs a number or a date in a column that has an order")
    return RowCondition(name, low=tick(value)) if sign == ">=" else RowCondition(name, high=tick(value))


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """A fitted model and its decoder; post-processing of paid answers, so it is public and may be used without end.

    Args:
        model: the distribution over bins.
        hybrid: the bins, and the noisy fine marginals that decode them.
    """

    model: Model
    hybrid: HybridCoding

    def sample(self, rows: int, rng: np.random.Generator, where: Sequence[RowCondition] = ()) -> SyntheticTable:
        """Draw rows, all of which meet the conditions and the schema's constraints.

        Args:
            rows: how many, exactly; 0 or more.
            rng: public randomness.
            where: conditions that each row meets.

        Raises:
            ConfigError: more values than fit in memory, or the model gives the conditions too small a share.
        """
        columns = len(self.hybrid.schema.columns)
        if isinstance(rows, bool) or not 0 <= rows <= OUTPUT_CELLS // columns:
            raise ConfigError(f"the number of rows lies between 0 and {OUTPUT_CELLS // columns}")
        if not where:
            return self._draw(rows, rng)
        return self._draw_where(rows, rng, where, most=OUTPUT_CELLS // columns)

    def save(self, folder: Path) -> None:
        """Write the model and its decoder as two files: plain arrays and JSON, nothing executable."""
        self.model.save(folder / MODEL_NAME)
        document: dict[str, Any] = {
            "format": _FORMAT,
            "schema": self.hybrid.schema.digest,
            "bins": {name: numbers.tolist() for name, numbers in self.hybrid.coding.bins.items()},
            "fine": {name: counts.tolist() for name, counts in self.hybrid.fine.items()},
            "total": repr(float(self.hybrid.total)),
            "sigma": repr(float(self.hybrid.sigma)),
        }
        (folder / CODING_NAME).write_bytes(canonical_bytes(document))

    @staticmethod
    def load(folder: Path, schema: Schema) -> "FittedModel":
        """Read a saved model.

        Raises:
            ConfigError: the folder holds no model of a known format, or one of another schema.
        """
        if not (folder / MODEL_NAME).is_file() or not (folder / CODING_NAME).is_file():
            raise ConfigError(f"{folder} holds no model; a release keeps one with model = true in [output]")
        try:
            document = json.loads((folder / CODING_NAME).read_bytes())
            if (document["format"], document["schema"]) != (_FORMAT, schema.digest):
                raise ConfigError("the saved model has another format or another schema")
            hybrid = HybridCoding(
                schema,
                Coding({name: np.array(numbers, dtype=np.int32) for name, numbers in document["bins"].items()}),
                {name: np.array(counts, dtype=np.int64) for name, counts in document["fine"].items()},
                float(document["total"]),
                float(document["sigma"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ConfigError(f"{CODING_NAME} is not the decoder of a model") from None
        model = Model.load(folder / MODEL_NAME)
        sizes = {column.name: hybrid.cells(column.name) for column in schema.columns}
        if dict(zip(model.domain.attributes, model.domain.sizes, strict=True)) != sizes:
            raise ConfigError("the saved model and its decoder do not belong together")
        return FittedModel(model, hybrid)

    def _draw(self, rows: int, rng: np.random.Generator) -> SyntheticTable:
        return self.hybrid.decode(self.model.sample(rows, rng), rng)

    def _draw_where(
        self, rows: int, rng: np.random.Generator, where: Sequence[RowCondition], *, most: int
    ) -> SyntheticTable:
        """Draw blocks and keep the rows that meet the conditions, until there are enough."""
        schema = self.hybrid.schema
        kept: list[Mapping[str, npt.NDArray[np.int64]]] = []
        found, drawn = 0, 0
        while found < rows:
            if drawn >= _PROBES and found < rows * drawn / most:
                raise ConfigError(
                    f"{found} of {drawn} rows that the model drew meet the conditions; "
                    "ask for fewer rows, or for weaker conditions"
                )
            block = self._draw(min(_PROBES if not drawn else _BLOCK_ROWS, most), rng)
            meets = np.ones(block.rows, dtype=np.bool_)
            for condition in where:
                meets &= condition.met(block.ticks[condition.name])
            kept.append({name: ticks[meets] for name, ticks in block.ticks.items()})
            found += int(meets.sum())
            drawn += block.rows
        empty = np.zeros(0, dtype=np.int64)
        return SyntheticTable(
            schema,
            {
                column.name: np.concatenate([empty, *(block[column.name] for block in kept)])[:rows]
                for column in schema.columns
            },
        )


def _parts(text: str, names: Sequence[str]) -> tuple[str, str, str]:
    """Split a condition at the sign after the longest column name that it begins with."""
    for name in sorted(names, key=len, reverse=True):
        rest = text[len(name) :]
        if text.startswith(name):
            for sign in (">=", "<=", "="):
                if rest.startswith(sign):
                    return name, sign, rest[len(sign) :]
    given = text.partition("=")[0].rstrip("<>")
    raise ConfigError(
        f"a condition is NAME=VALUE, NAME>=VALUE or NAME<=VALUE and not {text!r}; {suggest(given, names)}"
    )
