"""The Adult data in two trials, their schemas as UCI documents them, and the figures by which a release is scored."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from accounting.budget import Cap, EpsilonDelta, Law
from accounting.convert import cap_for
from accounting.schema import Schema

if TYPE_CHECKING:
    from audits.results import Result

DATA = Path(os.environ.get("DPRELEASE_DATA", "../shared/data"))
DELTA = Fraction(1, 10**5)

CATEGORIES = {
    "workclass": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, "
    "Never-worked, ?",
    "education": "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, 12th, "
    "Masters, 1st-4th, 10th, Doctorate, 5th-6th, Preschool",
    "marital-status": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, "
    "Married-AF-spouse",
    "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, "
    "Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, "
    "Protective-serv, Armed-Forces, ?",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "sex": "Female, Male",
    "income": "<=50K, >50K",
}
NUMBERS = {"age": (17, 90), "hours-per-week": (1, 99)}
ADULT_9 = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "hours-per-week", "income")

Ticks = dict[str, npt.NDArray[np.int64]]
Codes = Mapping[str, npt.NDArray[np.integer]]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A private table with its schema.

    Args:
        schema: the public description.
        ticks: the private rows.
        test: further rows for testing a classifier, or None.
    """

    schema: Schema
    ticks: Ticks
    test: Ticks | None = None


def present() -> bool:
    """Say whether the data files are there."""
    return (DATA / "adult.csv").is_file() and (DATA / "adult_discretized.csv").is_file()


def budget(epsilon: float | str, law: Law = Law.ZCDP) -> Cap:
    """Return the cap of an ε at δ = 1e-5."""
    return Cap(cap_for(EpsilonDelta(Fraction(str(epsilon)), DELTA), law))


def adult_9() -> Trial:
    """Load the Adult-9 trial: 20,000 private and 8,000 test rows of nine columns."""
    import pandas as pd

    frame = pd.read_csv(DATA / "adult.csv", skipinitialspace=True)
    frame.columns = frame.columns.str.strip()
    frame = frame.rename(columns={"Salary": "income"})[list(ADULT_9)]
    private = frame.sample(20_000, random_state=42)
    test = frame.drop(private.index).sample(8_000, random_state=7)
    schema = Schema(table={"name": "adult-9"}, columns=[_declared(name) for name in ADULT_9])
    ticks, tested = (
        {column.name: column.ticks_of_text(rows[column.name].astype(str).to_numpy()) for column in schema.columns}
        for rows in (private, test)
    )
    return Trial(schema, ticks, tested)


def adult_14() -> Trial:
    """Load the 14-column Adult as the papers on marginal mechanisms use it: 48,842 rows of codes."""
    import pandas as pd

    sizes = json.loads((DATA / "adult_discretized_domain.json").read_text(encoding="utf-8"))
    frame = pd.read_csv(DATA / "adult_discretized.csv")[list(sizes)]
    columns = []
    for name, size in sizes.items():
        numeric = name in {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
        kind = {"kind": "integer", "min": 0, "max": size - 1, "replacement": 0}
        if not numeric:
            kind = {"kind": "categorical", "categories": [str(code) for code in range(size)], "replacement": "0"}
        columns.append({"name": name, "nullable": False, **kind})
    schema = Schema(table={"name": "adult-14"}, columns=columns)
    return Trial(schema, {name: frame[name].to_numpy(dtype=np.int64) for name in sizes})


def scores(trial: Trial, synthetic: Ticks) -> dict[str, float]:
    """Score a release of Adult-9: total variation with the numbers in 20 equal bins, their correlation, TSTR AUC."""
    from audits.utility.learning import train_and_test
    from audits.utility.marginals import Compared, correlation_error

    assert trial.test is not None
    tables = [dict(trial.ticks), dict(synthetic)]
    for name in NUMBERS:
        edges = np.linspace(trial.ticks[name].min(), trial.ticks[name].max(), 21)[1:-1]
        for table in tables:
            table[name] = np.digitize(table[name], edges)
    binned = [
        {**_declared(name), "min": 0, "max": 19, "replacement": 0} if name in NUMBERS else _declared(name)
        for name in ADULT_9
    ]
    compared = Compared(Schema(table={"name": "adult-9-binned"}, columns=binned), *tables)
    learnt = train_and_test(trial.schema, synthetic, trial.test, "income", learner="one-hot", seed=42)
    return {
        **{f"tvd {k}-way": float(compared.mean(list(combinations(ADULT_9, k)))[0]) for k in (1, 2, 3)},
        "tvd marital-status × income": float(compared.distances(("marital-status", "income"))[0]),
        "correlation error": figure(correlation_error(trial.schema, trial.ticks, synthetic), 2.0),
        "auc": figure(learnt.auc, 0.5),
    }


def figure(result: "Result", otherwise: float) -> float:
    """Return a figure's value, or the worst one where it cannot be computed."""
    return getattr(result, "value", otherwise)


def table(rows: Codes, sizes: Mapping[str, int], clique: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """Count rows in a clique's contingency table."""
    shape = tuple(sizes[name] for name in clique)
    index = np.ravel_multi_index([rows[name] for name in clique], shape)
    return np.bincount(index, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def _declared(name: str) -> dict[str, object]:
    if name in NUMBERS:
        low, high = NUMBERS[name]
        return {"name": name, "kind": "integer", "min": low, "max": high, "nullable": False, "replacement": low}
    categories = CATEGORIES[name].split(", ")
    return {
        "name": name,
        "kind": "categorical",
        "categories": categories,
        "nullable": False,
        "replacement": categories[0],
    }
