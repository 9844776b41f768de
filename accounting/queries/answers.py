"""The answers, one type for each question, and the canonical bytes in which they are stored and released."""

import json
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from accounting.canonical import Json, plain_bytes
from accounting.queries.questions import Categories, Ints, Marginals, Quantiles, Query, Select, Total, Votes
from accounting.schema import Schema


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


def answer_to_bytes(answer: Answer) -> bytes:
    """Write an answer as canonical JSON; the entry number is the ledger's and not part of it."""
    return plain_bytes(_answer_fields(answer))


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
