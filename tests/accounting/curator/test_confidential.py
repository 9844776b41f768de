"""Confidential values are shown to nobody by accident, and the schema check counts without quoting."""

import copy
import gzip
import json
import pickle

import pytest

from accounting.canonical import canonical_bytes
from accounting.confidential import Confidential, FormFault, schema_check
from accounting.errors import ConfigError, InputFileError
from accounting.schema import Problem, Schema
from accounting.unit import PersonUnit, RowUnit
from tests.accounting.curator.tables import CANARY_SCHEMA as SCHEMA
from tests.accounting.curator.tables import person, schema_of, write

HEADER = "letter,age,who\n"


def check(tmp_path, text, unit=None):
    path = write(tmp_path / "t.csv", text)
    return schema_check(path, SCHEMA, unit or RowUnit()).reveal_to_curator()


def test_p29_a_confidential_value_is_withheld_from_every_writer():
    value = Confidential({"rows": 7919})
    assert repr(value) == str(value) == f"{value}" == "<Confidential: contents withheld>"
    assert "7919" not in repr([value, {"x": value}])
    for write_it in (json.dumps, canonical_bytes, lambda it: canonical_bytes({"a": [it]}), pickle.dumps, copy.deepcopy):
        with pytest.raises((TypeError, ValueError, ConfigError)):
            write_it(value)
    with pytest.raises(TypeError):
        vars(value)
    with pytest.raises(TypeError):
        list(value)
    assert value != Confidential({"rows": 7919})
    assert value.reveal_to_curator() == {"rows": 7919}


def test_a_clean_file(tmp_path):
    report = check(tmp_path, HEADER + "a,1,x\n,2,y\n", person(1))
    assert report.is_clean
    assert report.rows == 2
    assert report.problems == {"letter": {}, "age": {}}


def test_rules_are_counted_by_column(tmp_path):
    report = check(tmp_path, HEADER + "zebra,400,x\nzebra,-1,x\na,,x\nb,eleven,\n,3,\n")
    assert not report.is_clean
    assert report.rows == 5
    assert report.problems["letter"] == {Problem.UNDECLARED: 2}
    assert report.problems["age"] == {Problem.ABOVE: 1, Problem.BELOW: 1, Problem.NULL: 1, Problem.UNREADABLE: 1}
    assert "zebra" not in repr(report)


def test_persons_beyond_the_unit_and_rows_without_an_id(tmp_path):
    report = check(tmp_path, HEADER + "a,1,x\n" * 5 + "a,1,y\n" * 2 + "a,1,\n" * 3, person(2))
    assert (report.null_ids, report.crowded_persons, report.dropped_rows) == (3, 1, 3)
    assert not report.is_clean
    assert check(tmp_path, HEADER + "a,1,x\n" * 5).is_clean
    assert not check(tmp_path, HEADER + "a,1,\n", person(2)).is_clean


def test_faults_of_form_are_reported_with_their_lines(tmp_path):
    report = check(tmp_path, HEADER + 'a,1,x\n\na,1\n"two\nlines",1,y,z\nb,2,y\n')
    assert [fault.line for fault in report.faults] == [4, 6]
    assert {fault.rule for fault in report.faults} == {"a row has more or fewer cells than the header"}
    assert report.rows == 2
    assert not report.is_clean


def test_an_unreadable_line_ends_the_report(tmp_path):
    report = check(tmp_path, HEADER + 'a,1,x\na,1\nb,2,"y\nc,3,z\n')
    assert [fault.line for fault in report.faults] == [3, 5]
    assert report.faults[1].rule.startswith("a quoted cell is not closed")
    assert isinstance(report.faults[0], FormFault)


def test_header_faults_are_refused_as_ever(tmp_path):
    with pytest.raises(InputFileError, match="lacks 'who'"):
        check(tmp_path, "letter,age\n")
    with pytest.raises(ConfigError, match="not an identifier"):
        check(tmp_path, HEADER, PersonUnit("age", 1))


def test_a_file_that_vanishes_between_its_header_and_its_rows(tmp_path, monkeypatch):
    from accounting.curator import delimited

    path = write(tmp_path / "t.csv", HEADER)
    real = delimited.match_header

    def match_and_vanish(*args: object) -> dict[str, int]:
        path.unlink()
        return real(*args)

    monkeypatch.setattr(delimited, "match_header", match_and_vanish)
    with pytest.raises(InputFileError, match="cannot be read: No such file"):
        schema_check(path, SCHEMA, RowUnit())


def test_compressed_and_typed_files(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((HEADER + "zebra,1,x\n").encode()))
    report = schema_check(tmp_path / "t.csv.gz", SCHEMA, RowUnit()).reveal_to_curator()
    assert report.problems["letter"] == {Problem.UNDECLARED: 1}
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"letter": ["zebra", "zebra", None], "age": [1, None, 400], "who": ["x", "x", None]})
    parquet.write_table(table, tmp_path / "t.parquet")
    report = schema_check(tmp_path / "t.parquet", SCHEMA, person(1)).reveal_to_curator()
    assert report.problems == {"letter": {Problem.UNDECLARED: 2}, "age": {Problem.NULL: 1, Problem.ABOVE: 1}}
    assert (report.rows, report.null_ids, report.crowded_persons, report.dropped_rows) == (3, 1, 1, 1)


def test_the_check_counts_the_rows_that_break_a_constraint(tmp_path):
    schema = Schema.from_text(
        '[table]\nname = "t"\n'
        '[[columns]]\nname = "low"\nkind = "integer"\nnullable = true\nmin = 0\nmax = 9\n'
        '[[columns]]\nname = "high"\nkind = "integer"\nnullable = true\nmin = 0\nmax = 9\n'
        '[[constraints]]\nname = "in order"\nkind = "order"\nlow = "low"\nhigh = "high"\n'
    )
    path = tmp_path / "private.csv"
    path.write_text("low,high\n1,2\n2,1\n,1\n9,0\n")
    report = schema_check(path, schema, RowUnit()).reveal_to_curator()
    assert report.constraints == {"in order": 2}
    assert not report.is_clean
    path.write_text("low,high\n1,2\n")
    assert schema_check(path, schema, RowUnit()).reveal_to_curator().is_clean


def test_ids_that_look_like_spellings_of_one_are_counted(tmp_path):
    lines = "".join(f"a,1,{who}\n" for who in ["AB-7", "ab-7", "007", "7", "\uff17", "8", "", ""])
    path = write(tmp_path / "t.csv", "letter,age,who\n" + lines)
    report = schema_check(path, SCHEMA, person(3)).reveal_to_curator()
    assert report.similar_ids == 3
    assert schema_check(path, SCHEMA, RowUnit()).reveal_to_curator().similar_ids == 0
    form = {"canonical": ["nfkc", "casefold", "drop-leading-zeros"], "null_ids": "person"}
    declared = schema_of(*SCHEMA.declared[:2], {"name": "who", "kind": "identifier"} | form)
    report = schema_check(path, declared, person(2)).reveal_to_curator()
    assert (report.similar_ids, report.null_ids, report.crowded_persons, report.dropped_rows) == (0, 0, 1, 1)
