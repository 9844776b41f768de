"""A small signed release, made by the product's own commands, for tests that read releases."""

import random
from pathlib import Path

from click.testing import CliRunner

from release.cli import dprelease

SCHEMA = """
[table]
name = "small"
max_rows = 400

[[columns]]
name = "colour"
kind = "categorical"
categories = ["red", "green", "blue, light"]
nullable = true

[[columns]]
name = "age"
kind = "integer"
min = 0
max = 9
nullable = false
replacement = 0

[[columns]]
name = "member"
kind = "boolean"
nullable = false
replacement = false
"""

RELEASE = """
version = 1
dataset = "small"
schema = "schema.toml"
data = "private.csv"
[unit]
kind = "row"
[budget]
rho = "1/4"
[mechanism]
kind = "{mechanism}"
[output]
rows = "noisy"
formats = {formats}
"""


def command(workspace: Path, *arguments: str, code: int = 0) -> str:
    """Run a command in a workspace, check its exit code, and return what it prints."""
    options = [] if arguments[0] == "init" else ["--workspace", str(workspace)]
    result = CliRunner().invoke(dprelease, [*arguments, *options], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def write_private(path: Path) -> None:
    """Plant a table of 200 rows."""
    rows = random.Random(1)
    lines = ["colour,age,member"]
    for _ in range(200):
        colour = rows.choice(["red", "green", '"blue, light"', ""])
        lines.append(f"{colour},{rows.randrange(10)},{rows.choice(['true', 'false'])}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_release(workspace: Path, *, mechanism: str = "independent", formats: str = '["csv", "parquet"]') -> Path:
    """Make a workspace with a planted table of 200 rows, and one signed release of it; return its folder."""
    command(workspace, "init", str(workspace))
    (workspace / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (workspace / "release.toml").write_text(RELEASE.format(mechanism=mechanism, formats=formats), encoding="utf-8")
    write_private(workspace / "private.csv")
    command(workspace, "keys", "new")
    command(workspace, "ledger", "open", "small", "--unit", "row", "--law", "zcdp", "--rho", "1")
    command(workspace, "run", str(workspace / "release.toml"), "--yes")
    return next((workspace / "releases").iterdir())
