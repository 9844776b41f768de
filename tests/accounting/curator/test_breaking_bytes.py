"""Bytes that break parsers: each file is read as it stands, or refused by its form; no value ever makes it fail."""

from pathlib import Path

import pytest

from accounting.curator import check_file, load
from accounting.errors import InputFileError
from accounting.schema import Schema
from accounting.unit import RowUnit
from tests.accounting.curator.tables import categorical, cells_of, schema_of

SCHEMA = schema_of(categorical("letter"), {"name": "age", "kind": "integer", "min": 0, "max": 9, "nullable": True})
NULL_AGE = 10


def ages(tmp_path: Path, data: bytes, encoding: str = "utf-8", schema: Schema = SCHEMA) -> list[int]:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    check_file(path, schema, RowUnit(), encoding=encoding)
    return cells_of(load(path, schema, RowUnit(), encoding=encoding), "age")


@pytest.mark.parametrize(
    ("data", "encoding", "expected"),
    [
        (b"letter,age\na,1\x00\nb,2\n", "utf-8", [NULL_AGE, 2]),
        (b"letter,age\r\na,1\rb,2\n\rc,3", "utf-8", [1, 2, 3]),
        (b"letter,age\n\n\n\na,1\n   \nb,2\n", "utf-8", [1, 2]),
        ("letter,age\na,1\nb,2\n".encode("utf-16-le"), "utf-16-le", [1, 2]),
        ("\ufeffletter,age\na,1\n".encode("utf-16-be"), "utf-16-be", [1]),
        ("letter,age\na,1\n".encode("utf-16"), "utf-16", [1]),
        ("\ufeffletter,age\na,1\n".encode("utf-32-le"), "utf-32-le", [1]),
        (b'\xef\xbb\xbf"letter","age"\n"a","1"\n', "utf-8", [1]),
        (b"letter,age\n\xef\xbb\xbfa,1\nb,\xef\xbb\xbf2\n", "utf-8", [1, NULL_AGE]),
        (b'letter,age\n"a","1"\n"b"\n,2\n'.replace(b'"b"\n,2', b'"b\n",2'), "utf-8", [1, 2]),
        (b"age,letter\n1,a\n", "utf-8", [1]),
        (b"letter,age\na, 1\na,1 \na,\t1\n", "utf-8", [NULL_AGE] * 3),
        ("letter,age\na,1\u20282\nb,3\n".encode(), "utf-8", [NULL_AGE, 3]),
        ("letter,age\na,1\x85\nb,3\n".encode("latin-1"), "latin-1", [NULL_AGE, 3]),
        (b"letter,age\na,1\x1a\nb,3\n\x1a,4\n", "utf-8", [NULL_AGE, 3, 4]),
        (b"letter,age\na,1\x0c\nb,2\x0b\n", "utf-8", [NULL_AGE, NULL_AGE]),
        (b"letter,age\n" + b"x" * 131_072 + b",4\n", "utf-8", [4]),
        (b"letter,age\n" + b"a,1\n" * 3 + b"\xc3\xa9,2\n", "latin-1", [1, 1, 1, 2]),
    ],
    ids=[
        "NUL in a number",
        "mixed line ends",
        "blank lines",
        "UTF-16 without a mark",
        "UTF-16 big-endian with a mark",
        "UTF-16 with a mark",
        "UTF-32",
        "a mark before a quoted header",
        "marks inside",
        "a line break in quotes",
        "another order",
        "blanks around",
        "a Unicode line separator",
        "NEL",
        "control-Z",
        "form feed and vertical tab",
        "a cell of the greatest length",
        "UTF-8 read as Latin-1",
    ],
)
def test_read_as_it_stands(tmp_path, data, encoding, expected):
    assert ages(tmp_path, data, encoding) == expected


@pytest.mark.parametrize(
    ("data", "encoding", "words"),
    [
        (b"letter,age\na,1\n\xed\xa0\x80,2\n", "utf-8", "not encoded as utf-8"),
        (b"letter,age\na,1\n\xc0\x80,2\n", "utf-8", "not encoded as utf-8"),
        (b"letter,age\na,1\n\xf5\x80\x80\x80,2\n", "utf-8", "not encoded as utf-8"),
        ("letter,age\na,1\n".encode("utf-16-le") + b"\x00\xd8", "utf-16-le", "not encoded as utf-16-le"),
        ("letter,age\na,1\n".encode("utf-16-le")[:-1], "utf-16-le", "not encoded as utf-16-le"),
        (b"letter,age\na,\x81\n", "cp1252", "not encoded as cp1252"),
        ("letter,age\n".encode("utf-16"), "utf-8", "encoded as UTF-16"),
        (b"letter,age,\na,1,\n", "utf-8", "columns number 3"),
        (b"letter,age\na,1,\n", "utf-8", "more or fewer cells"),
        (b"letter,age\na\n", "utf-8", "more or fewer cells"),
        (b"letter,,age\na,,1\n", "utf-8", "columns number 2"),
        (b'"letter,age"\na,1\n', "utf-8", "if the file has no header"),
        (b"letter,age\n" + b"x" * 131_073 + b",4\n", "utf-8", "longer than 131072 characters"),
        (b"sep=,\nletter,age\na,1\n", "utf-8", "if the file has no header"),
        (b"\x00letter,age\na,1\n", "utf-8", "lacks 'letter'"),
    ],
    ids=[
        "a surrogate in UTF-8",
        "an overlong NUL",
        "beyond Unicode",
        "half a surrogate pair",
        "half a character",
        "an unassigned byte",
        "UTF-16 unannounced",
        "a comma after each line",
        "a comma after each row",
        "a short row",
        "a nameless column",
        "a header in one pair of quotes",
        "a cell over the greatest length",
        "a spreadsheet's hint",
        "NUL in the header",
    ],
)
def test_refused_by_its_form(tmp_path, data, encoding, words):
    with pytest.raises(InputFileError, match=words):
        ages(tmp_path, data, encoding)


def test_carriage_returns_alone_end_lines(tmp_path):
    assert ages(tmp_path, b"letter,age\ra,1\r\r\rb,2\r") == [1, 2]
    assert ages(tmp_path, "letter,age\ra,1\r".encode("utf-16"), "utf-16") == [1]


def test_two_thousand_columns_in_long_lines(tmp_path):
    names = [f"c{number}" for number in range(2000)]
    wide = schema_of(*(categorical(name) for name in names), *SCHEMA.declared[1:])
    line = ",".join(["a"] * 2000)
    assert ages(tmp_path, f"{','.join(names)},age\n{line},3\n".encode(), schema=wide) == [3]
