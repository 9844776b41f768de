"""Messy private files from start to end: read, asked, modelled, written, read back; the schema fixes the output."""

import csv
import gzip
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from accounting.budget import Law, cap
from accounting.curator import load, private_table
from accounting.errors import InputFileError, VerificationFailed
from accounting.schema import Schema
from accounting.unit import RowUnit
from mechanisms.registry import config_from_table
from release.output import write_table
from release.verify.table import check_csv, check_parquet
from tests.accounting.curator.tables import account, seeded

OPTIONS = {
    "independent": {},
    "mst": {},
    "aim": {"max_rounds": 3, "degree": 2},
    "aim-gdp": {"max_rounds": 3, "degree": 2},
    "tab-pe": {"rounds": 2, "population": 60},
}
every_kind = pytest.mark.parametrize("kind", OPTIONS)
some_kinds = pytest.mark.parametrize("kind", ["independent", "mst"])
CLEAR = Fraction(2000)


def declared(*columns: str) -> Schema:
    return Schema.from_text(
        '[table]\nname = "messy"\nmax_rows = 5000\n' + "".join(f"[[columns]]\n{c}\n" for c in columns)
    )


def column(name: str, kind: str, *lines: str, nullable: bool = True) -> str:
    return "\n".join([f'name = "{name}"', f'kind = "{kind}"', f"nullable = {str(nullable).lower()}", *lines])


def released(
    folder: Path, schema: Schema, data: str | bytes | Path, kind: str = "independent", amount=CLEAR
) -> list[dict]:
    """Release a file and read the output back as any program would; with ρ = 2000 there is next to no noise."""
    path = data
    if not isinstance(data, Path):
        path = folder / "private.csv"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    rows = load(path, schema, RowUnit())
    table = private_table(rows, account(amount), seeded(3))
    mechanism = config_from_table(kind, OPTIONS[kind]).calibrate(cap(Law.ZCDP, amount), RowUnit(), schema)
    made = mechanism.run(table, np.random.default_rng(0))
    text, typed = write_table(folder, made.synthetic, ("csv", "parquet"))
    assert check_csv(text, schema) == check_parquet(typed, schema) == made.synthetic.rows
    with text.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        read = list(reader)
    assert reader.fieldnames == [known.name for known in schema.columns]
    return read


BITS = [
    column(name, "boolean", "replacement = false", 'true_values = ["1"]', 'false_values = ["0"]', nullable=False)
    for name in "abc"
]


@every_kind
def test_a1_a5_b7_four_rows_of_three_bits_give_bits(tmp_path, kind):
    rows = released(tmp_path, declared(*BITS), "a,b,c\n0,1,0\n1,1,0\n0,0,1\n1,0,1\n", kind, Fraction(1, 50))
    assert {value for row in rows for value in row.values()} <= {"0", "1"}


ANY_KIND = [
    column("category", "categorical", 'categories = ["x", "y"]'),
    column("whole", "integer", "min = 0", "max = 3"),
    column("real", "real", "min = 0", "max = 1", "decimals = 1", "bins = 2"),
    column("flag", "boolean"),
    column("day", "date", "min = 2020-01-01", "max = 2020-01-09", 'format = "%Y-%m-%d"', 'resolution = "day"'),
    column("other", "categorical", 'categories = ["p", "q"]'),
]


@every_kind
def test_a2_a3_a7_columns_of_nulls_only_are_released_as_nulls(tmp_path, kind):
    """The same questions at the same price as for any other table; nothing fails after spending."""
    rows = released(tmp_path, declared(*ANY_KIND), "category,whole,real,flag,day,other\n" + ",,,,,p\n" * 300, kind)
    assert len(rows) == pytest.approx(300, abs=5)
    nulls = Counter(name for row in rows for name, value in row.items() if value == "")
    assert all(nulls[name] > 270 for name in ("category", "whole", "real", "flag", "day"))
    assert nulls["other"] < 30


def test_a2_nulls_in_columns_that_are_not_nullable_become_the_declared_values(tmp_path):
    schema = declared(
        column("a", "integer", "min = 0", "max = 9", "replacement = 7", nullable=False),
        column("b", "categorical", 'categories = ["x", "y"]', 'replacement = "y"', nullable=False),
    )
    rows = released(tmp_path, schema, "a,b\n" + ",\n" * 50)
    assert {tuple(row.values()) for row in rows} == {("7", "y")}


@some_kinds
@pytest.mark.parametrize("share", [0.9, 0.02])
def test_a4_a9_the_rate_of_nulls_is_kept(tmp_path, kind, share):
    nulls = round(2000 * share)
    lines = [",b"] * nulls + [f"{number % 50}.5,b" for number in range(2000 - nulls)]
    schema = declared(
        column("a", "real", "min = 0", "max = 50", "decimals = 1", "bins = 5"),
        column("b", "categorical", 'categories = ["b"]'),
    )
    rows = released(tmp_path, schema, "a,b\n" + "\n".join(lines) + "\n", kind)
    assert sum(row["a"] == "" for row in rows) == pytest.approx(nulls, abs=20)


def test_a10_empty_columns_stay_in_the_header_in_the_schemas_order(tmp_path):
    schema = declared(ANY_KIND[5], ANY_KIND[0], ANY_KIND[1])
    assert list(released(tmp_path, schema, "whole,other,category\n,p,\n,q,\n" * 40)[0]) == [
        "other",
        "category",
        "whole",
    ]


def test_b1_b3_pandas_nullable_integers_come_back_as_integers(tmp_path):
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame({"n": pd.array([486, None, 3] * 50, dtype="Int64"), "m": [1.0, 2.0, float("nan")] * 50})
    frame.to_parquet(tmp_path / "private.parquet")
    schema = declared(column("n", "integer", "min = 0", "max = 500"), column("m", "integer", "min = 0", "max = 5"))
    rows = released(tmp_path, schema, tmp_path / "private.parquet")
    assert {row["n"] for row in rows} == {"486", "", "3"}
    assert {row["m"] for row in rows} == {"1", "2", ""}
    back = pd.read_parquet(tmp_path / "synthetic.parquet", dtype_backend="numpy_nullable")
    assert {str(kind) for kind in back.dtypes} == {"Int64"}
    assert set(pl.read_parquet(tmp_path / "synthetic.parquet").dtypes) == {pl.Int64}


def test_b4_integers_beside_sentinels_are_written_without_a_point(tmp_path):
    schema = declared(column("n", "integer", "min = 0", "max = 999", 'null_strings = ["unknown", "-1"]'))
    rows = released(tmp_path, schema, "n\n" + "486\nunknown\n486.0\n-1\n" * 30)
    assert {row["n"] for row in rows} == {"486", "unknown"}


@every_kind
def test_b6_b7_ten_rows_of_true_and_false_stay_booleans(tmp_path, kind):
    schema = declared(
        *(column(name, "boolean", 'true_values = ["TRUE"]', 'false_values = ["FALSE"]') for name in ("a", "b"))
    )
    rows = released(tmp_path, schema, "a,b\n" + "TRUE,TRUE\n" * 10, kind)
    assert {value for row in rows for value in row.values()} <= {"TRUE", "FALSE", ""}


def test_b8_codes_keep_their_zeros_commas_line_breaks_and_emoji(tmp_path):
    codes = ["02116", "093418", "05112025", "a, b", 'say "x"', "two\nlines", "\U0001f642", "1", "01", " 1"]
    name = "code, \U0001f642"
    schema = declared(column(name, "categorical", f"categories = {json.dumps(codes, ensure_ascii=False)}"))
    quoted = ['"' + code.replace('"', '""') + '"' for code in codes]
    rows = released(tmp_path, schema, f'"{name}"\n' + "\n".join(quoted * 20) + "\n")
    assert Counter(row[name] for row in rows).keys() == set(codes)


@some_kinds
def test_b9_thousands_of_different_numbers_are_modelled_in_the_declared_cells(tmp_path, kind):
    schema = declared(column("x", "real", "min = 0", "max = 1", "decimals = 9", "bins = 64"), column("flag", "boolean"))
    values = np.random.default_rng(0).random(3000)
    rows = released(tmp_path, schema, "x,flag\n" + "".join(f"{value:.12f},true\n" for value in values), kind)
    assert len({row["x"] for row in rows}) > 2000
    assert np.mean([float(row["x"]) for row in rows]) == pytest.approx(values.mean(), abs=0.02)


def test_b10_three_hundred_thousand_categories_are_modelled_compressed(tmp_path):
    codes = ", ".join(f'"c{number:06d}"' for number in range(300_000))
    schema = declared(column("code", "categorical", f"categories = [{codes}]"), ANY_KIND[5])
    data = "code,other\n" + "c000007,p\n" * 400 + "c299999,q\n" * 300
    rows = released(tmp_path, schema, data, "mst")
    found = Counter((row["code"], row["other"]) for row in rows)
    assert found["c000007", "p"] == pytest.approx(400, abs=20)
    assert found["c299999", "q"] == pytest.approx(300, abs=20)


@every_kind
def test_b11_numbers_and_texts_together(tmp_path, kind):
    lines = [
        f"{'xy'[n % 2]},{n % 4},0.{n % 9},{'true' if n % 3 else 'false'},2020-01-0{n % 9 + 1},p\n" for n in range(200)
    ]
    rows = released(tmp_path, declared(*ANY_KIND), "category,whole,real,flag,day,other\n" + "".join(lines), kind)
    assert len(rows) == pytest.approx(200, abs=5)


def test_b13_infinities_follow_the_declared_policy(tmp_path):
    bounds = ("min = 0", "max = 1", "decimals = 1", "bins = 2")
    schema = declared(column("clipped", "real", *bounds), column("nulled", "real", *bounds, 'out_of_range = "null"'))
    rows = released(tmp_path, schema, "clipped,nulled\n" + "inf,-Infinity\n-inf,1e308\nNaN,nan\n" * 40)
    assert {row["nulled"] for row in rows} == {""}
    assert {row["clipped"] for row in rows} >= {""}
    assert len({row["clipped"] for row in rows}) > 1


def test_b14_unique_identifiers_never_leave(tmp_path):
    schema = Schema.from_text(
        '[table]\nname = "t"\n[[columns]]\nname = "uuid"\nkind = "identifier"\n[[columns]]\n' + ANY_KIND[5]
    )
    data = "uuid,other\n" + "".join(f"6f1c0000-{n:04d}-4000-8000-000000000000,p\n" for n in range(100))
    rows = released(tmp_path, schema, data)
    assert list(rows[0]) == ["other"]
    assert b"6f1c0000" not in (tmp_path / "synthetic.csv").read_bytes() + (tmp_path / "synthetic.parquet").read_bytes()


@some_kinds
def test_c1_c2_c5_old_days_long_stamps_and_two_dates(tmp_path, kind):
    schema = declared(
        column("old", "date", "min = 1500-01-01", "max = 1999-12-31", 'format = "%Y%m%d"', 'resolution = "year"'),
        column(
            "stamp",
            "datetime",
            "min = 2000-01-01T00:00:00",
            "max = 2000-01-01T00:59:59",
            'format = "%Y%m%d%H%M%S%f"',
            'resolution = "minute"',
        ),
        column("two", "date", "min = 2001-01-01", "max = 2004-12-31", 'format = "%d.%m.%Y"', 'resolution = "day"'),
    )
    lines = ["15550217,20000101000159999999,03.02.2001", "16770921,20000101005959000001,06.05.2004"] * 60
    rows = released(tmp_path, schema, "old,stamp,two\n" + "\n".join(lines) + "\n", kind)
    assert Counter(row["old"] for row in rows)["15550101"] == pytest.approx(60, abs=5)
    assert Counter(row["stamp"] for row in rows)["20000101000100000000"] == pytest.approx(60, abs=5)
    assert Counter(row["two"] for row in rows)["06.05.2004"] == pytest.approx(60, abs=5)


def test_d1_names_like_numbers_are_names_and_a_file_without_a_header_is_refused(tmp_path):
    schema = declared(column("0", "integer", "min = 0", "max = 9"), column("1", "integer", "min = 0", "max = 9"))
    assert {tuple(row.values()) for row in released(tmp_path, schema, "0,1\n" + "5,6\n" * 50)} == {("5", "6")}
    (tmp_path / "bare.csv").write_text("5,6\n5,6\n")
    with pytest.raises(InputFileError, match="if the file has no header"):
        load(tmp_path / "bare.csv", schema, RowUnit())


@every_kind
@pytest.mark.parametrize("count", [0, 1])
def test_d3_no_row_and_one_row_take_the_same_path(tmp_path, kind, count):
    rows = released(
        tmp_path,
        declared(*ANY_KIND),
        "category,whole,real,flag,day,other\n" + "x,1,0.5,true,2020-01-02,p\n" * count,
        kind,
    )
    assert len(rows) <= count + 3


def test_d5_a_released_table_with_a_further_column_is_refused_by_name(tmp_path):
    schema = declared(ANY_KIND[5], ANY_KIND[1])
    for header, words in (
        ("serial,other,whole", "it has 'serial' besides"),
        ("other", "it lacks 'whole'"),
        ("whole,other", "in another order"),
        ("other,whole,whole", "in another order or one of them twice"),
    ):
        (tmp_path / "synthetic.csv").write_text(header + "\r\n")
        with pytest.raises(VerificationFailed, match=words):
            check_csv(tmp_path / "synthetic.csv", schema)


@some_kinds
def test_d6_constant_columns_and_single_values_are_columns(tmp_path, kind):
    schema = declared(
        column("one", "integer", "min = 7", "max = 7", "replacement = 7", nullable=False),
        column("single", "categorical", 'categories = ["only"]', 'replacement = "only"', nullable=False),
        column("constant", "categorical", 'categories = ["x", "y", "z"]'),
    )
    rows = released(tmp_path, schema, "one,single,constant\n" + "7,only,y\n" * 200, kind)
    assert {(row["one"], row["single"]) for row in rows} == {("7", "only")}
    assert Counter(row["constant"] for row in rows)["y"] >= 190


def test_d12_two_hundred_columns(tmp_path):
    names = [f"c{number}" for number in range(200)]
    schema = declared(*(column(name, "integer", "min = 0", "max = 2") for name in names))
    line = ",".join(str(number % 3) for number in range(200))
    rows = released(tmp_path, schema, ",".join(names) + "\n" + f"{line}\n" * 100)
    assert len(rows[0]) == 200


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_any_declared_encoding_gives_utf_8(tmp_path, encoding):
    schema = declared(column("stra\u00dfe", "categorical", 'categories = ["\u00e4", "\u00fc, \u00f6"]'))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(('stra\u00dfe\r\n"\u00fc, \u00f6"\r\n\u00e4\r\n').encode(encoding)))
    rows = load(path, schema, RowUnit(), encoding=encoding)
    assert rows.cells_for_curator().columns["stra\u00dfe"].tolist() == [1, 0]
