"""Real tables from start to end: schema check, plan, run, verify, output read back by its schema."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from accounting.schema import Schema

DATA = Path(os.environ.get("DPRELEASE_DATA", Path(__file__).parents[3] / "shared" / "data"))
SCHEMAS = Path(__file__).parents[1] / "schemas"
TABLES = {
    "adult": ("adult.csv", 32561),
    "nist_ma2019": ("nist_ma2019.csv", 7634),
    "heart_bom": ("heart_bom.csv", 303),
    "person_activity": ("person_activity_a.csv", 24729),
    "artificial_characters": ("artificial_characters_train.csv", 7152),
}
RELEASE = """\
version = 1
dataset = "{name}"
schema = "{schema}"
data = "{data}"
[unit]
kind = "row"
[budget]
rho = "1/2"
delta = 1e-6
[mechanism]
kind = "independent"
[output]
formats = ["csv", "parquet"]
"""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (rows > 20_000)) for name, (_, rows) in TABLES.items()]
)
def test_a_real_table(name, tmp_path, monkeypatch, give):
    file, rows = TABLES[name]
    data, schema = DATA / file, SCHEMAS / f"{name}.toml"
    if not data.is_file():
        pytest.skip(f"{file} is not in {DATA} (DPRELEASE_DATA)")
    monkeypatch.chdir(tmp_path)
    give("init")
    give("keys new")
    assert give(f"ledger open {name} --unit row --law zcdp --rho 1").code == 0
    Path("release.toml").write_text(RELEASE.format(name=name, schema=schema, data=data))
    checked = give(f"schema check {data} --schema {schema} --json")
    assert checked.code == 0, checked.out
    assert checked.document["rows"] == rows
    assert give("plan").code == 0
    made = give("run --yes --json")
    assert made.code == 0, made.err
    release = Path(made.document["folder"])
    assert abs(made.document["rows"] - rows) < 300
    assert give(f"verify {release}").code == 0
    check_output(release, Schema.from_toml(schema), data)


def check_output(release: Path, schema: Schema, data: Path) -> None:
    """Read the output back as any program would, and hold it against the schema and the real marginals."""
    with (release / "synthetic.csv").open(encoding="utf-8", newline="") as file:
        header, *body = csv.reader(file)
    assert header == [column.name for column in schema.columns]
    with data.open(encoding="utf-8-sig", newline="") as file:
        names, *real = (row for row in csv.reader(file) if row)
    position = {name.strip(): index for index, name in enumerate(names)}
    for index, column in enumerate(schema.columns):
        texts = [row[index] for row in body]
        assert not column.problems_of_text(texts)
        ticks = column.ticks_of_text(texts)
        assert column.text_of_ticks(ticks) == texts
        share = np.bincount(column.cell_of_tick(ticks), minlength=column.cells) / len(body)
        cells = column.cell_of_tick(column.ticks_of_text([row[position[column.name]] for row in real]))
        truth = np.bincount(cells, minlength=column.cells) / len(real)
        noise = column.cells * len(schema.columns) ** 0.5 / len(real)
        assert abs(share - truth).sum() / 2 <= 0.01 + noise, column.name
