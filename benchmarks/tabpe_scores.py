"""How a release of a table with a class is scored: classifiers trained on it and tested on real rows, and distances."""

from importlib.util import find_spec
from itertools import combinations

import numpy as np
import numpy.typing as npt

from accounting.schema import CategoricalColumn, Schema
from audits.results import Figure
from audits.utility.learning import Learner, features_of, train_and_test
from audits.utility.wasserstein import euclidean_wasserstein
from benchmarks.adult import figure, table
from benchmarks.tabpe_data import Problem, Ticks, number

_BINS = 20
_MARGINALS = 120
"""Wasserstein distances of several columns are taken over so many marginals at most, evenly spread: all pairs of 15
columns. One is a linear program."""


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
    return learnt_by("boosting" if find_spec("xgboost") is None else "xgboost", problem, made)


def boosted_otherwise(problem: Problem, made: Ticks) -> dict[str, float]:
    """Return the same of scikit-learn's boosting, which knows categories, and of XGBoost on categories' numbers.

    The last is how the reference scores: categories are numbered in alphabetical order, and their numbers compared.
    """
    found = {f"{name} by HistGradientBoosting": x for name, x in learnt_by("boosting", problem, made).items()}
    if find_spec("xgboost") is not None:
        numbered = Problem(
            _all_numbers(problem),
            problem.label,
            *(_numbered(problem, rows) for rows in (problem.private, problem.test)),
        )
        by_numbers = learnt_by("xgboost", numbered, _numbered(problem, made))
        found |= {f"{name} by XGBoost on numbers": x for name, x in by_numbers.items()}
    return found


def learnt_by(learner: Learner, problem: Problem, made: Ticks) -> dict[str, float]:
    """Return accuracy, macro F1 and (two classes) AUC of one learner."""
    schema, label, test = problem.schema, problem.label, problem.test
    if np.unique(made[label]).size < 2:
        constant = float(np.mean(test[label] == made[label][:1]))
        return {"accuracy": constant, "macro f1": 0.0, "auc": 0.5}
    learnt = train_and_test(schema, made, test, label, learner=learner)
    found = {"accuracy": figure(learnt.accuracy, 0.0), "macro f1": figure(learnt.macro_f1, 0.0)}
    return found | {"auc": learnt.auc.value} if isinstance(learnt.auc, Figure) else found


def _all_numbers(problem: Problem) -> Schema:
    """Declare every categorical column but the label as numbers."""
    columns = [
        number(column.name, 0, column.ticks - 1)
        if column.kind == "categorical" and column.name != problem.label
        else column
        for column in problem.schema.columns
    ]
    return Schema(table=problem.schema.table, columns=columns)


def _numbered(problem: Problem, rows: Ticks) -> Ticks:
    """Number categories in alphabetical order."""
    numbered = dict(rows)
    for column in problem.schema.columns:
        if isinstance(column, CategoricalColumn) and column.name != problem.label:
            numbered[column.name] = np.argsort(np.argsort(column.categories))[rows[column.name]]
    return numbered


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


def wasserstein_of_sampling(problem: Problem, k: int) -> float:
    """Return the same distance between the private rows and as many drawn from them: what sampling makes of it."""
    drawn = np.random.default_rng(1).integers(0, problem.rows, problem.rows)
    return wasserstein(problem, {name: values[drawn] for name, values in problem.private.items()}, k)


def _size(problem: Problem, name: str) -> int:
    column = problem.schema.column(name)
    return column.ticks if column.kind == "categorical" else min(column.ticks, _BINS)


def _code(problem: Problem, name: str, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    column = problem.schema.column(name)
    return values if _size(problem, name) == column.ticks else values * _BINS // column.ticks
