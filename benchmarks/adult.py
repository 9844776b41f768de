"""The Adult data in two trials, their schemas as UCI documents them, and the figures by which a release is scored."""

import json
import os
from collections.abc import Iterator, Mapping
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
    import pandas as pd

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
        private: the same rows as texts and numbers.
        test: further rows for testing a classifier, or None.
    """

    schema: Schema
    ticks: Ticks
    private: "pd.DataFrame"
    test: "pd.DataFrame | None" = None


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
    ticks = {
        column.name: column.ticks_of_text(private[column.name].astype(str).to_numpy()) for column in schema.columns
    }
    return Trial(schema, ticks, private, test)


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
    return Trial(schema, {name: frame[name].to_numpy(dtype=np.int64) for name in sizes}, frame)


def frame_of(trial: Trial, ticks: Mapping[str, npt.NDArray[np.int64]]) -> "pd.DataFrame":
    """Write coded rows as a frame of texts and numbers."""
    import pandas as pd

    columns = {}
    for column in trial.schema.columns:
        write = column.values_of_ticks if column.name in NUMBERS else column.text_of_ticks
        columns[column.name] = write(ticks[column.name])
    return pd.DataFrame(columns)


def scores(trial: Trial, synthetic: "pd.DataFrame") -> dict[str, float]:
    """Score a release of Adult-9: 1-, 2- and 3-way total variation, and the error of the correlation of the numbers."""
    real, made, sizes = {}, {}, {}
    for column in trial.schema.columns:
        a, b = trial.private[column.name], synthetic[column.name]
        if column.name in NUMBERS:
            edges = np.linspace(a.min(), a.max(), 21)[1:-1]
            real[column.name], made[column.name], sizes[column.name] = np.digitize(a, edges), np.digitize(b, edges), 20
        else:
            real[column.name] = column.ticks_of_text(a.to_numpy())
            made[column.name] = column.ticks_of_text(b.to_numpy())
            sizes[column.name] = column.ticks
    correlation = [table[list(NUMBERS)].astype(float).corr().iloc[0, 1] for table in (trial.private, synthetic)]
    return {
        **{f"tvd {k}-way": float(np.mean(list(distances(real, made, sizes, k)))) for k in (1, 2, 3)},
        "tvd marital-status × income": next(distances(real, made, sizes, 2, ("marital-status", "income"))),
        "correlation error": float(abs(correlation[0] - correlation[1])),
    }


def distances(
    real: Codes, made: Codes, sizes: Mapping[str, int], k: int, only: tuple[str, ...] | None = None
) -> Iterator[float]:
    """Yield the total variation distance of every k-way marginal, or of one."""
    for clique in [only] if only else combinations(sizes, k):
        shares = [table(rows, sizes, clique) for rows in (real, made)]
        yield float(np.abs(shares[0] / shares[0].sum() - shares[1] / max(shares[1].sum(), 1)).sum() / 2)


def table(rows: Codes, sizes: Mapping[str, int], clique: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """Count rows in a clique's contingency table."""
    shape = tuple(sizes[name] for name in clique)
    index = np.ravel_multi_index([rows[name] for name in clique], shape)
    return np.bincount(index, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def auc(trial: Trial, synthetic: "pd.DataFrame") -> float:
    """Train gradient-boosted trees on synthetic rows, test them on real ones; 1/2 where a class is missing."""
    import pandas as pd
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    assert trial.test is not None
    label = synthetic["income"] == ">50K"
    if label.nunique() < 2:
        return 0.5
    features = pd.get_dummies(pd.concat([synthetic, trial.test]).drop(columns="income"))
    model = GradientBoostingClassifier(random_state=42).fit(features[: len(synthetic)], label)
    return float(roc_auc_score(trial.test["income"] == ">50K", model.predict_proba(features[len(synthetic) :])[:, 1]))


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
