"""The schemas of five public tables: they load everywhere, and fit the real files where those are present."""

import csv
import os
from pathlib import Path

import pytest

from accounting.schema import Schema

SCHEMAS = Path(__file__).parents[2] / "schemas"
FILES = {
    "adult": "adult.csv",
    "artificial_characters": "artificial_characters_train.csv",
    "heart_bom": "heart_bom.csv",
    "nist_ma2019": "nist_ma2019.csv",
    "person_activity": "person_activity_a.csv",
}
CELLS = {
    "adult": (74, 9, 60, 16, 16, 7, 15, 6, 5, 2, 102, 51, 99, 42, 2),
    "artificial_characters": (10, 90, 90, 90, 90, 60, 60, 10),
    "heart_bom": (84, 3, 5, 202, 602, 3, 4, 202, 3, 22, 4, 6, 5, 3),
    "nist_ma2019": (5, 100, 2, 7, 5, 9, 21, 20, 3, 3, 5, 233, 20, 13, 29, 11, 53, 7, 3, 3, 2, 2, 14, 15),
    "person_activity": (5, 4, 64, 64, 64, 64, 64, 11),
}


def test_every_schema_file_is_listed_here():
    assert {path.stem for path in SCHEMAS.glob("*.toml")} >= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_schema_loads(name):
    table = Schema.from_toml(SCHEMAS / f"{name}.toml")
    assert tuple(known.cells for known in table.columns) == CELLS[name]
    assert Schema.from_json(table.to_json()).digest == table.digest


@pytest.mark.parametrize("name", FILES)
def test_the_schema_fits_the_file(name):
    folder = os.environ.get("DPRELEASE_DATA", "../shared/data")
    path = Path(folder) / FILES[name]
    if not path.exists():
        pytest.skip(f"{path} is not here; set DPRELEASE_DATA to the folder of real data")
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = [row for row in csv.reader(file) if row]
    table = Schema.from_toml(SCHEMAS / f"{name}.toml")
    assert [text.strip() for text in header] == list(table.header)
    for known, texts in zip(table.columns, zip(*rows, strict=True), strict=True):
        assert known.problems_of_text(texts) == {}, known.name
        ticks = known.ticks_of_text(texts)
        written = known.text_of_ticks(ticks)
        if known.kind == "real":
            assert [float(text) for text in written] == [float(text) for text in texts]
        else:
            assert written == [text.strip() for text in texts]
