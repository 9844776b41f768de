"""datapackage.json, validated and read by frictionless against the very CSV."""

import csv
import dataclasses
import json

import pytest

from accounting.errors import ConfigError
from accounting.schema import Schema
from release.exports import export_release
from release.exports.facts import read_facts
from release.exports.frictionless import data_package
from release.exports.publication import Publication

pytestmark = pytest.mark.filterwarnings("ignore")  # the library's own

frictionless = pytest.importorskip("frictionless")


def document(path):
    return json.loads(path.read_bytes())


def field(package, name):
    (table, _) = package["resources"]
    (found,) = [field for field in table["schema"]["fields"] if field["name"] == name]
    return found


def test_it_is_valid_and_the_tables_are_what_it_says(released, published):
    report = frictionless.validate(str(published(released, "frictionless", "datapackage.json")))
    assert report.valid, report.flatten(["type", "note"])
    assert [task.name for task in report.tasks] == ["synthetic", "bounds"]


def test_frictionless_reads_every_cell_as_the_schema_means_it(released, published):
    path = published(released, "frictionless", "datapackage.json")
    read = frictionless.Package(str(path)).get_resource("synthetic").read_rows()
    schema = Schema.from_json(json.loads((released / "schema.json").read_bytes()))
    with (released / "synthetic.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    assert len(read) == len(rows) > 100
    for number, column in enumerate(schema.columns):
        texts = [row[number] for row in rows]
        assert [row[column.name] for row in read] == column.values_of_ticks(column.ticks_of_text(texts)), column.name


@pytest.mark.parametrize(
    ("old", "new"),
    [("01,", "03,"), (",yes,", ",maybe,"), (",-5,", ",-6,"), (".2020,", ".2021,"), (",2010", ",2009")],
    ids=["category", "boolean", "bound", "day", "month"],
)
def test_a_cell_outside_the_schema_is_found(released, published, old, new):
    path = published(released, "frictionless", "datapackage.json")
    table = path.parent / released.name / "synthetic.csv"
    text = table.read_text(encoding="utf-8")
    assert old in text
    table.write_text(text.replace(old, new, 1), encoding="utf-8", newline="")
    found = {kind for (kind,) in frictionless.validate(str(path)).flatten(["type"])}
    assert found & {"type-error", "constraint-error"}


def test_a_changed_byte_is_found(released, published):
    path = published(released, "frictionless", "datapackage.json")
    table = path.parent / released.name / "bounds.csv"
    table.write_bytes(table.read_bytes().replace(b"0.0", b"0.1", 1))
    assert not frictionless.validate(str(path)).valid


def test_null_is_missing_and_unknown_is_a_value(released, published):
    package = document(published(released, "frictionless", "datapackage.json"))
    ward = field(package, "ward")
    assert ward["missingValues"] == ["N", ""]
    assert "unknown" in ward["categories"]
    assert "required" not in ward["constraints"]
    cost = field(package, "cost per day")
    assert cost["missingValues"] == []
    assert cost["constraints"] == {"required": True, "minimum": 0.0, "maximum": 50.5}


def test_fields_match_is_a_word_not_a_list(released, published):
    package = document(published(released, "frictionless", "datapackage.json"))
    assert {resource["schema"]["fieldsMatch"] for resource in package["resources"]} == {"exact"}
    package["resources"][0]["schema"]["fieldsMatch"] = ["exact"]
    with pytest.raises(frictionless.FrictionlessException):
        frictionless.Package.from_descriptor(package)


def test_files_at_an_address_of_their_own(released, tmp_path, publication):
    publication.write_text('files = "https://example.org/data/"\n' + publication.read_text(encoding="utf-8"))
    export_release(released, None, kind="frictionless", out=tmp_path / "p.json", publication=publication)
    assert document(tmp_path / "p.json")["resources"][0]["path"] == "https://example.org/data/synthetic.csv"


def test_a_release_without_csv_has_no_data_package(released):
    facts = read_facts(released, Publication())
    without_csv = tuple(file for file in facts.published if file.name != "synthetic.csv")
    with pytest.raises(ConfigError, match="holds none"):
        data_package(dataclasses.replace(facts, published=without_csv))
