"""The sealed set of questions and answers, their sensitivities, and the handle through which they are asked.

A question states what is wanted and how much noise; never its sensitivity or its price. Those come from this file's own
tables for the question's exact type, by which the curator prices it.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from accounting.canonical import Json, digest, plain_bytes, sha256
from accounting.errors import QueryRefused
from accounting.events import MAX_THRESHOLD, Event, GaussianEvent, SelectionEvent, ThresholdEvent
from accounting.exact import positive, to_text
from accounting.schema import CategoricalColumn, OrderedColumn, Schema
from accounting.unit import PrivacyUnit

Clique: TypeAlias = tuple[str, ...]
Ints: TypeAlias = npt.NDArray[np.int64]

MAX_CELLS = 2**27
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


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTotal:
    """The noisy number of rows; may be negative."""

    entry: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMarginals:
    """Noisy contingency tables, int64, one per clique of the question, shaped by its coding; cells may be negative."""

    entry: int
    tables: tuple[Ints, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """The index of the selected candidate."""

    entry: int
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class NoisyErrors:
    """Noisy L1 errors in grid units, int64, shape (number of candidates,); may be negative."""

    entry: int
    values: Ints


@dataclass(frozen=True, slots=True, eq=False)
class NoisyVotes:
    """The noisy votes for each candidate, int64, shape (number of candidates,); may be negative."""

    entry: int
    values: Ints


@dataclass(frozen=True, slots=True, eq=False)
class NoisyQuantiles:
    """The noisy number of rows in each interval, int64, shape (number of intervals,); may be negative."""

    entry: int
    values: Ints


@dataclass(frozen=True, slots=True, eq=False)
class FoundCategories:
    """The names that reached the threshold, in the order of their characters, and their noisy counts, int64."""

    entry: int
    names: tuple[str, ...]
    values: Ints


Answer: TypeAlias = NoisyTotal | NoisyMarginals | Selected | NoisyErrors | NoisyVotes | NoisyQuantiles | FoundCategories


@runtime_checkable
class PrivateTable(Protocol):
    """All that a mechanism gets: a schema, what is left, and a way to ask. Never the rows."""

    @property
    def schema(self) -> Schema:
        """The public description of the table."""
        ...

    @property
    def remaining(self) -> Fraction:
        """What is left of the release's cap, in the ledger's unit (ρ or μ²)."""
        ...

    def ask(self, query: Query) -> Answer:
        """Answer a question after its price was durably charged.

        Raises:
            QueryRefused: invalid public fields; nothing spent.
            BudgetRefused: it does not fit; nothing spent.
        """
        ...


def question_event(query: Query, unit: PrivacyUnit) -> Event:
    """Return the event of a question for a privacy unit; the one table of sensitivities (docs/guarantees.md).

    Privacy:
        A unit brings at most k = ``unit.max_rows`` rows. Total: Δ = k. Marginals: Δ = k·√m, since all k rows may fall
        into one cell of each of the m tables. Errors: each L1 error moves by at most k·grid, so Δ = k·grid·√m.
        Select: each score moves by at most k·grid·max weight, which the sampler divides by. Votes: a row adds 1 to at
        most v counts and changes no other row's votes, so Δ = k·√v, as all k rows may vote alike. Quantiles: each row
        lies in at most one interval, so Δ = k. Categories: a unit counts once for each of at most k names, so Δ = √k,
        and it may be the only one that has them, which costs δ.
    """
    k_squared = Fraction(unit.max_rows**2)
    if type(query) is Total:
        return GaussianEvent(k_squared, query.variance)
    if type(query) is Marginals:
        return GaussianEvent(k_squared * len(query.cliques), query.variance)
    if type(query) is Errors:
        return GaussianEvent(k_squared * query.grid**2 * len(query.candidates), query.variance)
    if type(query) is Votes:
        return GaussianEvent(k_squared * query.votes, query.variance)
    if type(query) is Select:
        return SelectionEvent(query.epsilon)
    if type(query) is Quantiles:
        return GaussianEvent(k_squared, query.variance)
    if type(query) is Categories:
        return ThresholdEvent(Fraction(unit.max_rows), query.variance, query.threshold, unit.max_rows)
    raise QueryRefused("this question is not in the closed set")


def selection_scale(query: Select, unit: PrivacyUnit) -> Fraction:
    """Return ε/(2Δ), the factor before a selection's integer scores, with Δ = k·grid·max weight."""
    return query.epsilon / (2 * unit.max_rows * query.grid * max(query.weights))


def check_query(query: Query, schema: Schema) -> None:
    """Check a question's public fields against the schema.

    Raises:
        QueryRefused: unknown type, column, order, shape or a table beyond ``MAX_CELLS`` cells; nothing spent.
    """
    if type(query) not in QUERY_TYPES:
        raise QueryRefused("this question is not in the closed set")
    if isinstance(query, Total):
        return
    if isinstance(query, Votes):
        _check_votes(query, schema)
        return
    if isinstance(query, (Quantiles, Categories)):
        _check_measured(query, schema)
        return
    _check_coding(query.coding, schema)
    sizes = {column.name: query.coding.cells(schema, column.name) for column in schema.columns}
    place = {name: index for index, name in enumerate(sizes)}
    if isinstance(query, Marginals):
        for clique in query.cliques:
            _check_clique(clique, sizes, place)
        return
    for clique, estimate in zip(query.candidates, query.estimates, strict=True):
        if estimate.shape != _check_clique(clique, sizes, place):
            raise QueryRefused("an estimate must have the shape of its clique's table")


def describe_query(query: Query) -> dict[str, Json]:
    """Describe a question for the ledger: public fields only; arrays by their SHA-256, all estimates by one."""
    if isinstance(query, Total):
        return {"question": "total", "variance": to_text(query.variance)}
    if isinstance(query, Votes):
        return {
            "question": "votes",
            "candidates": sha_of(query.candidates),
            "embedding": [[name, _placement_sha(placed)] for name, placed in sorted(query.embedding.items())],
            "votes": query.votes,
            "within": [] if query.within is None else [query.within],
            "variance": to_text(query.variance),
        }
    if isinstance(query, Quantiles):
        return {
            "question": "quantiles",
            "column": query.column,
            "intervals": sha_of(query.intervals),
            "variance": to_text(query.variance),
        }
    if isinstance(query, Categories):
        return {
            "question": "categories",
            "column": query.column,
            "threshold": query.threshold,
            "most": query.most,
            "variance": to_text(query.variance),
        }
    coding: Json = [[name, sha_of(numbers)] for name, numbers in sorted(query.coding.bins.items())]
    if isinstance(query, Marginals):
        return {
            "question": "marginals",
            "cliques": [list(clique) for clique in query.cliques],
            "variance": to_text(query.variance),
            "coding": coding,
        }
    common: dict[str, Json] = {
        "candidates": [list(clique) for clique in query.candidates],
        "estimates": sha_of(*query.estimates),
        "grid": query.grid,
        "coding": coding,
    }
    if isinstance(query, Select):
        return {
            "question": "select",
            **common,
            "weights": list(query.weights),
            "penalties": [str(penalty) for penalty in query.penalties],
            "epsilon": to_text(query.epsilon),
        }
    return {"question": "errors", **common, "variance": to_text(query.variance)}


def description_digest(description: Mapping[str, Json]) -> str:
    """Return the SHA-256 of a question's description in canonical form, which binds a request id to the question."""
    return sha256(plain_bytes(description))


def query_digest(query: Query) -> str:
    """Return the SHA-256 that binds a request id to one question, σ² or ε included."""
    return description_digest(describe_query(query))


def answer_to_bytes(answer: Answer) -> bytes:
    """Write an answer as canonical JSON; the entry number is the ledger's and not part of it."""
    return plain_bytes(_answer_fields(answer))


def _answer_fields(answer: Answer) -> dict[str, Json]:
    if isinstance(answer, NoisyTotal):
        return {"answer": "total", "value": answer.value}
    if isinstance(answer, NoisyMarginals):
        return {"answer": "marginals", "tables": [table.ravel().tolist() for table in answer.tables]}
    if isinstance(answer, Selected):
        return {"answer": "select", "index": answer.index}
    if isinstance(answer, NoisyVotes):
        return {"answer": "votes", "values": answer.values.tolist()}
    if isinstance(answer, NoisyQuantiles):
        return {"answer": "quantiles", "values": answer.values.tolist()}
    if isinstance(answer, FoundCategories):
        return {"answer": "categories", "names": list(answer.names), "values": answer.values.tolist()}
    return {"answer": "errors", "values": [str(value) for value in answer.values.tolist()]}


def answer_from_bytes(data: bytes, query: Query, schema: Schema, entry: int) -> Answer:
    """Read the stored answer of a question; the inverse of :func:`answer_to_bytes`."""
    value = json.loads(data)
    if isinstance(query, Total):
        return NoisyTotal(entry, int(value["value"]))
    if isinstance(query, Marginals):
        shapes = [query.coding.shape(schema, clique) for clique in query.cliques]
        flat = [np.array(table, dtype=np.int64) for table in value["tables"]]
        return NoisyMarginals(entry, tuple(table.reshape(shape) for table, shape in zip(flat, shapes, strict=True)))
    if isinstance(query, Select):
        return Selected(entry, int(value["index"]))
    if isinstance(query, Votes):
        return NoisyVotes(entry, np.array(value["values"], dtype=np.int64))
    if isinstance(query, Quantiles):
        return NoisyQuantiles(entry, np.array(value["values"], dtype=np.int64))
    if isinstance(query, Categories):
        return FoundCategories(entry, tuple(value["names"]), np.array(value["values"], dtype=np.int64))
    return NoisyErrors(entry, np.array([int(text) for text in value["values"]], dtype=np.int64))


def sha_of(*arrays: npt.NDArray[np.integer]) -> str:
    """Return one SHA-256 of integer arrays in order.

    The hashed bytes are 64-bit signed little-endian words: for each array its number of dimensions, its shape, and its
    values in row-major order. Read from the front, the words say where each array ends, so that different lists of
    arrays never have the same bytes.
    """
    stream = hashlib.sha256()
    heads: dict[tuple[int, ...], bytes] = {}
    for array in arrays:
        shape = array.shape
        if shape not in heads:
            heads[shape] = np.array([len(shape), *shape], dtype="<i8").tobytes()
        stream.update(heads[shape])
        stream.update(np.asarray(array, dtype="<i8").tobytes())
    return stream.hexdigest()


def _placement_sha(placement: Placement) -> str:
    return digest([sha_of(placement.coordinates), sha_of(placement.classes), str(placement.apart)])


def _check_measured(query: Quantiles | Categories, schema: Schema) -> None:
    column = next((column for column in schema.measured if column.name == query.column), None)
    if isinstance(query, Categories) and isinstance(column, CategoricalColumn):
        return
    if not isinstance(query, Quantiles) or not isinstance(column, OrderedColumn):
        raise QueryRefused(f"column {query.column!r} has no domain that this question measures")
    if int(query.intervals[0, 0]) < 0 or int(query.intervals[-1, 1]) >= column.ticks:
        raise QueryRefused(f"an interval lies outside the declared limits of column {query.column!r}")


def _check_votes(query: Votes, schema: Schema) -> None:
    sizes = {column.name: column.cells for column in schema.columns}
    if query.candidates.shape[1] != len(sizes):
        raise QueryRefused("a candidate has one cell for each column that the schema models")
    for cells, (name, size) in zip(query.candidates.T, sizes.items(), strict=True):
        if int(cells.min()) < 0 or int(cells.max()) >= size:
            raise QueryRefused(f"a candidate lies outside the cells of column {name!r}")
    for name, placement in query.embedding.items():
        if placement.coordinates.size != sizes.get(name):
            raise QueryRefused(f"the placement of column {name!r} does not cover the schema's cells")
    if query.within is not None and query.within not in sizes:
        raise QueryRefused("votes are cast within a column that the schema models")
    if query.reach >= DISTANCE_LIMIT:
        raise QueryRefused("the distances of this embedding leave 2^53: use smaller coordinates")


def _check_coding(coding: Coding, schema: Schema) -> None:
    known = {column.name: column.cells for column in schema.columns}
    for name, numbers in coding.bins.items():
        if numbers.size != known.get(name):
            raise QueryRefused(f"the coding of column {name!r} does not cover the schema's cells")


def _check_clique(clique: Clique, sizes: Mapping[str, int], place: Mapping[str, int]) -> tuple[int, ...]:
    """Check one clique and return the shape of its table."""
    if any(name not in place for name in clique):
        raise QueryRefused("a clique names a column that the schema does not model")
    if any(place[before] > place[after] for before, after in pairwise(clique)):
        raise QueryRefused("a clique lists its columns in the schema's order")
    shape = tuple(sizes[name] for name in clique)
    if math.prod(shape) > MAX_CELLS:
        raise QueryRefused(f"a table of {math.prod(shape)} cells is over the limit of {MAX_CELLS}")
    return shape


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
