"""Small schemas for the tests of this folder."""

from typing import Any

from accounting.schema import Schema
from accounting.schema.column import Column
from accounting.schema.schema import KINDS

LEAST: dict[str, dict[str, Any]] = {
    "categorical": {"nullable": True, "categories": ["a", "b", "c"]},
    "boolean": {"nullable": True},
    "integer": {"nullable": True, "min": 0, "max": 99},
    "real": {"nullable": True, "min": 0, "max": 10, "decimals": 2, "bins": 5},
    "date": {"nullable": True, "min": "2000-01-01", "max": "2009-12-31", "format": "%Y-%m-%d", "resolution": "day"},
    "datetime": {
        "nullable": True,
        "min": "2000-01-01T00:00:00",
        "max": "2000-01-02T23:59:59",
        "format": "%Y-%m-%d %H:%M:%S",
        "resolution": "minute",
    },
    "identifier": {},
}
"""The least keys of each kind."""


def keys(kind: str, **changes: Any) -> dict[str, Any]:
    """Return the keys of a small column of a kind, with changes; a change to None leaves the key out."""
    merged = {"name": "x", "kind": kind, **LEAST[kind], **changes}
    return {key: value for key, value in merged.items() if value is not None}


def column(kind: str, **changes: Any) -> Any:
    """Build a small column of a kind, named x."""
    return KINDS[kind](**keys(kind, **changes))


def schema(*columns: dict[str, Any], **table: Any) -> Schema:
    """Build a schema of the given columns' keys."""
    return Schema(table={"name": "t", **table}, columns=list(columns))


def ticks(known: Column, *texts: str) -> list[int]:
    """Cast texts and check that the result has the promised type."""
    cast = known.ticks_of_text(list(texts))
    assert cast.dtype.name == "int64"
    assert cast.shape == (len(texts),)
    return cast.tolist()
