"""One release with every kind of column, made once, and a way to export it beside its files."""

import os
import random
import shutil
from pathlib import Path

import pytest

from release.exports import ExportFormat, export_release
from tests.release.small_release import RELEASE, command

SCHEMA = """
[table]
name = "stays | 2020"
description = "One row a stay."
max_rows = 400
[[columns]]
name = "ward"
kind = "categorical"
categories = ["01", "02", "unknown", 'a, "b"']
null_strings = ["N", ""]
nullable = true
description = "the ward's code"
[[columns]]
name = "insured"
kind = "boolean"
true_values = ["yes", "Y"]
false_values = ["no"]
nullable = true
[[columns]]
name = "hours"
kind = "integer"
min = -5
max = 9
null_strings = ["N"]
nullable = true
[[columns]]
name = "cost per day"
kind = "real"
min = 0
max = 50.5
decimals = 2
bins = 5
nullable = false
replacement = 0
[[columns]]
name = "day"
kind = "date"
format = "%d.%m.%Y"
min = 2020-01-01
max = 2020-12-31
resolution = "day"
bins = 5
nullable = true
[[columns]]
name = "seen"
kind = "datetime"
format = "%Y-%m-%dT%H:%M:%S%z"
utc_offset = "+01:00"
min = 2020-01-01T00:00:00
max = 2020-12-31T23:59:59
resolution = "hour"
bins = 5
nullable = true
[[columns]]
name = "born"
kind = "date"
format = "%Y%m"
min = 2010-01-01
max = 2012-12-31
resolution = "month"
bins = 5
nullable = false
replacement = 2010-01-01
"""

PUBLICATION = """
title = "Stays, synthetic"
url = "https://example.org/stays"
license = "CC-BY-4.0"
intended_use = "Teaching."
region = "Utopia"
sector = "Healthcare"
authors = ["A. Writer"]
[[publishers]]
name = "Office of Examples"
type = "Government"
"""


def _private_rows() -> str:
    rng = random.Random(2)
    values = (
        ["01", "02", "unknown", '"a, ""b"""', "N"],
        ["yes", "no", ""],
        ["1", "-5", "N"],
        ["0.10", "17.25", "50.50"],
        ["01.02.2020", ""],
        ["2020-03-01T10:00:00+01:00", ""],
        ["201001", "201207"],
    )
    rows = (",".join(rng.choice(column) for column in values) for _ in range(200))
    return "\n".join(["ward,insured,hours,cost per day,day,seen,born", *rows]) + "\n"


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """Make a signed release in CSV and Parquet; its workspace is two folders up."""
    workspace = tmp_path_factory.mktemp("exports")
    command(workspace, "init", str(workspace))
    (workspace / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    config = RELEASE.format(mechanism="independent", formats='["csv", "parquet"]')
    (workspace / "release.toml").write_text(config, encoding="utf-8")
    (workspace / "private.csv").write_text(_private_rows(), encoding="utf-8")
    command(workspace, "keys", "new")
    command(workspace, "ledger", "open", "small", "--unit", "row", "--law", "zcdp", "--rho", "1")
    command(workspace, "run", str(workspace / "release.toml"), "--yes")
    return next((workspace / "releases").iterdir())


@pytest.fixture
def publication(tmp_path):
    """A publication.toml with everything that some export needs."""
    path = tmp_path / "publication.toml"
    path.write_text(PUBLICATION, encoding="utf-8")
    return path


@pytest.fixture
def published(tmp_path, publication):
    """Export a release beside a copy of its folder; give the export's path."""

    def publish(folder: Path, kind: ExportFormat, name: str) -> Path:
        place = tmp_path / "public"
        place.mkdir()
        export_release(folder, None, kind=kind, out=place / name, publication=publication)
        shutil.copytree(folder, place / folder.name)
        return place / name

    return publish


@pytest.fixture(autouse=True)
def _no_cache(tmp_path, monkeypatch):
    """Keep the readers of these formats off the home folder."""
    monkeypatch.setitem(os.environ, "HOME", str(tmp_path))
