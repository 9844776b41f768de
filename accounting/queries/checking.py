"""Check a question's public fields against the schema, before anything is charged."""

import math
from collections.abc import Mapping
from itertools import pairwise

from accounting.errors import QueryRefused
from accounting.queries.questions import (
    DISTANCE_LIMIT,
    QUERY_TYPES,
    Categories,
    Clique,
    Coding,
    Marginals,
    Quantiles,
    Query,
    Total,
    Votes,
)
from accounting.schema import CategoricalColumn, OrderedColumn, Schema

MAX_CELLS = 2**27


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
