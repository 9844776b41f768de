"""How a release of a table with a class is scored: classifiers trained on it and tested on real rows, and distances.

Distances are taken at 20 equal bins of a declared range (columns with more values) or at single values.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt

from benchmarks.adult import distances
from benchmarks.tabpe_data import Problem, Ticks

Floats = npt.NDArray[np.float64]

_BINS = 20
_PAIRS = 20
_WSD_ROWS = 1000


def features(problem: Problem, ticks: Ticks) -> npt.NDArray[np.float32]:
    """Write rows as features: numbers by their ticks, categories one-hot."""
    parts = []
    for column in problem.schema.columns:
        if column.name == problem.label:
            continue
        values = ticks[column.name]
        if column.kind == "categorical":
            parts.append(np.eye(column.ticks, dtype=np.float32)[values])
        else:
            parts.append(values[:, None].astype(np.float32))
    return np.hstack(parts)


def forest_accuracy(problem: Problem, made: Ticks) -> float:
    """Return the accuracy of a random forest of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(100, random_state=0, n_jobs=1)
    model.fit(features(problem, made), made[problem.label])
    return float(model.score(features(problem, problem.test), problem.test[problem.label]))


def boosted(problem: Problem, made: Ticks) -> dict[str, float]:
    """Return accuracy, macro F1 and (two classes) the AUC of XGBoost, or of scikit-learn's boosting without it."""
    from sklearn.metrics import f1_score, roc_auc_score

    known, codes = np.unique(made[problem.label], return_inverse=True)
    truth = problem.test[problem.label]
    if known.size < 2:
        return {"accuracy": float(np.mean(truth == known[0])), "macro f1": 0.0, "auc": 0.5}
    model = _booster().fit(features(problem, made), codes)
    probabilities = model.predict_proba(features(problem, problem.test))
    guess = known[probabilities.argmax(axis=1)]
    found = {"accuracy": float(np.mean(guess == truth)), "macro f1": float(f1_score(truth, guess, average="macro"))}
    if known.size == 2:
        found["auc"] = float(roc_auc_score(truth, probabilities[:, 1]))
    return found


def total_variation(problem: Problem, made: Ticks, k: int) -> float:
    """Return the mean total variation distance of all k-way marginals."""
    sizes = {column.name: _size(problem, column.name) for column in problem.schema.columns}
    real, synthetic = ({name: _code(problem, name, rows[name]) for name in sizes} for rows in (problem.private, made))
    return float(np.mean(list(distances(real, synthetic, sizes, k))))


def wasserstein(problem: Problem, made: Ticks, k: int) -> float:
    """Return the mean Wasserstein distance of k-way marginals, with ranges scaled to [0, 1] by their declaration.

    The cost of two cells is the mean over the columns of |difference| (ordered) or 0/1 (unordered). One-way distances
    are exact; pairs are an optimal transport between 1,000 rows of each, for at most 20 pairs, spread evenly.
    """
    columns = [column for column in problem.schema.columns if column.name != problem.label]
    cliques = list(combinations(columns, k))
    chosen = cliques[:: max(1, len(cliques) // _PAIRS)][:_PAIRS] if k > 1 else cliques
    rng = np.random.default_rng(0)
    return float(np.mean([_transport(problem, made, clique, rng) for clique in chosen]))


def _transport(problem: Problem, made: Ticks, clique: tuple, rng: np.random.Generator) -> float:  # type: ignore[type-arg]
    if len(clique) == 1:
        (column,) = clique
        size = column.ticks if column.kind != "categorical" else column.cells
        one, other = (np.bincount(rows[column.name], minlength=size) for rows in (problem.private, made))
        gap = one / one.sum() - other / max(other.sum(), 1)
        if column.kind == "categorical":
            return float(np.abs(gap).sum() / 2)
        return float(np.abs(np.cumsum(gap)).sum() / max(size - 1, 1))
    import ot

    cost = np.zeros((_WSD_ROWS, _WSD_ROWS))
    picks = [rng.integers(0, rows[problem.label].size, _WSD_ROWS) for rows in (problem.private, made)]
    for column in clique:
        one, other = problem.private[column.name][picks[0]][:, None], made[column.name][picks[1]][None, :]
        cost += one != other if column.kind == "categorical" else np.abs(one - other) / max(column.ticks - 1, 1)
    return float(ot.emd2([], [], cost / len(clique)))


def _size(problem: Problem, name: str) -> int:
    column = problem.schema.column(name)
    return column.ticks if column.kind == "categorical" else min(column.ticks, _BINS)


def _code(problem: Problem, name: str, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    column = problem.schema.column(name)
    return values if _size(problem, name) == column.ticks else values * _BINS // column.ticks


def _booster():  # noqa: ANN202  # one of two libraries' classifiers
    try:
        from xgboost import XGBClassifier
    except ImportError:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=0)
    return XGBClassifier(n_jobs=1, random_state=0)
