"""How a release of a table with a class is scored: classifiers trained on it and tested on real rows, and distances."""

from importlib.util import find_spec
from itertools import combinations

import numpy as np
import numpy.typing as npt

from audits.results import Figure
from audits.utility.learning import Learner, features_of, train_and_test
from audits.utility.wasserstein import euclidean_wasserstein
from benchmarks.adult import figure, table
from benchmarks.tabpe_data import Problem, Ticks

_BINS = 20
_MARGINALS = 20
"""Wasserstein distances of several columns are taken over so many marginals, evenly spread; one is a linear program."""


def forest_accuracy(problem: Problem, made: Ticks) -> float:
    """Return the accuracy of a random forest of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier

    schema, label = problem.schema, problem.label
    model = RandomForestClassifier(100, random_state=0, n_jobs=1)
    model.fit(features_of(schema, made, label), made[label])
    return float(model.score(features_of(schema, problem.test, label), problem.test[label]))


def boosted(problem: Problem, made: Ticks) -> dict[str, float]:
    """Return accuracy, macro F1 and (two classes) AUC of XGBoost, or of scikit-learn's boosting without it.

    A release in which the class is constant scores as its constant guess.
    """
    schema, label, test = problem.schema, problem.label, problem.test
    if np.unique(made[label]).size < 2:
        constant = float(np.mean(test[label] == made[label][:1]))
        return {"accuracy": constant, "macro f1": 0.0, "auc": 0.5}
    learner: Learner = "boosting" if find_spec("xgboost") is None else "xgboost"
    learnt = train_and_test(schema, made, test, label, learner=learner)
    found = {"accuracy": figure(learnt.accuracy, 0.0), "macro f1": figure(learnt.macro_f1, 0.0)}
    return found | {"auc": learnt.auc.value} if isinstance(learnt.auc, Figure) else found


def total_variation(problem: Problem, made: Ticks, k: int) -> float:
    """Return the mean total variation distance of k-way marginals, longer columns in 20 equal bins of their range."""
    sizes = {column.name: _size(problem, column.name) for column in problem.schema.columns}
    real, synthetic = ({name: _code(problem, name, rows[name]) for name in sizes} for rows in (problem.private, made))
    apart = []
    for clique in combinations(sizes, k):
        one, other = (table(rows, sizes, clique) for rows in (real, synthetic))
        apart.append(np.abs(one / one.sum() - other / max(other.sum(), 1)).sum() / 2)
    return float(np.mean(apart))


def wasserstein(problem: Problem, made: Ticks, k: int) -> float:
    """Return the papers' mean Wasserstein distance of k-way marginals, 1,000 rows of each table for k above 1."""
    most = None if k == 1 else min(_MARGINALS, len(list(combinations(problem.schema.columns, k))))
    rng = np.random.default_rng(0)
    return figure(euclidean_wasserstein(problem.schema, problem.private, made, k, rng, most=most), float(k))


def _size(problem: Problem, name: str) -> int:
    column = problem.schema.column(name)
    return column.ticks if column.kind == "categorical" else min(column.ticks, _BINS)


def _code(problem: Problem, name: str, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    column = problem.schema.column(name)
    return values if _size(problem, name) == column.ticks else values * _BINS // column.ticks
