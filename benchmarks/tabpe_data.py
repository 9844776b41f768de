"""The tables on which Tab-PE is measured: a declared schema, private rows, and further rows for testing a classifier.

Bounds and categories are those that the tables' publishers document, widened to round numbers where a page gives none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.schema import Column, Schema
from benchmarks.adult import CATEGORIES, DATA

Ticks = Mapping[str, npt.NDArray[np.int64]]

_RELATIONSHIPS = "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried"
_COUNTRIES = (
    "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, Outlying-US(Guam-USVI-etc), India, Japan, Greece, "
    "South, China, Cuba, Iran, Honduras, Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, "
    "France, Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, Nicaragua, Scotland, "
    "Thailand, Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong, Holand-Netherlands, ?"
)
_ADULT_NUMBERS: dict[str, dict[str, Any]] = {
    "age": {"low": 17, "high": 90},
    "fnlwgt": {"low": 0, "high": 1_500_000, "bins": 100},
    "education-num": {"low": 1, "high": 16},
    "capital-gain": {
        "low": 0,
        "high": 99_999,
        "edges": [1, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 10_000, 15_000, 20_000, 50_000],
        "points": [0],
    },
    "capital-loss": {"low": 0, "high": 4500, "edges": [1, *range(1000, 3000, 100), 3500], "points": [0]},
    "hours-per-week": {"low": 1, "high": 99},
}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A table with a class to predict.

    Args:
        schema: the public description.
        label: the class's column.
        private: the private rows, as ticks.
        test: rows for testing, as ticks.
    """

    schema: Schema
    label: str
    private: Ticks
    test: Ticks

    @property
    def rows(self) -> int:
        """The number of private rows."""
        return int(self.private[self.label].size)


def number(name: str, low: float, high: float, *, decimals: int | None = None, **keys: object) -> dict[str, object]:
    """Declare an integer column, or with ``decimals`` a real one."""
    kind: dict[str, object] = {"kind": "integer"} if decimals is None else {"kind": "real", "decimals": decimals}
    bounds = (low, high) if decimals is None else (str(low), str(high))
    return {
        "name": name,
        **kind,
        "min": bounds[0],
        "max": bounds[1],
        "nullable": False,
        "replacement": bounds[0],
        **keys,
    }


def classes(name: str, labels: list[str]) -> dict[str, object]:
    """Declare a categorical column."""
    return {"name": name, "kind": "categorical", "categories": labels, "nullable": False, "replacement": labels[0]}


def adult(rows: int = 20_000) -> Problem:
    """Raw Adult, 15 columns: private rows by ``sample(rows, random_state=42)``, 8,000 test rows of the rest.

    Beyond 24,000 rows the private rows are drawn again and again from the file: for growth only.
    """
    import pandas as pd

    frame = pd.read_csv(DATA / "adult.csv", skipinitialspace=True)
    frame.columns = frame.columns.str.strip()
    frame = frame.rename(columns={"Salary": "income"})
    named = {**CATEGORIES, "relationship": _RELATIONSHIPS, "native-country": _COUNTRIES}
    declared = [
        number(name, **_ADULT_NUMBERS[name]) if name in _ADULT_NUMBERS else classes(name, named[name].split(", "))
        for name in frame.columns
    ]
    schema = Schema(table={"name": "adult"}, columns=declared)
    again = rows > 24_000
    private = frame.sample(rows, random_state=42, replace=again)
    test = frame if again else frame.drop(private.index).sample(8_000, random_state=7)
    return Problem(schema, "income", ticks_of(schema, private), ticks_of(schema, test))


def artificial_characters() -> Problem:
    """OpenML artificial-characters, ten classes."""
    declared = [
        number("V1", 0, 7),
        *(number(f"V{place}", -5, 65) for place in (2, 3, 4, 5)),
        *(number(f"V{place}", 0, 80, decimals=2, bins=400) for place in (6, 7)),
        classes("Class", [str(label) for label in range(1, 11)]),
    ]
    return _from_files("artificial_characters_train", "artificial_characters_test", declared)


def person_activity() -> Problem:
    """Localization data for person activity, eleven classes: private part a, test part b."""
    declared = [
        number("V1", 1, 5),
        number("V2", 1, 4),
        *(number(f"V{place}", 0, 165_000, bins=500) for place in (3, 4, 5, 6, 7)),
        classes("Class", [str(label) for label in range(1, 12)]),
    ]
    return _from_files("person_activity_a", "person_activity_b", declared)


def breast_cancer() -> Problem:
    """Scikit-learn's breast cancer data, by the demonstration's schema: 398 private rows, 171 test rows."""
    from pathlib import Path

    from sklearn.datasets import load_breast_cancer

    schema = Schema.from_toml(Path(__file__).parent.parent / "demo" / "breast_cancer" / "schema.toml")
    data = load_breast_cancer()
    order = np.random.default_rng(42).permutation(len(data.target))
    ticks = {"diagnosis": np.asarray(data.target, dtype=np.int64)}
    for place, column in enumerate(schema.columns[1:]):
        ticks[column.name] = column.ticks_of_text([f"{value:.10g}" for value in data.data[:, place]])
    return Problem(schema, "diagnosis", _rows(ticks, order[:398]), _rows(ticks, order[398:]))


def xor(columns: int, rows: int = 35_000) -> Problem:
    """The parity of the signs of uniform numbers in [−10, 10]: no marginal of fewer columns says anything."""
    declared = [number(f"x{place}", -10, 10, decimals=3, bins=200) for place in range(columns)]
    schema = Schema(table={"name": f"xor{columns}"}, columns=[*declared, classes("y", ["0", "1"])])
    rng = np.random.default_rng(columns)
    ticks = {f"x{place}": rng.integers(0, 20_001, rows + 15_000) for place in range(columns)}
    ticks["y"] = sum((x > 10_000).astype(np.int64) for x in ticks.values()) % 2  # type: ignore[assignment]
    return Problem(schema, "y", _rows(ticks, np.arange(rows)), _rows(ticks, np.arange(rows, rows + 15_000)))


def structural(kind: str, rows: int = 20_000) -> Problem:
    """A structural causal model of eight numbers and a class of four: by a tree, a network, or random features."""
    rng = np.random.default_rng({"tree": 1, "network": 2, "fourier": 3}[kind])
    size = rows + 8_000
    names = [f"x{place}" for place in range(8)]
    values = np.empty((size, 8))
    for place in range(8):
        noise = rng.normal(size=size)
        values[:, place] = noise if place < 3 else _mechanism(kind, values[:, :place], rng) + 0.5 * noise
        values[:, place] /= values[:, place].std()
    score = _mechanism(kind, values, rng) + 0.2 * rng.normal(size=size)
    label = np.searchsorted(np.quantile(score, [0.25, 0.5, 0.75]), score)
    declared = [number(name, -5, 5, decimals=2, bins=200) for name in names]
    schema = Schema(table={"name": f"scm-{kind}"}, columns=[*declared, classes("y", list("0123"))])
    ticks = {
        name: np.clip(np.rint(values[:, place] * 100 + 500), 0, 1000).astype(np.int64)
        for place, name in enumerate(names)
    }
    ticks["y"] = label.astype(np.int64)
    return Problem(schema, "y", _rows(ticks, np.arange(rows)), _rows(ticks, np.arange(rows, size)))


PROBLEMS: Mapping[str, Callable[[], Problem]] = {
    "adult": adult,
    "artificial-characters": artificial_characters,
    "person-activity": person_activity,
    "breast-cancer": breast_cancer,
    **{f"xor{k}": partial(xor, k) for k in range(1, 6)},
    **{f"scm-{kind}": partial(structural, kind) for kind in ("tree", "network", "fourier")},
}


def ticks_of(schema: Schema, frame: Any) -> dict[str, npt.NDArray[np.int64]]:  # noqa: ANN401  # a pandas frame
    """Cast a frame by the schema."""
    return {column.name: _cast(column, frame[column.name]) for column in schema.columns}


def _cast(column: Column, values: Any) -> npt.NDArray[np.int64]:  # noqa: ANN401  # a pandas series
    distinct, position = np.unique(values.astype(str).to_numpy(), return_inverse=True)
    return column.ticks_of_text(distinct)[position]


def _rows(ticks: Ticks, chosen: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.int64]]:
    return {name: values[chosen] for name, values in ticks.items()}


def _from_files(private: str, test: str, declared: list[dict[str, object]]) -> Problem:
    import pandas as pd

    schema = Schema(table={"name": private.replace("_", "-")}, columns=declared)
    frames = [pd.read_csv(DATA / f"{name}.csv") for name in (private, test)]
    return Problem(schema, "Class", *(ticks_of(schema, frame) for frame in frames))


def _mechanism(kind: str, parents: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return a random function of the parents, of standard deviation 1."""
    size, width = parents.shape
    if kind == "tree":
        total = np.zeros(size)
        for _ in range(3):
            chosen = rng.integers(0, width, 3)
            cuts = rng.normal(scale=0.5, size=3)
            leaf = ((parents[:, chosen] > cuts) * [1, 2, 4]).sum(axis=1).astype(int)
            total += rng.normal(size=8)[leaf]
    elif kind == "network":
        hidden = np.tanh(parents @ rng.normal(size=(width, 16)) + rng.normal(size=16))
        total = hidden @ rng.normal(size=16)
    else:
        total = np.cos(parents @ rng.normal(size=(width, 8)) + rng.uniform(0, 2 * np.pi, 8)) @ rng.normal(size=8)
    return total / max(float(total.std()), 1e-9)
