"""A small workspace and a way to give it commands, in this process."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SCHEMA = """\
[table]
name = "visits"
max_rows = 1000
[[columns]]
name = "person"
kind = "identifier"
[[columns]]
name = "town"
kind = "categorical"
categories = ["north", "south", "hamlet"]
nullable = true
[[columns]]
name = "age"
kind = "integer"
min = 0
max = 9
nullable = false
replacement = 0
[[columns]]
name = "income"
kind = "real"
min = 0
max = 1000
decimals = 2
bins = 10
points = [0]
nullable = true
"""

RELEASE = """\
version = 1
dataset = "visits"
schema = "schema.toml"
data = "private.csv"
[unit]
kind = "row"
[budget]
rho = "1/4"
delta = 1e-6
[mechanism]
kind = "independent"
"""

OPEN = "ledger open visits --unit row --law zcdp --rho 1/2 --delta 1e-6"
HEADER = "person,town,age,income"


def rows(count: int = 200) -> list[str]:
    """Make private rows."""
    rng = np.random.default_rng(5)
    towns = rng.choice(["north", "south"], count)
    return [
        f"p{i},{towns[i]},{rng.integers(0, 10)},{rng.integers(0, 1000)}.{rng.integers(10, 100)}" for i in range(count)
    ]


def write_rows(path: Path, lines: list[str]) -> None:
    """Write a private file."""
    path.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document on stdout."""
        return json.loads(self.out)


Give = Callable[..., Done]


def release_of(folder: Path) -> Path:
    """Return the only release of a workspace."""
    (release,) = [path for path in (folder / "releases").iterdir() if not path.name.startswith(".")]
    return release


def manifest(release: Path) -> dict[str, Any]:
    """Read a release's manifest without verifying it."""
    envelope = json.loads((release / "manifest.dsse.json").read_bytes())
    return json.loads(base64.b64decode(envelope["payload"]))["predicate"]
