"""Describe a question for the ledger, and digest it: what binds a request id to one question."""

import hashlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from accounting.canonical import Json, digest, plain_bytes, sha256
from accounting.exact import to_text
from accounting.queries.questions import Categories, Marginals, Placement, Quantiles, Query, Select, Total, Votes


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
