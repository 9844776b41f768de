"""The sealed set of questions: each states what is wanted and how much noise; never its sensitivity or its price."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from accounting.errors import QueryRefused
from accounting.events import MAX_THRESHOLD
from accounting.exact import positive
from accounting.schema import Schema

Clique: TypeAlias = tuple[str, ...]
Ints: TypeAlias = npt.NDArray[np.int64]
MAX_GRID = 2**20
MAX_WEIGHT = 2**20
ESTIMATE_LIMIT = 2**53
MAX_CANDIDATES = 2**20
MAX_INTERVALS = 2**16
DISTANCE_LIMIT = 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """A public map from the cells of some columns to coarser bins; columns not named keep their cells.

    Args:
        bins: column name → int32 array with one bin number per cell, covering 0…max without gaps.
    """

    bins: Mapping[str, npt.NDArray[np.int32]] = field(default_factory=dict)
    widths: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        frozen, widths = {}, {}
        for name, numbers in self.bins.items():
            copy = np.array(numbers, dtype=np.int32)
            if copy.ndim != 1 or copy.size == 0 or not np.array_equal(np.unique(copy), np.arange(copy.max() + 1)):
                raise QueryRefused(f"the coding of column {name!r} must number its bins 0, 1, … without gaps")
            copy.setflags(write=False)
            frozen[name] = copy
            widths[name] = int(copy.max()) + 1
        object.__setattr__(self, "bins", MappingProxyType(frozen))
        object.__setattr__(self, "widths", MappingProxyType(widths))

    def __reduce__(self) -> tuple[type["Coding"], tuple[dict[str, npt.NDArray[np.int32]]]]:
        """Pickle by the bins, which are checked again."""
        return Coding, (dict(self.bins),)

    def cells(self, schema: Schema, name: str) -> int:
        """Return the number of bins that a column has under this coding."""
        return self.widths[name] if name in self.widths else schema.column(name).cells

    def shape(self, schema: Schema, clique: Clique) -> tuple[int, ...]:
        """Return the shape of a clique's contingency table."""
        return tuple(self.cells(schema, name) for name in clique)


@dataclass(frozen=True, slots=True)
class Total:
    """Ask for the noisy number of rows."""

    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, "variance"))


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """Ask for noisy contingency tables of equal noise.

    Args:
        cliques: distinct cliques, each in schema order.
        variance: σ² of the noise on each cell, in squared counts.
        coding: the public bins at which columns are counted.
    """

    cliques: tuple[Clique, ...]
    variance: Fraction
    coding: Coding = field(default_factory=Coding)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        _check_cliques(self.cliques)


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """Ask for the candidate whose weighted L1 error, less its penalty, is large: an exact draw from the softmax.

    The score of candidate i is ``weights[i] · (Σ |grid·count − estimates[i]| − penalties[i])``, an exact integer.

    Args:
        candidates: distinct cliques, each in schema order.
        weights: one whole number from 1 to 2^20 each.
        estimates: one int64 array each, shaped as the clique's table, in grid units (count · grid).
        penalties: one whole number each, in grid units.
        grid: grid units per count, a power of two up to 2^20.
        epsilon: the exponential mechanism's ε; the score is scaled by ε/(2Δ), since L1 errors are not monotonic.
        coding: the public bins at which columns are counted.
    """

    candidates: tuple[Clique, ...]
    weights: tuple[int, ...]
    estimates: tuple[Ints, ...]
    penalties: tuple[int, ...]
    grid: int
    epsilon: Fraction
    coding: Coding = field(default_factory=Coding)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        _check_cliques(self.candidates)
        _check_grid(self.grid)
        count = len(self.candidates)
        if not isinstance(self.weights, tuple) or not isinstance(self.penalties, tuple):
            raise QueryRefused("the weights and penalties of a selection are tuples")
        if len(self.weights) != count or len(self.penalties) != count:
            raise QueryRefused("a selection needs one weight and one penalty for each candidate")
        if any(type(w) is not int or not 1 <= w <= MAX_WEIGHT for w in self.weights):
            raise QueryRefused(f"a weight is a whole number from 1 to {MAX_WEIGHT}")
        if any(type(p) is not int or abs(p) > ESTIMATE_LIMIT for p in self.penalties):
            raise QueryRefused("a penalty is a whole number of grid units")
        object.__setattr__(self, "estimates", _frozen_estimates(self.estimates, count))


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Ask for the noisy L1 errors Σ |grid·count − estimate| of several candidates, in grid units.

    Args:
        candidates: distinct cliques, each in schema order.
        estimates: one int64 array each, shaped as the clique's table, in grid units.
        grid: grid units per count, a power of two up to 2^20.
        variance: σ² of the noise on each error, in squared grid units.
        coding: the public bins at which columns are counted.
    """

    candidates: tuple[Clique, ...]
    estimates: tuple[Ints, ...]
    grid: int
    variance: Fraction
    coding: Coding = field(default_factory=Coding)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        _check_cliques(self.candidates)
        _check_grid(self.grid)
        object.__setattr__(self, "estimates", _frozen_estimates(self.estimates, len(self.candidates)))


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """How votes see one column: where each of its cells lies on a line, and which class it belongs to.

    Args:
        coordinates: int32, one a cell.
        classes: int32, one a cell, at least 0.
        apart: the squared distance of two cells of different classes, added to that of their coordinates.
    """

    coordinates: npt.NDArray[np.integer]
    classes: npt.NDArray[np.integer]
    apart: int

    def __post_init__(self) -> None:
        if type(self.apart) is not int or not 0 <= self.apart <= DISTANCE_LIMIT:
            raise QueryRefused(f"the distance between classes is a whole number from 0 to {DISTANCE_LIMIT}")
        for name in ("coordinates", "classes"):
            copy = np.array(getattr(self, name), dtype=np.int32)
            if copy.ndim != 1 or copy.size == 0:
                raise QueryRefused("a placement has one coordinate and one class a cell")
            copy.setflags(write=False)
            object.__setattr__(self, name, copy)
        if self.coordinates.size != self.classes.size or int(self.classes.min()) < 0:
            raise QueryRefused("a placement has one coordinate and one class from 0 a cell")

    @property
    def reach(self) -> int:
        """A bound on this column's part of every partial sum of a distance, in whatever order it is added up."""
        return 3 * max(abs(int(self.coordinates.min())), abs(int(self.coordinates.max()))) ** 2 + self.apart


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Ask for a noisy nearest-neighbour histogram: each row votes once for each of its nearest candidates.

    The squared distance of a row and a candidate is an exact integer: the sum over the placed columns of the squared
    difference of coordinates, and of ``apart`` where the classes differ. Equal distances go by the candidates' order.

    Args:
        candidates: int32 cells, one row a candidate, one column a modelled column in schema order.
        embedding: column name → placement; columns not named have no part in the distance.
        votes: how many candidates a row votes for, from 1 to the number of candidates.
        within: a column; rows vote only for candidates of their own cell in it, fewer where it has fewer. None for all.
        variance: σ² of the noise on each candidate's count.
    """

    candidates: npt.NDArray[np.int32]
    embedding: Mapping[str, Placement]
    votes: int
    within: str | None
    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        if (
            not isinstance(self.candidates, np.ndarray)
            or self.candidates.dtype != np.int32
            or self.candidates.ndim != 2
        ):
            raise QueryRefused("the candidates are an int32 array of cells, one row a candidate")
        if not 1 <= self.candidates.shape[0] <= MAX_CANDIDATES:
            raise QueryRefused(f"a question has from 1 to {MAX_CANDIDATES} candidates to vote for")
        if type(self.votes) is not int or not 1 <= self.votes <= self.candidates.shape[0]:
            raise QueryRefused("a row has from 1 vote to as many as there are candidates")
        if not all(type(placement) is Placement for placement in self.embedding.values()):
            raise QueryRefused("an embedding places each of its columns")
        copy = self.candidates.copy()
        copy.setflags(write=False)
        object.__setattr__(self, "candidates", copy)
        object.__setattr__(self, "embedding", MappingProxyType(dict(self.embedding)))

    @property
    def reach(self) -> int:
        """A bound on every partial sum of a distance: where it is below 2^24, float32 holds them all exactly."""
        return sum(placement.reach for placement in self.embedding.values())


@dataclass(frozen=True, slots=True, eq=False)
class Quantiles:
    """Ask how many rows lie in each of some intervals of a measured column's values: a step of a search for quantiles.

    Args:
        column: an ordered column whose domain is measured.
        intervals: int64 ticks, one row (first, last) an interval, both inclusive; disjoint and increasing.
        variance: σ² of the noise on each count.
    """

    column: str
    intervals: Ints
    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        given = self.intervals
        if not isinstance(given, np.ndarray) or given.dtype != np.int64 or given.ndim != 2 or given.shape[1] != 2:
            raise QueryRefused("intervals are an int64 array of ticks, one row (first, last) each")
        if not 1 <= given.shape[0] <= MAX_INTERVALS:
            raise QueryRefused(f"a question has from 1 to {MAX_INTERVALS} intervals")
        if (given[:, 0] > given[:, 1]).any() or (given[1:, 0] <= given[:-1, 1]).any():
            raise QueryRefused("intervals are disjoint and increase")
        copy = given.copy()
        copy.setflags(write=False)
        object.__setattr__(self, "intervals", copy)


@dataclass(frozen=True, slots=True)
class Categories:
    """Ask for the names in a measured column that enough units have: each with its noisy number of units.

    Counted are distinct pairs of a unit and a canonical name that is not declared already. A name leaves when its noisy
    count is at least the threshold; of more than ``most`` those of the largest noisy counts.

    Args:
        column: a categorical column whose domain is measured.
        variance: σ² of the noise on each count.
        threshold: τ, from 2.
        most: the most names that leave.
    """

    column: str
    variance: Fraction
    threshold: int
    most: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        if type(self.threshold) is not int or not 2 <= self.threshold <= MAX_THRESHOLD:
            raise QueryRefused(f"a threshold is a whole number from 2 to {MAX_THRESHOLD}")
        if type(self.most) is not int or self.most < 1:
            raise QueryRefused("at least one name may leave")


Query: TypeAlias = Total | Marginals | Select | Errors | Votes | Quantiles | Categories
QUERY_TYPES: tuple[type, ...] = (Total, Marginals, Select, Errors, Votes, Quantiles, Categories)


def _check_cliques(cliques: tuple[Clique, ...]) -> None:
    if not isinstance(cliques, tuple) or not cliques:
        raise QueryRefused("a question names at least one clique, in a tuple")
    for clique in cliques:
        if not isinstance(clique, tuple) or not clique or not all(isinstance(name, str) for name in clique):
            raise QueryRefused("a clique is a non-empty tuple of column names")
        if len(set(clique)) != len(clique):
            raise QueryRefused("a clique names each column once")
    if len(set(cliques)) != len(cliques):
        raise QueryRefused("the cliques of a question must be distinct")


def _check_grid(grid: int) -> None:
    if type(grid) is not int or not 1 <= grid <= MAX_GRID or grid & (grid - 1):
        raise QueryRefused(f"grid is a power of two from 1 to {MAX_GRID}")


def _frozen_estimates(estimates: tuple[Ints, ...], count: int) -> tuple[Ints, ...]:
    if len(estimates) != count:
        raise QueryRefused("a question needs one estimate for each candidate")
    for estimate in estimates:
        if not isinstance(estimate, np.ndarray) or estimate.dtype != np.int64:
            raise QueryRefused("an estimate is an int64 array in grid units")
    flat = np.concatenate([estimate.ravel() for estimate in estimates])
    if flat.size and max(-int(flat.min()), int(flat.max())) > ESTIMATE_LIMIT:
        raise QueryRefused("an estimate lies outside ±2^53 grid units")
    flat.setflags(write=False)
    ends = accumulate(estimate.size for estimate in estimates)
    return tuple(flat[end - e.size : end].reshape(e.shape) for e, end in zip(estimates, ends, strict=True))
