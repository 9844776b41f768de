"""What merging rare categories does to a column, to its pairs and to all pairs: ``python -m benchmarks.categories``.

Each public table is released with rare categories merged, and with every category modelled, for the same budget.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from accounting.noise import OsEntropy
from accounting.planted import planted_table
from accounting.schema import Column, Schema
from accounting.unit import RowUnit
from audits.utility.marginals import Compared
from benchmarks.adult import DATA, Ticks, budget
from benchmarks.report import Report, arguments, progress
from mechanisms.binning import is_coded
from mechanisms.registry import config_from_table

SCHEMAS = Path(__file__).parents[1] / "tests" / "schemas"
AIM: Final = {"degree": 2, "max_rounds": 32, "max_model_size_mb": 8}
CASES: Final[tuple[tuple[str, str, str, dict[str, Any], str], ...]] = (
    ("nist_ma2019", "INDP", "aim", AIM, "1"),
    ("nist_ma2019", "INDP", "mst", {}, "1"),
    ("nist_ma2019", "INDP", "mst", {}, "5"),
    ("adult", "native-country", "aim", AIM, "1"),
    ("adult", "native-country", "mst", {}, "1"),
)


def main() -> None:
    """Release each case both ways; the bars: merging makes AIM no worse on the column and on all pairs."""
    asked = arguments(__doc__ or "")
    report = Report("categories")
    for name, column, kind, options, epsilon in CASES[: 1 if asked.quick else None]:
        schema, ticks = load(name)
        found = {}
        for merged in (False, True):
            with merging(merged):
                runs = [
                    release(schema, ticks, column, (kind, options), epsilon) for _ in range(1 if asked.quick else 3)
                ]
            found[merged] = np.mean(runs, axis=0)
            label = f"{name} {column} {kind} ε = {epsilon} {'merged' if merged else 'whole'}"
            report.figures[label] = dict(
                zip(("cells", "column", "its pairs", "all pairs"), map(float, found[merged]), strict=True)
            )
            progress(f"{label}: " + " ".join(f"{value:.4f}" for value in found[merged]))
        if kind == "aim":
            ratio = found[True] / found[False]
            report.bar(f"{column}: column error, merged / whole", float(ratio[1]), "<=", 1.0)
            report.bar(f"{column}: error of all pairs, merged / whole", float(ratio[3]), "<=", 1.0)
    report.finish(asked.out)


def load(name: str) -> tuple[Schema, Ticks]:
    """Load a public table by its schema."""
    import pandas as pd

    schema = Schema.from_toml(SCHEMAS / f"{name}.toml")
    frame = pd.read_csv(DATA / f"{name}.csv", dtype=str, keep_default_na=False, skipinitialspace=True)
    frame.columns = frame.columns.str.strip()
    return schema, {column.name: column.ticks_of_text(frame[column.name].to_numpy()) for column in schema.columns}


@contextmanager
def merging(merged: bool) -> Iterator[None]:  # noqa: FBT001 - the one thing it switches
    """Model categories merged, or as they were modelled before there was merging."""

    def ordered(column: Column, bins: int) -> bool:
        return column.kind != "categorical" and is_coded(column, bins)

    chosen = is_coded if merged else ordered
    with patch("mechanisms.binning.is_coded", chosen), patch("mechanisms.coding.is_coded", chosen):
        yield


def release(
    schema: Schema, ticks: Ticks, column: str, mechanism: tuple[str, dict[str, Any]], epsilon: str
) -> list[float]:
    """Return the column's cells in the model, its total variation, that of its pairs, and that of all pairs."""
    cap = budget(epsilon)
    calibrated = config_from_table(*mechanism).calibrate(cap, RowUnit(), schema)
    made = calibrated.run(planted_table(schema, ticks, RowUnit(), cap, entropy=OsEntropy()), np.random.default_rng())
    compared = Compared(schema, ticks, made.synthetic.ticks)
    pairs = list(combinations([known.name for known in schema.columns], 2))
    assert made.fitted is not None
    return [
        made.fitted.hybrid.cells(column),
        float(compared.distances((column,))[0]),
        float(compared.mean([pair for pair in pairs if column in pair])[0]),
        float(compared.mean(pairs)[0]),
    ]


if __name__ == "__main__":
    main()
