"""What models learn: trained on synthetic rows and tested on real ones, and how well one tells the tables apart."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from accounting.schema import Schema
from audits.pairs import Ticks
from audits.results import Figure, NotComputable, Result
from audits.statistics import wilson
from audits.utility.intervals import group_count, groups_of, jackknife
from audits.utility.marginals import EMPTY, ORDERED

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Learner = Literal["boosting", "xgboost", "one-hot"]
"""scikit-learn's HistGradientBoosting; XGBoost where it is installed; or, as in most published comparisons, its
GradientBoosting with a column for each category, which is slower and follows the noise of synthetic rows less."""

_FOLDS = 5
_SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True)
class Learnt:
    """How a classifier does on real test rows, with intervals for other test rows and the same classifier."""

    accuracy: Result
    macro_f1: Result
    auc: Result


def train_and_test(
    schema: Schema, train: Ticks, test: Ticks, target: str, *, learner: Learner = "boosting", seed: int = 0
) -> Learnt:
    """Train a classifier on one table and test it on another.

    Args:
        schema: of both; the features are ticks, null as a value of its own.
        train: synthetic rows for TSTR, real ones for TRTR.
        test: real rows that ``train`` does not hold.
        target: the column to predict, by its cells.
        learner: the classifier; "xgboost" gives a reason instead of figures where it is not installed.
        seed: of the classifier.
    """
    problem = _training_problem(schema, train, test, target)
    if problem is None and learner == "xgboost" and find_spec("xgboost") is None:
        problem = NotComputable("XGBoost is not installed; pip install 'dprelease[bench]'")
    if problem is not None:
        return Learnt(problem, problem, problem)
    from sklearn.metrics import f1_score

    column = schema.column(target)
    answers = [column.cell_of_tick(table[target]).astype(np.int64) for table in (train, test)]
    write = features_of if learner == "boosting" else _one_hot  # the others know no categories
    features = [write(schema, table, target) for table in (train, test)]
    classes, codes = np.unique(answers[0], return_inverse=True)
    model = _learner(learner, schema, target, seed)
    model.fit(features[0], codes)
    guesses = classes[model.predict(features[1])]
    right, count = int((guesses == answers[1]).sum()), guesses.size

    def macro_f1(rows: npt.NDArray[np.bool_]) -> float:
        return float(f1_score(answers[1][rows], guesses[rows], average="macro", zero_division=0.0))

    return Learnt(
        Figure(right / count, *wilson(right, count, _SIGNIFICANCE)),
        _over_rows(macro_f1, count),
        _auc(model, classes, features[1], answers[1]),
    )


def propensity(schema: Schema, real: Ticks, synthetic: Ticks, *, seed: int = 0) -> Result:
    """Return the propensity mean squared error by cross-validation: 0 when nothing tells the tables apart, at most 1/4.

    Source:
        Woo, Reiter, Oganian and Karr 2009; the mean of (p − share)² over all rows.
    """
    sizes = [next(iter(table.values())).size for table in (real, synthetic)]
    if min(sizes) < _FOLDS:
        return NotComputable(f"a table has fewer than {_FOLDS} rows")
    from sklearn.model_selection import cross_val_predict

    features = np.concatenate([features_of(schema, table, None) for table in (real, synthetic)])
    sides = np.repeat([0, 1], sizes)
    model = _classifier(schema, None, seed)
    order = np.random.default_rng(seed).permutation(sides.size)
    guessed = cross_val_predict(model, features[order], sides[order], cv=_FOLDS, method="predict_proba")[:, 1]
    apart = (guessed - sizes[1] / sum(sizes)) ** 2
    return _over_rows(lambda rows: float(apart[rows].mean()), apart.size)


def _over_rows(compute: Callable[[npt.NDArray[np.bool_]], float], count: int) -> Figure:
    """Compute a figure from 0 to 1 on all test rows and without each group of them; the model stays the same."""
    groups = group_count(count)
    group = groups_of(count, max(groups, 1))
    without = np.array([compute(group != number) for number in range(groups)])
    return jackknife(compute(np.ones(count, dtype=np.bool_)), without, high=1.0)


def features_of(schema: Schema, table: Ticks, target: str | None) -> Floats:
    """Return the table as floats, one column each: ticks from 1 on, and 0 for null."""
    columns = [table[column.name].astype(np.float64) + 1 for column in schema.columns if column.name != target]
    return np.stack(columns, axis=1)


def _one_hot(schema: Schema, table: Ticks, target: str | None) -> Floats:
    """Return the table as floats: ordered columns by tick, the others with a column for each cell."""
    parts: list[Floats] = []
    for column in schema.columns:
        if column.name == target:
            continue
        if column.kind in ORDERED:
            parts.append(table[column.name].astype(np.float64)[:, None])
        else:
            parts.append(np.eye(column.cells)[column.cell_of_tick(table[column.name])])
    return np.concatenate(parts, axis=1)


def _learner(learner: Learner, schema: Schema, target: str, seed: int) -> Any:  # noqa: ANN401 - as below
    if learner == "xgboost":
        return _xgboost(seed)
    if learner == "one-hot":
        from sklearn.ensemble import GradientBoostingClassifier

        return GradientBoostingClassifier(random_state=seed)
    return _classifier(schema, target, seed)


def _classifier(schema: Schema, target: str | None, seed: int) -> Any:  # noqa: ANN401 - scikit-learn ships no types
    from sklearn.ensemble import HistGradientBoostingClassifier

    kinds = [column.kind for column in schema.columns if column.name != target]
    few = [c.ticks < 254 for c in schema.columns if c.name != target]
    categorical = [kind == "categorical" and small for kind, small in zip(kinds, few, strict=True)]
    return HistGradientBoostingClassifier(random_state=seed, categorical_features=categorical, early_stopping=False)


def _xgboost(seed: int) -> Any:  # noqa: ANN401 - a classifier as scikit-learn's
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=seed)


def _auc(model: Any, classes: Ints, features: Floats, answers: Ints) -> Result:  # noqa: ANN401 - as above
    from sklearn.metrics import roc_auc_score

    known = np.isin(answers, classes)
    if np.unique(answers[known]).size < 2 or np.unique(answers[known]).size != classes.size:
        return NotComputable("the training and test rows do not hold the same classes")
    scores = model.predict_proba(features[known])
    if classes.size == 2:
        area = float(roc_auc_score(answers[known], scores[:, 1]))
    else:
        area = float(roc_auc_score(answers[known], scores, multi_class="ovr", labels=classes))
    rarest = int(np.unique(answers[known], return_counts=True)[1].min())
    return Figure(area, *wilson(area * rarest, rarest, _SIGNIFICANCE))


def _training_problem(schema: Schema, train: Ticks, test: Ticks, target: str) -> NotComputable | None:
    if not train[target].size or not test[target].size:
        return EMPTY
    if len(schema.columns) < 2:
        return NotComputable("there is no column to predict from")
    if np.unique(schema.column(target).cell_of_tick(train[target])).size < 2:
        return NotComputable("the target is constant in the training rows")
    return None
