"""The output writer: exact header, order, text and types by the schema; nothing overwritten; it reads back."""

import csv
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

from accounting.errors import DpReleaseError
from accounting.schema import Schema
from mechanisms.table import SyntheticTable
from release.output import check_table, write_table

SCHEMA = """
[table]
name = "everything"
[[columns]]
name = "id"
kind = "identifier"
[[columns]]
name = "zip, code"
kind = "categorical"
categories = ["02116", 'a "quoted" one', "two\\nlines", "😀"]
nullable = true
[[columns]]
name = "visits"
kind = "integer"
min = -3
max = 500
nullable = true
[[columns]]
name = "female"
kind = "boolean"
true_values = ["1"]
false_values = ["0"]
nullable = true
[[columns]]
name = "price"
kind = "real"
min = -1
max = 10
decimals = 2
bins = 11
nullable = true
[[columns]]
name = "long"
kind = "real"
min = 0
max = 9000000
decimals = 9
bins = 10
nullable = false
replacement = 0
[[columns]]
name = "born"
kind = "date"
format = "%d.%m.%Y"
resolution = "day"
min = 1600-01-01
max = 2020-12-31
nullable = true
bins = 10
[[columns]]
name = "seen"
kind = "datetime"
format = "%Y-%m-%d %H:%M"
resolution = "minute"
min = 1999-12-31T00:00:00
max = 2000-01-02T00:00:00
nullable = true
bins = 4
"""


@pytest.fixture(scope="module")
def schema():
    return Schema.from_text(SCHEMA)


def random_table(schema: Schema, rows: int) -> SyntheticTable:
    rng = np.random.default_rng(1)
    ticks = {column.name: rng.integers(-1 if column.nullable else 0, column.ticks, rows) for column in schema.columns}
    return SyntheticTable(schema, ticks)


@pytest.mark.parametrize("rows", [0, 1, 2000])
def test_both_formats_round_trip(tmp_path, schema, rows):
    table = random_table(schema, rows)
    paths = write_table(tmp_path, table, ("csv", "parquet"))
    assert [path.name for path in paths] == ["synthetic.csv", "synthetic.parquet"]
    with paths[0].open(encoding="utf-8", newline="") as file:
        read = list(csv.reader(file))
    assert read[0] == [column.name for column in schema.columns]
    assert len(read) == rows + 1
    for index, column in enumerate(schema.columns):
        assert np.array_equal(column.ticks_of_text([row[index] for row in read[1:]]), table.ticks[column.name])


def test_texts_and_types_are_the_schemas(tmp_path, schema):
    ticks = {"zip, code": 0, "visits": 489, "female": 1, "price": 100, "long": 1, "born": 0, "seen": 61}
    table = SyntheticTable(schema, {name: np.array([tick]) for name, tick in ticks.items()})
    text, typed = write_table(tmp_path, table, ("csv", "parquet"))
    header, row = text.read_bytes().split(b"\r\n")[:2]
    assert header == b'"zip, code",visits,female,price,long,born,seen'
    assert row == b"02116,486,1,0.00,0.000000001,01.01.1600,1999-12-31 01:01"
    import pyarrow as pa
    import pyarrow.parquet as pq

    read = pq.read_table(typed)
    assert read.schema.types == [
        pa.string(),
        pa.int64(),
        pa.bool_(),
        pa.float64(),
        pa.decimal128(38, 9),
        pa.date32(),
        pa.timestamp("us"),
    ]
    values = read.to_pylist()[0]
    assert values["visits"] == 486
    assert values["female"] is True
    assert values["born"] == date(1600, 1, 1)
    assert values["seen"] == datetime(1999, 12, 31, 1, 1)  # noqa: DTZ001  # local time without a zone, as declared


def test_nulls_are_nulls_even_in_a_table_of_one_column(tmp_path):
    schema = Schema.from_text('[table]\nname="t"\n[[columns]]\nname="a"\nkind="integer"\nmin=0\nmax=1\nnullable=true\n')
    table = SyntheticTable(schema, {"a": np.array([-1, 1, -1])})
    text, typed = write_table(tmp_path, table, ("csv", "parquet"))
    assert text.read_bytes() == b'a\r\n""\r\n1\r\n""\r\n'
    import pyarrow.parquet as pq

    assert pq.read_table(typed).column("a").to_pylist() == [None, 1, None]
    import pandas as pd
    import polars as pl

    assert pl.read_parquet(typed)["a"].to_list() == [None, 1, None]
    assert pd.read_csv(text)["a"].isna().tolist() == [True, False, True]


def test_what_is_written_reads_back_in_pandas_and_polars(tmp_path, schema):
    import pandas as pd
    import polars as pl

    table = random_table(schema, 300)
    text, typed = write_table(tmp_path, table, ("csv", "parquet"))
    frames = (
        pd.read_csv(text, dtype=str, keep_default_na=False).to_dict("list"),
        pl.read_csv(text, infer_schema=False).fill_null("").to_dict(as_series=False),
    )
    for frame in frames:
        assert list(frame) == [column.name for column in schema.columns]
        for column in schema.columns:
            assert np.array_equal(column.ticks_of_text(frame[column.name]), table.ticks[column.name])
    visits = pd.read_parquet(typed, dtype_backend="numpy_nullable")["visits"]
    assert str(visits.dtype) == "Int64"
    assert pl.read_parquet(typed).schema["visits"] == pl.Int64


def test_nothing_is_overwritten(tmp_path, schema):
    (tmp_path / "synthetic.csv").write_text("precious")
    with pytest.raises(FileExistsError):
        write_table(tmp_path, random_table(schema, 1), ("csv",))
    assert (tmp_path / "synthetic.csv").read_text() == "precious"


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"visits", b"visit"), (b"486", b"486.0"), (b"486", b"487"), (b"02116", b"2116"), (b"\r\n02", b"\r\n\r\n02")],
)
def test_a_file_that_does_not_read_back_is_a_fault_of_ours(tmp_path, schema, old, new):
    ticks = {"zip, code": 0, "visits": 489, "female": 1, "price": 100, "long": 1, "born": 0, "seen": 61}
    table = SyntheticTable(schema, {name: np.array([tick]) for name, tick in ticks.items()})
    (path,) = write_table(tmp_path, table, ("csv",))
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises((DpReleaseError, ValueError)):
        check_table(path, table)


def test_the_bytes_depend_on_the_rows_only(tmp_path: Path, schema):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_table(tmp_path / name, random_table(schema, 500), ("csv", "parquet"))
    for name in ("synthetic.csv", "synthetic.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
