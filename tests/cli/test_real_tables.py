"""Real tables from start to end: schema check, plan, run, verify, output read back by its schema."""

import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
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
{mechanism}
[output]
formats = ["csv", "parquet"]
"""


SHORT = 'kind = "aim"\ndegree = 2\nmax_rounds = 6\nmax_model_size_mb = 4'


def released(name, mechanism, tmp_path, monkeypatch, give) -> tuple[Path, Schema, Path]:
    """Release a real table from start to end; return the release, its schema and the private file."""
    file, rows = TABLES[name]
    data, schema = DATA / file, SCHEMAS / f"{name}.toml"
    if not data.is_file():
        pytest.skip(f"{file} is not in {DATA} (DPRELEASE_DATA)")
    monkeypatch.chdir(tmp_path)
    give("init")
    give("keys new")
    assert give(f"ledger open {name} --unit row --law zcdp --rho 1").code == 0
    Path("release.toml").write_text(RELEASE.format(name=name, schema=schema, data=data, mechanism=mechanism))
    checked = give(f"schema check {data} --schema {schema} --json")
    assert checked.code == 0, checked.out
    assert checked.document["rows"] == rows
    assert give("plan").code == 0
    made = give("run --yes --json")
    assert made.code == 0, made.err
    release = Path(made.document["folder"])
    assert abs(made.document["rows"] - rows) < 300
    assert give(f"verify {release}").code == 0
    return release, Schema.from_toml(schema), data


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (rows > 20_000)) for name, (_, rows) in TABLES.items()]
)
def test_a_real_table(name, tmp_path, monkeypatch, give):
    check_output(*released(name, 'kind = "independent"', tmp_path, monkeypatch, give))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [SHORT, 'kind = "mst"'], ids=["aim", "mst"])
@pytest.mark.parametrize("name", ["adult", "nist_ma2019", "heart_bom", "person_activity"])
def test_a_real_table_by_a_model(name, mechanism, tmp_path, monkeypatch, give):
    release, schema, _ = released(name, mechanism, tmp_path, monkeypatch, give)
    assert inconsistent_rows(release, schema) == 0
    check_frames(release, schema)


def test_the_survey_rules_hold_in_every_row_of_a_release(tmp_path, monkeypatch, give):
    """The public rules of NIST's excerpt, stated here once more in plain Python, beside those of the schema."""
    release, schema, _ = released("nist_ma2019", 'kind = "mst"', tmp_path, monkeypatch, give)
    assert inconsistent_rows(release, schema) == 0
    with (release / "synthetic.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    assert len(people) > 7000
    for person in people:
        age, grouped = int(person["AGEP"]), person["HOUSING_TYPE"] != "1"
        for column, years in (("MSP", 15), ("PINCP", 15), ("EDU", 3), ("DREM", 5), ("DPHY", 5)):
            assert (person[column] == "N") == (age < years)
        assert age >= 16 or person["INDP"] == "N"
        assert (person["OWN_RENT"] == "0") == grouped == (person["WGTP"] == "0")
        assert (person["INDP"] == "N") == (person["INDP_CAT"] == "N")
        if "N" not in (person["NOC"], person["NPF"]):
            assert int(person["NOC"]) < int(person["NPF"])
    assert len({(person["PUMA"], person["DENSITY"]) for person in people}) == 5


def inconsistent_rows(release: Path, schema: Schema) -> int:
    with (release / "synthetic.csv").open(encoding="utf-8", newline="") as file:
        _, *body = csv.reader(file)
    columns = zip(schema.columns, zip(*body, strict=True), strict=True)
    ticks = {column.name: column.ticks_of_text(texts) for column, texts in columns}
    return sum(int(found.sum()) for found in schema.broken(ticks).values())


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
    check_frames(release, schema)


TYPES = {
    "integer": ("Int64", pl.Int64),
    "real": ("Float64", pl.Float64),
    "boolean": ("boolean", pl.Boolean),
    "categorical": ("string", pl.String),
}
"""The types of the trials' columns in pandas and polars."""


def check_frames(release: Path, schema: Schema) -> None:
    """Read the output back in pandas and polars: the schema's header, types and nulls, and one content in all four."""
    text, typed = release / "synthetic.csv", release / "synthetic.parquet"
    pandas = pd.read_parquet(typed, dtype_backend="numpy_nullable")
    polars = pl.read_parquet(typed)
    as_text = pl.read_csv(text, infer_schema=False).fill_null("")
    names = [column.name for column in schema.columns]
    assert list(pandas) == polars.columns == as_text.columns == list(pd.read_csv(text, nrows=5)) == names
    assert len(pandas) == polars.height == as_text.height > 0
    for column in schema.columns:
        in_pandas, in_polars = pandas[column.name], polars[column.name]
        assert (str(in_pandas.dtype).removesuffix("[python]"), in_polars.dtype) == TYPES[column.kind]
        assert column.nullable or in_polars.null_count() == int(in_pandas.isna().sum()) == 0
        ticks = column.ticks_of_values(in_polars.to_list())
        assert column.text_of_ticks(ticks) == as_text[column.name].to_list()
        assert np.array_equal(
            column.ticks_of_values(in_pandas.astype(object).where(in_pandas.notna(), None).to_list()), ticks
        )
