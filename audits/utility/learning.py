"""What models learn: trained on synthetic rows and tested on real ones, and how well one tells the tables apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from accounting.schema import Schema
from audits.pairs import Ticks
from audits.results import Figure, NotComputable, Result
from audits.utility.marginals import EMPTY

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Learnt:
    """How a classifier does on real test rows."""

    accuracy: Result
    macro_f1: Result
    auc: Result


def train_and_test(schema: Schema, train: Ticks, test: Ticks, target: str, *, seed: int = 0) -> Learnt:
    """Train scikit-learn's HistGradientBoosting on one table and test it on another.

    Args:
        schema: of both; the features are ticks, null as a value of its own.
        train: synthetic rows for TSTR, real ones for TRTR.
        test: real rows that ``train`` does not hold.
        target: the column to predict, by its cells.
        seed: of the classifier.
    """
    problem = _training_problem(schema, train, test, target)
    if problem is not None:
        return Learnt(problem, problem, problem)
    from sklearn.metrics import accuracy_score, f1_score

    column = schema.column(target)
    answers = [column.cell_of_tick(table[target]).astype(np.int64) for table in (train, test)]
    features = [features_of(schema, table, target) for table in (train, test)]
    model = _classifier(schema, target, seed).fit(features[0], answers[0])
    guesses = model.predict(features[1])
    return Learnt(
        Figure(float(accuracy_score(answers[1], guesses))),
        Figure(float(f1_score(answers[1], guesses, average="macro", zero_division=0.0))),
        _auc(model, features[1], answers[1]),
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
    return Figure(float(((guessed - sizes[1] / sum(sizes)) ** 2).mean()))


def features_of(schema: Schema, table: Ticks, target: str | None) -> Floats:
    """Return the table as floats, one column each: ticks from 1 on, and 0 for null."""
    columns = [table[column.name].astype(np.float64) + 1 for column in schema.columns if column.name != target]
    return np.stack(columns, axis=1)


def _classifier(schema: Schema, target: str | None, seed: int) -> Any:  # noqa: ANN401 - scikit-learn ships no types
    from sklearn.ensemble import HistGradientBoostingClassifier

    kinds = [column.kind for column in schema.columns if column.name != target]
    few = [c.ticks < 254 for c in schema.columns if c.name != target]
    categorical = [kind == "categorical" and small for kind, small in zip(kinds, few, strict=True)]
    return HistGradientBoostingClassifier(random_state=seed, categorical_features=categorical, early_stopping=False)


def _auc(model: Any, features: Floats, answers: Ints) -> Result:  # noqa: ANN401 - scikit-learn ships no types
    from sklearn.metrics import roc_auc_score

    known = np.isin(answers, model.classes_)
    if np.unique(answers[known]).size < 2 or np.unique(answers[known]).size != model.classes_.size:
        return NotComputable("the training and test rows do not hold the same classes")
    scores = model.predict_proba(features[known])
    if model.classes_.size == 2:
        return Figure(float(roc_auc_score(answers[known], scores[:, 1])))
    return Figure(float(roc_auc_score(answers[known], scores, multi_class="ovr", labels=model.classes_)))


def _training_problem(schema: Schema, train: Ticks, test: Ticks, target: str) -> NotComputable | None:
    if not train[target].size or not test[target].size:
        return EMPTY
    if len(schema.columns) < 2:
        return NotComputable("there is no column to predict from")
    if np.unique(schema.column(target).cell_of_tick(train[target])).size < 2:
        return NotComputable("the target is constant in the training rows")
    return None
