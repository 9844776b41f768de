"""Loading: TOML in, canonical JSON and digest out, and every refusal names the column, the rule and what to write."""

import json
from decimal import Decimal

import pytest

from accounting.canonical import canonical_bytes
from accounting.errors import InputFileError, SchemaError
from accounting.schema import IntegerColumn, RealColumn, Schema
from tests.accounting.schema.building import LEAST, column, keys, schema

WHOLE = """
[table]
name = "clinic"
max_rows = 5000
description = "visits of one year"

[[columns]]
name = "patient"
kind = "identifier"

[[columns]]
name = "age"
kind = "integer"
nullable = true
min = 0
max = 120
edges = [18, 65]

[[columns]]
name = "sex"
kind = "categorical"
nullable = false
categories = ["F", "M"]
replacement = "F"

[[columns]]
name = "dose"
kind = "real"
nullable = true
min = 0.1
max = 0.3
decimals = 1
bins = 3

[[columns]]
name = "day"
kind = "date"
nullable = true
format = "%d.%m.%Y"
min = 2020-01-01
max = 2020-12-31
resolution = "month"

[[columns]]
name = "seen"
kind = "datetime"
nullable = true
format = "%Y-%m-%dT%H:%M:%S%z"
min = 2020-01-01T00:00:00
max = 2020-12-31T23:59:59
resolution = "hour"
edges = [2020-07-01T00:00:00]
utc_offset = "+01:00"

[[columns]]
name = "smoker"
kind = "boolean"
nullable = true
true_values = ["yes", "y"]
false_values = ["no"]
"""


def test_toml_gives_the_declared_table():
    clinic = Schema.from_text(WHOLE)
    assert (clinic.name, clinic.max_rows) == ("clinic", 5000)
    assert clinic.header == ("patient", "age", "sex", "dose", "day", "seen", "smoker")
    assert [known.name for known in clinic.columns] == ["age", "sex", "dose", "day", "seen", "smoker"]
    assert [known.kind for known in clinic.columns] == ["integer", "categorical", "real", "date", "datetime", "boolean"]
    assert clinic.identifiers == ("patient",)
    assert [known.ticks for known in clinic.columns] == [121, 2, 3, 12, 366 * 24, 2]
    assert [known.cells for known in clinic.columns] == [4, 2, 4, 13, 3, 3]
    assert schema(keys("integer")).max_rows is None


def test_toml_numbers_are_exact():
    dose = Schema.from_text(WHOLE).column("dose")
    assert isinstance(dose, RealColumn)
    assert (dose.min, dose.max) == (Decimal("0.1"), Decimal("0.3"))
    assert dose.text_of_ticks([0, 1, 2]) == ["0.1", "0.2", "0.3"]


def test_json_round_trip_keeps_schema_and_digest():
    clinic = Schema.from_text(WHOLE)
    document = json.loads(canonical_bytes(clinic.to_json()))
    again = Schema.from_json(document)
    assert again == clinic
    assert again.digest == clinic.digest
    assert again.to_json() == clinic.to_json()
    assert len(clinic.digest) == 64


def test_defaults_written_out_are_the_same_schema():
    short = schema(keys("categorical"), keys("integer", name="n"))
    long = schema(
        keys("categorical", null_strings=[""], undeclared="null", strip=False),
        keys("integer", name="n", out_of_range="clip", points=[], min="0", max=Decimal("99.0")),
    )
    assert short.digest == long.digest


CHANGES = [
    ("table", {"name": "u"}),
    ("table", {"max_rows": 10}),
    ("table", {"description": "d"}),
    ("integer", {"name": "y"}),
    ("integer", {"description": "d"}),
    ("integer", {"strip": True}),
    ("integer", {"nullable": False, "replacement": 0}),
    ("integer", {"null_strings": ["", "NA"]}),
    ("integer", {"min": 1}),
    ("integer", {"max": 98}),
    ("integer", {"edges": [10]}),
    ("integer", {"bins": 10}),
    ("integer", {"bins": 10, "points": [5]}),
    ("integer", {"out_of_range": "null"}),
    ("integer", {"out_of_range": "replacement", "replacement": 3}),
    ("real", {"decimals": 3}),
    ("categorical", {"categories": ["b", "a", "c"]}),
    ("categorical", {"undeclared": "other", "other": "a"}),
    ("categorical", {"undeclared": "other", "other": "b"}),
    ("boolean", {"true_values": ["TRUE"]}),
    ("boolean", {"false_values": ["FALSE"]}),
    ("date", {"format": "%Y%m%d"}),
    ("date", {"resolution": "month"}),
    ("datetime", {"utc_offset": "+00:00"}),
    ("identifier", {"null_strings": ["0"]}),
]


def test_any_change_changes_the_digest():
    base = {kind: {**keys(kind), "name": kind} for kind in LEAST}
    digests = {schema(*base.values()).digest}
    for kind, change in CHANGES:
        changed = {**base, kind: {**base[kind], **change}} if kind != "table" else base
        digests.add(schema(*changed.values(), **(change if kind == "table" else {})).digest)
    assert len(digests) == len(CHANGES) + 1


def test_from_toml_reads_a_file_also_with_a_byte_order_mark(tmp_path):
    (tmp_path / "schema.toml").write_text(WHOLE, encoding="utf-8-sig")
    assert Schema.from_toml(tmp_path / "schema.toml").digest == Schema.from_text(WHOLE).digest
    assert Schema.from_toml(str(tmp_path / "schema.toml")).name == "clinic"


def test_from_toml_refuses_missing_and_unreadable_files(tmp_path):
    with pytest.raises(InputFileError, match="cannot be read: No such file"):
        Schema.from_toml(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes('[table]\nname = "é"\n'.encode("latin-1"))
    with pytest.raises(InputFileError, match="not UTF-8"):
        Schema.from_toml(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[table", "not valid TOML"),
        (f"x = {'1' * 5000}", "not valid TOML"),
        ("", r"'table' is missing; add the line \[table\]"),
        ('[table]\nname = "t"', r"'columns' is missing; add the line \[\[columns\]\]"),
        ('table = "t"', r"\[table\] is a table of keys and values"),
        ('[table]\nname = "t"\n[columns]\nname = "x"', r"under the line \[\[columns\]\]"),
        ('columns = [1]\n[table]\nname = "t"', "column number 1 is a table of keys"),
        (
            '[table]\nname = "t"\n[[column]]\nname = "x"',
            "unknown key 'column'; did you mean 'columns'|'columns' is missing",
        ),
        (
            '[table]\nmax_rows = 5\n[[columns]]\nname = "x"',
            r"\[table\]: the key 'name' is missing; add the line name = ",
        ),
        ('[table]\nname = "t"\nmaxrows = 5', r"\[table\]: unknown key 'maxrows'; did you mean 'max_rows'"),
        ('[table]\nname = "t"\nmax_rows = 0', r"\[table\]: max_rows: input should be greater than or equal to 1"),
        ('[table]\nname = "t"\nmax_rows = true', r"\[table\]: max_rows must be a whole number"),
        ('[table]\nname = " t"', r"\[table\]: name: a name is not empty"),
        (
            '[table]\nname = "t"\n[[columns]]\nkind = "integer"',
            'column number 1 needs a name in quotes; add the line name = "…"',
        ),
        ('[table]\nname = "t"\n[[columns]]\nname = 1\nkind = "integer"', "column number 1 needs a name in quotes"),
        (
            '[table]\nname = "t"\n[[columns]]\nname = "x"',
            "column 'x': the key 'kind' is missing; known here: categorical, ",
        ),
        (
            '[table]\nname = "t"\n[[columns]]\nname = "x"\nkind = "int"',
            "column 'x': there is no kind 'int'; did you mean",
        ),
        ('[table]\nname = "t"\n[[columns]]\nname = "x"\nkind = 3', "column 'x': there is no kind 3; known here: "),
        (
            '[table]\nname = "t"\n[[columns]]\nname = "x"\nkind = "identifier"',
            "at least one column that is no identifier",
        ),
    ],
)
def test_a_broken_file_is_refused_with_what_to_write(text, rule):
    with pytest.raises(SchemaError, match=rule):
        Schema.from_text(text)


@pytest.mark.parametrize(
    ("kind", "change", "rule"),
    [
        (
            "integer",
            {"nullable": None},
            "the key 'nullable' is missing; add the line nullable = true or nullable = false",
        ),
        ("integer", {"nullable": "true"}, "nullable must be true or false, without quotes"),
        ("integer", {"nulable": True}, "unknown key 'nulable'; did you mean 'nullable'"),
        ("integer", {"zzz": 1}, "unknown key 'zzz'; known here: name, kind, description"),
        ("identifier", {"nullable": True}, "unknown key 'nullable'; did you mean 'null_strings'|known here"),
        ("integer", {"description": 5}, 'description must be a text in quotes: write "1", not 1'),
        ("integer", {"null_strings": "NA"}, "null_strings must be a list in brackets"),
        ("integer", {"null_strings": ["NA", "NA"]}, "the null string 'NA' is declared twice"),
        ("integer", {"null_strings": []}, "a nullable column needs at least one null string"),
        ("integer", {"null_strings": [" NA"], "strip": True}, "the null string ' NA' has blanks around it"),
        ("identifier", {"null_strings": ["0", "0"]}, "the null string '0' is declared twice"),
        ("integer", {"out_of_range": "drop"}, "out_of_range must be 'clip', 'null' or 'replacement'"),
        ("integer", {"bins": 0}, "bins: input should be greater than or equal to 1"),
        ("integer", {"bins": True}, "bins must be a whole number"),
        ("categorical", {"description": "\ud800"}, "description: a text must be valid Unicode"),
    ],
)
def test_a_broken_column_is_refused_with_what_to_write(kind, change, rule):
    with pytest.raises(SchemaError, match=rule) as caught:
        column(kind, **change)
    assert caught.value.column == "x"
    assert str(caught.value).startswith("column 'x': ")


def test_a_column_without_a_name_is_refused():
    with pytest.raises(SchemaError, match="'name' is missing") as caught:
        IntegerColumn(nullable=True, min=0, max=1)
    assert caught.value.column is None


@pytest.mark.parametrize("name", ["", " a", "a\t", "\ufeffage", "\u00a0"])
def test_names_that_no_header_can_give_are_refused(name):
    with pytest.raises(SchemaError, match="a name is not empty"):
        column("integer", name=name)


def test_names_are_kept_exactly():
    names = ["1", "007", "a,b", 'say "x"', "🙂", "é", "e\u0301", "two words", "line\nbreak", "kind", "self"]
    table = schema(*(keys("integer", name=name) for name in names))
    assert table.header == tuple(names)
    assert Schema.from_json(table.to_json()).header == tuple(names)
    assert [table.column(name).name for name in names] == names


def test_columns_are_found_by_name_or_refused_with_a_suggestion():
    clinic = Schema.from_text(WHOLE)
    assert clinic.column("age").kind == "integer"
    assert clinic.identifier("patient").kind == "identifier"
    with pytest.raises(SchemaError, match="models no column 'agee'; did you mean 'age'"):
        clinic.column("agee")
    with pytest.raises(SchemaError, match="models no column 'patient'"):
        clinic.column("patient")
    with pytest.raises(SchemaError, match="no identifier column 'age'; known here: patient"):
        clinic.identifier("age")


@pytest.mark.parametrize("document", [[], "x", {}, {"version": 2}, {"version": True}, {"version": "1"}, {1: 2}])
def test_another_json_form_is_refused(document):
    with pytest.raises(SchemaError, match=r"version 1|a table of keys"):
        Schema.from_json(document)


def test_json_with_binary_floats_or_unknown_keys_is_refused():
    document = schema(keys("real")).to_json()
    for change, rule in (({"min": 0.1}, "min: write an exact number"), ({"secret": 1}, "unknown key 'secret'")):
        broken = {**document, "columns": [{**document["columns"][0], **change}]}
        with pytest.raises(SchemaError, match=rule):
            Schema.from_json(broken)
    with pytest.raises(SchemaError, match="unknown key 'declared'"):
        Schema.from_json({**document, "declared": []})


def test_a_schema_is_frozen_and_hashable():
    clinic = Schema.from_text(WHOLE)
    with pytest.raises(ValueError, match="frozen"):
        clinic.table = None
    assert len({clinic, Schema.from_text(WHOLE)}) == 1


def test_parts_that_are_ready_made_are_taken_as_they_are():
    ready = column("integer")
    assert schema(keys("boolean", name="b")).declared != (ready,)
    assert Schema(table={"name": "t"}, columns=[ready]).columns == (ready,)
    table = Schema.from_text(WHOLE).table
    assert Schema(table=table, columns=(ready,)).name == "clinic"
