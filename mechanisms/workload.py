"""Workloads: the marginals that a release is made for, their downward closure, and the weights of candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, lcm, prod

from accounting.canonical import Json
from accounting.errors import ConfigError
from accounting.exact import to_text
from accounting.queries import Clique
from mechanisms.options import exact_number

WEIGHT_SCALE = 4096
"""Candidate weights are whole numbers from 1 to this; the largest weight gets it."""

MAX_CANDIDATE_CELLS = 2**26
"""The most cells of all candidates together: a round holds an estimate of each."""

MAX_TRIPLE_CANDIDATES = 3000
"""The default workload is all 3-way marginals while it has at most this many candidates, else all pairs."""


@dataclass(frozen=True, slots=True)
class WorkloadMarginal:
    """One marginal that the release should keep.

    Args:
        columns: distinct column names.
        weight: its importance, an exact number above 0.
    """

    columns: Clique
    weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns or any(not isinstance(name, str) for name in self.columns):
            raise ConfigError("a workload marginal lists the names of its columns")
        if len(set(self.columns)) != len(self.columns):
            raise ConfigError(f"workload marginal {list(self.columns)}: a column is named twice")
        object.__setattr__(self, "weight", exact_number(self.weight, "weight"))

    @staticmethod
    def from_option(value: object) -> "WorkloadMarginal":
        """Read ``["a", "b"]`` or ``{columns = ["a", "b"], weight = 2}``."""
        if isinstance(value, WorkloadMarginal):
            return value
        if isinstance(value, Mapping):
            unknown = set(value) - {"columns", "weight"}
            if unknown or "columns" not in value:
                raise ConfigError("a workload marginal has the keys columns and, if wanted, weight")
            return WorkloadMarginal(_names(value["columns"]), value.get("weight", 1))
        return WorkloadMarginal(_names(value))

    def to_json(self) -> dict[str, Json]:
        """Write the marginal for the manifest."""
        return {"columns": list(self.columns), "weight": to_text(self.weight)}


@dataclass(frozen=True, slots=True)
class Candidates:
    """The marginals that may be selected, known without data.

    Args:
        workload: the marginals that the release is made for, after the fallback for those that are too large.
        cliques: the workload's downward closure, smaller cliques first, each in schema order.
        weights: one whole number from 1 to ``WEIGHT_SCALE`` each: the overlap with the workload, Σ_s c_s·|r ∩ s|.
    """

    workload: tuple[WorkloadMarginal, ...]
    cliques: tuple[Clique, ...]
    weights: tuple[int, ...]


def compile_candidates(
    sizes: Mapping[str, int],
    workload: Sequence[WorkloadMarginal] | None,
    degree: int | None,
    max_marginal_cells: int,
) -> Candidates:
    """Compile a workload into candidates.

    Args:
        sizes: the most cells of each column in the model, in schema order.
        workload: the marginals wanted; None means all marginals of ``degree`` columns.
        degree: the number of columns of a default workload marginal; None means 3, or 2 for wide tables.
        max_marginal_cells: a larger marginal is replaced by its largest sub-marginals that fit.

    Raises:
        ConfigError: an unknown column, or candidates too large together, with the figure; nothing spent.

    Source:
        McKenna, Mullins, Sheldon and Miklau 2022 (arXiv:2201.12677), section 4.
    """
    if workload is None:
        return _default_candidates(tuple(sizes.items()), degree or default_degree(len(sizes)), max_marginal_cells)
    position = {name: index for index, name in enumerate(sizes)}
    ordered = []
    for marginal in workload:
        unknown = [name for name in marginal.columns if name not in position]
        if unknown:
            raise ConfigError(f"the workload names {unknown[0]!r}, which is not a modelled column of the schema")
        ordered.append(WorkloadMarginal(tuple(sorted(marginal.columns, key=position.__getitem__)), marginal.weight))
    candidates = _compile(sizes, ordered, max_marginal_cells)
    cells = candidate_cells(sizes, candidates)
    if cells > MAX_CANDIDATE_CELLS:
        raise ConfigError(
            f"the workload's candidates have {cells} cells together, over the limit of {MAX_CANDIDATE_CELLS}; "
            "lower max_marginal_cells or name fewer marginals"
        )
    return candidates


def default_degree(columns: int) -> int:
    """Return the number of columns of a default workload marginal: 3, or 2 where a table has very many columns."""
    return 3 if comb(columns, 3) + comb(columns, 2) + columns <= MAX_TRIPLE_CANDIDATES else 2


def candidate_cells(sizes: Mapping[str, int], candidates: Candidates) -> int:
    """Return the most cells of all candidates together."""
    return sum(_cells(sizes, clique) for clique in candidates.cliques)


@lru_cache(maxsize=4)  # a plan compares several mechanisms with the same ones
def _default_candidates(columns: tuple[tuple[str, int], ...], degree: int, limit: int) -> Candidates:
    sizes = dict(columns)
    workload = [WorkloadMarginal(clique) for clique in combinations(sizes, min(degree, len(sizes)))]
    while True:
        candidates = _compile(sizes, workload, limit)
        if candidate_cells(sizes, candidates) <= MAX_CANDIDATE_CELLS or len(candidates.cliques) == len(sizes):
            return candidates
        limit //= 2


def _compile(sizes: Mapping[str, int], workload: Sequence[WorkloadMarginal], limit: int) -> Candidates:
    fitting: dict[Clique, Fraction] = {}
    for marginal in workload:
        for clique in _largest_fitting(sizes, marginal.columns, limit):
            fitting[clique] = fitting.get(clique, Fraction(0)) + marginal.weight
    importance = _importance(sizes, fitting)
    position = {name: index for index, name in enumerate(sizes)}
    closure = {subset for clique in fitting for k in range(1, len(clique) + 1) for subset in combinations(clique, k)}
    cliques = sorted(closure, key=lambda clique: (len(clique), [position[name] for name in clique]))
    overlaps = [sum(importance[name] for name in clique) for clique in cliques]
    largest = max(overlaps)
    weights = tuple(max(1, round(Fraction(overlap * WEIGHT_SCALE, largest))) for overlap in overlaps)
    kept = tuple(WorkloadMarginal(clique, weight) for clique, weight in fitting.items())
    return Candidates(kept, tuple(cliques), weights)


def _importance(sizes: Mapping[str, int], workload: Mapping[Clique, Fraction]) -> dict[str, int]:
    """Return each column's weight over the workload, in whole units; summed over r it is Σ_s c_s·|r ∩ s|."""
    unit = lcm(*(weight.denominator for weight in workload.values()))
    importance = dict.fromkeys(sizes, 0)
    for clique, weight in workload.items():
        for name in clique:
            importance[name] += weight.numerator * (unit // weight.denominator)
    return importance


def _largest_fitting(sizes: Mapping[str, int], clique: Clique, limit: int) -> list[Clique]:
    for k in range(len(clique), 1, -1):
        fitting = [subset for subset in combinations(clique, k) if _cells(sizes, subset) <= limit]
        if fitting:
            return fitting
    return [(name,) for name in clique]


def _cells(sizes: Mapping[str, int], clique: Clique) -> int:
    return prod(sizes[name] for name in clique)


def _names(value: object) -> Clique:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise ConfigError("a workload marginal lists the names of its columns")
    return tuple(value)
