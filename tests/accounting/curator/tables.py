"""Small schemas, files and ledgers for the curator's tests."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from accounting.budget import Cap, Rho
from accounting.ledger import Account, Ledger
from accounting.noise import SeededEntropy
from accounting.schema import Schema
from accounting.unit import PersonUnit, PrivacyUnit, RowUnit

COMMITMENT = "0" * 64


def categorical(name: str, categories: str = "abc", **keys: object) -> dict[str, object]:
    """A nullable categorical column of one-letter categories."""
    return {"name": name, "kind": "categorical", "categories": list(categories), "nullable": True, **keys}


def schema_of(*columns: dict[str, object]) -> Schema:
    return Schema(table={"name": "toy"}, columns=list(columns))


CANARY_SCHEMA = schema_of(
    categorical("letter"),
    {"name": "age", "kind": "integer", "min": 0, "max": 9, "nullable": False, "replacement": 0},
    {"name": "who", "kind": "identifier"},
)


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def account(
    cap: Fraction = Fraction(10),
    unit: PrivacyUnit | None = None,
    noise: str = "test-seeded",
    ledger: Ledger | None = None,
) -> Account:
    """The account of a release for tests, on a ledger of its own."""
    ledger = ledger or Ledger.in_memory()
    ledger.open_dataset("toy", unit=unit or RowUnit(), cap=Cap(Rho(cap)))
    return ledger.allot("toy", "toy-1", Cap(Rho(cap)), purpose="test", noise=noise, context={}, commitment=None)


def seeded(seed: int = 0) -> SeededEntropy:
    return SeededEntropy(seed)


def cells_of(rows, name: str) -> list[int]:
    return rows.cells_for_curator().columns[name].tolist()


def person(k: int) -> PersonUnit:
    return PersonUnit("who", k)


def no_estimate(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.int64)
