"""croissant.json, loaded by mlcroissant, its records read back."""

import csv
import dataclasses
import hashlib
import json
import math

import pytest

from accounting.schema import Schema
from release.exports.croissant import CONFORMS_TO, croissant
from release.exports.facts import read_facts
from release.exports.publication import Publication
from release.manifest import NOT_PROTECTED

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own

mlcroissant = pytest.importorskip("mlcroissant")


def texts(value):
    return value.decode() if isinstance(value, bytes) else value


def rows_of(released):
    with (released / "synthetic.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return rows


def test_it_loads_as_1_1_without_a_complaint(released, published):
    dataset = mlcroissant.Dataset(jsonld=published(released, "croissant", "croissant.json"))
    context = dataset.metadata.ctx
    assert context.is_v1_1()
    assert not context.issues.errors
    assert not context.issues.warnings


def test_records_read_back_from_parquet_are_the_rows(released, published):
    dataset = mlcroissant.Dataset(jsonld=published(released, "croissant", "croissant.json"))
    records = list(dataset.records("rows"))
    schema = Schema.from_json(json.loads((released / "schema.json").read_bytes()))
    rows = rows_of(released)
    assert len(records) == len(rows) > 100
    for number, column in enumerate(schema.columns):
        key = f"rows/{column.name.replace(' ', '%20')}"
        expected = column.values_of_ticks(column.ticks_of_text([row[number] for row in rows]))
        for record, value in zip(records, expected, strict=True):
            read = texts(record[key])
            if column.kind in {"date", "datetime"} and read is not None:
                read = read.to_pydatetime() if column.kind == "datetime" else read.date()
            assert read == (float(value) if column.kind == "real" else value), column.name


def test_records_read_back_from_csv_keep_the_texts_that_a_loader_would_misread(released, published):
    path = published(released, "croissant", "croissant.json")
    facts = read_facts(released, Publication())
    without_parquet = tuple(file for file in facts.published if file.name != "synthetic.parquet")
    path.write_bytes(croissant(dataclasses.replace(facts, published=without_parquet)))
    records = list(mlcroissant.Dataset(jsonld=path).records("rows"))
    rows = rows_of(released)
    assert len(records) == len(rows)
    for record, row in zip(records, rows, strict=True):
        assert texts(record["rows/ward"]) == row[0]
        assert (texts(record["rows/insured"]) or "") == row[1]
        assert texts(record["rows/hours"]) == row[2]
        assert math.isclose(record["rows/cost%20per%20day"], float(row[3]))
        assert (texts(record["rows/day"]) or "") == row[4]
        assert texts(record["rows/born"]) == row[6]


def test_every_file_is_listed_with_its_digest_and_size(released, published):
    path = published(released, "croissant", "croissant.json")
    listed = {file["contentUrl"]: file for file in json.loads(path.read_bytes())["distribution"]}
    assert set(listed) == {f"{released.name}/{file.name}" for file in released.iterdir()}
    for file in released.iterdir():
        assert listed[f"{released.name}/{file.name}"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert listed[f"{released.name}/{file.name}"]["contentSize"] == f"{file.stat().st_size} B"


def test_a_changed_table_is_not_read(released, published):
    path = published(released, "croissant", "croissant.json")
    table = path.parent / released.name / "synthetic.parquet"
    table.write_bytes(table.read_bytes() + b"\0")
    with pytest.raises(Exception, match=r"synthetic\.parquet") as refused:
        list(mlcroissant.Dataset(jsonld=path).records("rows"))
    assert "hash" in str(refused.value.__cause__).lower()


def test_the_categories_are_an_enumeration(released, published):
    dataset = mlcroissant.Dataset(jsonld=published(released, "croissant", "croissant.json"))
    values = [record["values/ward/name"] for record in dataset.records("values/ward")]
    assert values == ["01", "02", "unknown", 'a, "b"']


def test_the_guarantee_stands_where_the_vocabulary_has_a_place(released, published):
    path = published(released, "croissant", "croissant.json")
    assert tuple(json.loads(path.read_bytes())["conformsTo"]) == CONFORMS_TO
    metadata = mlcroissant.Dataset(jsonld=path).metadata
    protected = " ".join(metadata.personal_sensitive_information)
    assert "Each row of the private table is protected" in protected
    assert all(item in protected for item in NOT_PROTECTED)
    assert any("Linking rows to people" in text for text in metadata.data_limitations)
    assert "Teaching." in metadata.data_use_cases
    assert "ρ at most 0.25" in json.dumps(json.loads(path.read_bytes()), ensure_ascii=False)
    assert metadata.license == ["https://spdx.org/licenses/CC-BY-4.0.html"]
