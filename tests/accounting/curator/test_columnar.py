"""Parquet and Arrow files: read by their types, equal to the CSV of the same table, refused for their form only."""

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path

import pytest

from accounting.curator import FileForm, check_file, columnar, load
from accounting.errors import ConfigError, InputFileError
from accounting.unit import PersonUnit, RowUnit
from tests.accounting.curator.tables import CANARY_SCHEMA as SCHEMA
from tests.accounting.curator.tables import categorical, cells_of, person, schema_of, write

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, parquet  # noqa: E402  # after the skip

TABLE = {"who": ["x", None, "y", "y"], "letter": ["a", None, "c", "zebra"], "age": [1, 2, None, 400]}


def save(path: Path, table: object, kind: str) -> Path:
    if kind == "parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("unit", [RowUnit(), person(1)], ids=["row", "person"])
def test_typed_files_equal_the_csv_of_the_same_table(tmp_path, kind, unit, monkeypatch):
    monkeypatch.setattr(columnar, "_ROWS_PER_CHUNK", 3)
    typed = save(tmp_path / "t", pa.table(TABLE), kind)
    text = write(tmp_path / "t.csv", "who,letter,age\nx,a,1\n,,2\ny,c,\ny,zebra,400\n")
    assert check_file(typed, SCHEMA, unit) == FileForm(kind, None)
    found, expected = load(typed, SCHEMA, unit), load(text, SCHEMA, unit)
    assert found.commit(bytes(32)) == expected.commit(bytes(32))
    assert found.cells_for_curator().rows == expected.cells_for_curator().rows == (4 if unit == RowUnit() else 2)
    if unit == RowUnit():
        assert cells_of(found, "letter") == cells_of(expected, "letter") == [0, 3, 2, 3]
        assert cells_of(found, "age") == cells_of(expected, "age")


KINDS = schema_of(
    {"name": "flag", "kind": "boolean", "nullable": True},
    {"name": "real", "kind": "real", "min": 0, "max": 10, "decimals": 1, "bins": 5, "nullable": True},
    {"name": "day", "kind": "date", "format": "%d.%m.%Y", "resolution": "day"}
    | {"min": "2000-01-01", "max": "2000-01-31", "nullable": True},
    categorical("code", ("1", "2")),
    {"name": "who", "kind": "identifier"},
)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_types(tmp_path, kind):
    day = dt.date(2000, 1, 3)
    table = pa.table(
        {
            "flag": pa.array([True, False, None]),
            "real": pa.array([0.1, float("inf"), float("nan")], pa.float32()),
            "day": pa.array([day, None, dt.date(1000, 1, 1)]),
            "code": pa.array([1.0, 2.0, None]).dictionary_encode(),
            "who": pa.array([Decimal("1.5"), Decimal("2.5"), None]),
        }
    )
    path = save(tmp_path / "t", table, kind)
    rows = load(path, KINDS, RowUnit())
    assert cells_of(rows, "flag") == [1, 0, 2]
    assert cells_of(rows, "real")[0] == 0
    assert cells_of(rows, "day")[:2] == [2, 31]
    assert cells_of(rows, "code") == [0, 1, 2]
    assert load(path, KINDS, person(1)).cells_for_curator().rows == 2


@pytest.mark.parametrize(
    ("ids", "persons"),
    [
        (pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes, uuid.UUID(int=1).bytes, None], pa.uuid()), 2),
        (pa.array([1, 2, 1, None]), 2),
        (pa.array([1.0, 2.5, 1.0, None]), 2),
        (pa.array(["x", "X", "x", None]).dictionary_encode(), 2),
        (pa.array([b"\xff", b"\xfe", b"\xff", None]), 2),
        (pa.array(["1", "01", "1", ""]), 2),
    ],
    ids=["uuid", "integer", "float", "dictionary", "binary", "text"],
)
def test_ids_of_every_plain_type(tmp_path, ids, persons):
    schema = schema_of(categorical("letter"), {"name": "who", "kind": "identifier"})
    path = save(tmp_path / "t", pa.table({"letter": ["a"] * 4, "who": ids}), "arrow")
    assert load(path, schema, person(1)).cells_for_curator().rows == persons
    assert load(path, schema, person(2)).cells_for_curator().rows == 3


def test_identifiers_that_are_not_needed_may_be_of_any_type(tmp_path):
    table = pa.table({"letter": ["a"], "who": [[1, 2]], "when": [dt.time(1)]})
    schema = schema_of(
        categorical("letter"), {"name": "who", "kind": "identifier"}, {"name": "when", "kind": "identifier"}
    )
    path = save(tmp_path / "t", table, "parquet")
    assert load(path, schema, RowUnit()).cells_for_curator().rows == 1
    with pytest.raises(InputFileError, match="column 'who' holds no plain values"):
        load(path, schema, person(1))
    with pytest.raises(InputFileError, match="the id column 'when' holds dates or times"):
        load(path, schema, PersonUnit("when", 1))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_modelled_columns_of_lists_are_refused(tmp_path, kind):
    path = save(tmp_path / "t", pa.table({"letter": [["a"]], "age": [1], "who": ["x"]}), kind)
    for read in (check_file, load):
        with pytest.raises(InputFileError, match="column 'letter' holds no plain values"):
            read(path, SCHEMA, RowUnit())


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_headers_are_matched_as_in_csv(tmp_path, kind):
    path = save(tmp_path / "t", pa.table({"letter": ["a"], "age": [1], "__index_level_0__": [0]}), kind)
    with pytest.raises(InputFileError, match="lacks 'who'; the schema does not name the file's columns number 3"):
        check_file(path, SCHEMA, RowUnit())


def test_columns_with_dots_and_commas_in_their_names(tmp_path):
    schema = schema_of(categorical("a.b"), categorical("a"), categorical("c, d"))
    path = save(tmp_path / "t", pa.table({"a.b": ["b"], "a": ["a"], "c, d": ["c"]}), "parquet")
    rows = load(path, schema, RowUnit())
    assert [cells_of(rows, name) for name in ("a.b", "a", "c, d")] == [[1], [0], [2]]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_empty_tables_and_all_null_columns(tmp_path, kind):
    nothing = pa.table({"letter": pa.nulls(0), "age": pa.array([], pa.int8()), "who": pa.array([], pa.string())})
    assert load(save(tmp_path / "t", nothing, kind), SCHEMA, person(2)).cells_for_curator().rows == 0
    nulls = pa.table({"letter": pa.nulls(2), "age": pa.nulls(2), "who": pa.nulls(2)})
    assert cells_of(load(save(tmp_path / "t", nulls, kind), SCHEMA, RowUnit()), "letter") == [3, 3]
    assert load(save(tmp_path / "t", nulls, kind), SCHEMA, person(2)).cells_for_curator().rows == 0


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_damaged_files_are_refused(tmp_path, kind):
    path = save(tmp_path / "t", pa.table({"letter": ["a"] * 100, "age": [1] * 100, "who": ["x"] * 100}), kind)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    for read in (check_file, load):
        with pytest.raises(ConfigError, match="damaged, encrypted or cut off"):
            read(path, SCHEMA, RowUnit())


def test_a_page_damaged_in_the_middle_is_found_by_the_check(tmp_path):
    path = tmp_path / "t"
    table = pa.table(
        {"letter": ["a", "b"] * 5000, "age": list(range(10)) * 1000, "who": [str(i) for i in range(10000)]}
    )
    parquet.write_table(table, path, compression="gzip", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[200:260] = bytes(60)
    path.write_bytes(bytes(data))
    for read in (check_file, load):
        with pytest.raises(InputFileError, match="damaged"):
            read(path, SCHEMA, person(1))
