"""Typed values from Parquet, Arrow, NumPy and Python: the same policies, and no value ever fails."""

# Local times without a zone are what these columns hold.
# ruff: noqa: DTZ001

import datetime as dt
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from accounting.schema import NULL, Problem
from accounting.schema.typed import NoText, plain_values, text_of_value
from tests.accounting.schema.building import column

NO_TEXT = NoText.NO_TEXT
NAN = float("nan")


def texts(values):
    return [text_of_value(value) for value in plain_values(values)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None, "a", True, np.bool_(False)], [None, "a", "true", "false"]),
        ([1, -7, np.int8(3), np.uint64(2**64 - 1)], ["1", "-7", "3", "18446744073709551615"]),
        ([10**5000, -(10**5000)], ["1e300", "-1e300"]),
        ([1.0, 0.1, -0.0, 2.0**53, 1e300], ["1", "0.1", "0", "9007199254740992.0", "1e+300"]),
        ([NAN, float("inf"), float("-inf")], [None, "inf", "-inf"]),
        ([np.float32(0.1), np.float16(0.5), np.float32("nan"), np.longdouble(2)], ["0.1", "0.5", None, "2"]),
        ([Decimal("1.50"), Decimal("1E+3"), Decimal("NaN"), Decimal("sNaN")], ["1.50", "1000", None, None]),
        ([Decimal("Infinity"), Decimal("1E+999999999")], ["Infinity", "1E+999999999"]),
        ([dt.date(33, 4, 3), dt.datetime(2020, 1, 2, 3, 4, 5)], ["0033-04-03", "2020-01-02T03:04:05"]),
        ([b"ab", b"\xff"], ["ab", "\udcff"]),
        ([uuid.UUID(int=1)], ["00000000-0000-0000-0000-000000000001"]),
        ([dt.timedelta(1), dt.time(1), [1], {}, 1j, np.complex64(1), object], [NO_TEXT] * 7),
        ([np.datetime64("2020-01-02T03:04:05", "ns"), np.datetime64("NaT"), np.timedelta64(1, "s")],
         ["2020-01-02T03:04:05", None, NO_TEXT]),
        (np.array([1, 2], dtype=np.uint8), ["1", "2"]),
        (np.array([0.1, 1.0], dtype=np.float32), ["0.1", "1"]),
        (np.array([0.1, NAN]), ["0.1", None]),
        (np.array(["a", None, 1.0], dtype=object), ["a", None, "1"]),
        (np.array(["2020-01-02", "NaT"], dtype="datetime64[ns]"), ["2020-01-02T00:00:00", None]),
        (np.array([1, "NaT"], dtype="timedelta64[s]"), [NO_TEXT, None]),
        (pa.array([1, None]), ["1", None]),
        (pa.array([True, None]), ["true", None]),
        (pa.array([None, None]), [None, None]),
        (pa.array([0.1, 2.0, None, NAN], pa.float32()), ["0.1", "2", None, None]),
        (pa.array([0.5, None], pa.float16()), ["0.5", None]),
        (pa.array([0.1, None]), ["0.1", None]),
        (pa.array([Decimal("1.50"), None]), ["1.50", None]),
        (pa.array(["a", None]), ["a", None]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
        (pa.chunked_array([["a"], [None, "b"]]), ["a", None, "b"]),
        (pa.array([b"a", b"\xff"], pa.binary()).view(pa.string()), ["a", "\udcff"]),
        (pa.array([b"a", None], pa.large_binary()), ["a", None]),
        (pa.array([b"a", None], pa.binary(1)), ["a", None]),
        (pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()), ["00000000-0000-0000-0000-000000000001", None]),
        (pa.array([0, None, 2**31 - 1, -(2**31)], pa.date32()), ["1970-01-01", None, "9999-12-31", "0001-01-01"]),
        (pa.array([0, None, 2**62], pa.date64()), ["1970-01-01", None, "9999-12-31"]),
        (pa.array([0, None, -1, 2**62, -(2**62)], pa.timestamp("s")),
         ["1970-01-01T00:00:00", None, "1969-12-31T23:59:59", "9999-12-31T23:59:59", "0001-01-01T00:00:00"]),
        (pa.array([1999, -1], pa.timestamp("ms")), ["1970-01-01T00:00:01", "1969-12-31T23:59:59"]),
        (pa.array([1], pa.timestamp("us")), ["1970-01-01T00:00:00"]),
        (pa.array([1], pa.timestamp("ns", tz="Asia/Tokyo")), ["1970-01-01T00:00:00+00:00"]),
        (pa.array([0, None], pa.time32("s")), [NO_TEXT, None]),
        (pa.array([0, None], pa.duration("ns")), [NO_TEXT, None]),
        (pa.array([[1], None]), [NO_TEXT, None]),
        (pa.array([{"a": 1}, None]), [NO_TEXT, None]),
    ],
)  # fmt: skip
def test_values_have_the_text_of_a_csv_file(values, expected):
    assert texts(values) == expected


def test_floats_that_hold_integers_read_as_integers():
    known = column("integer")
    assert known.ticks_of_values(pa.array([4.0, None, 86.0])).tolist() == [4, NULL, 86]
    assert known.ticks_of_values(np.array([4.0, NAN, 4.5, np.inf])).tolist() == [4, NULL, NULL, 99]
    assert known.problems_of_values([4.0, 4.5, None, 100]) == {Problem.UNREADABLE: 1, Problem.ABOVE: 1}


def test_a_boolean_is_no_number_and_one_is_no_boolean():
    assert column("integer").ticks_of_values([True, 1, 1.0, Decimal(1)]).tolist() == [NULL, 1, 1, 1]
    known = column("boolean", true_values=["TRUE"], false_values=["FALSE"])
    assert known.ticks_of_values([True, np.bool_(False), 1, "TRUE", None]).tolist() == [1, 0, NULL, 1, NULL]


def test_null_codes_apply_to_typed_values_too():
    assert column("integer", null_strings=["-9"]).ticks_of_values([-9, -9.0, -8]).tolist() == [NULL, NULL, 0]
    known = column("date", null_strings=["1900-01-01"])
    assert known.ticks_of_values([dt.date(1900, 1, 1), dt.date(1900, 1, 2)]).tolist() == [NULL, 0]


def test_a_nan_is_null_in_every_kind():
    assert column("categorical", undeclared="other", other="c").ticks_of_values([NAN, None, "z"]).tolist() == [
        NULL,
        NULL,
        2,
    ]


def test_values_without_a_text_are_not_readable():
    known = column("categorical", undeclared="other", other="c")
    assert known.ticks_of_values([[1], ["a"]]).tolist() == [NULL, NULL]
    assert known.problems_of_values([[1], None]) == {Problem.UNREADABLE: 1}
    sure = column("integer", nullable=False, replacement=9)
    assert sure.ticks_of_values(pa.array([[1], None])).tolist() == [9, 9]
    assert sure.problems_of_values(pa.array([[1], None])) == {Problem.NULL: 1, Problem.UNREADABLE: 1}


def test_dates_stored_as_integers_read_by_the_format():
    known = column("date", format="%Y%m%d")
    assert known.ticks_of_values(pa.array([20000102, 20001301, None])).tolist() == [1, NULL, NULL]


def test_typed_dates_need_no_format():
    known = column("date", format="%d%b%Y")
    values = [dt.date(2000, 1, 2), dt.datetime(2000, 1, 3, 23, 59), "04JAN2000", dt.date(1, 1, 1)]
    assert known.ticks_of_values(values).tolist() == [1, 2, 3, 0]
    assert known.ticks_of_values(pa.array([10957 + 5, 2**31 - 1], pa.date32())).tolist() == [5, known.ticks - 1]


def test_typed_moments():
    known = column("datetime")
    values = [dt.datetime(2000, 1, 1, 0, 5, 59, 999999), dt.date(2000, 1, 2), "2000-01-01 00:07:00", 5]
    assert known.ticks_of_values(values).tolist() == [5, 1440, 7, NULL]
    assert known.ticks_of_values(pa.array([946684800 + 60], pa.timestamp("s"))).tolist() == [1]


def test_moments_with_a_zone_need_a_declared_offset():
    aware = dt.datetime(2000, 1, 1, 3, tzinfo=dt.UTC)
    assert column("datetime").ticks_of_values([aware]).tolist() == [NULL]
    assert column("date").ticks_of_values([aware]).tolist() == [NULL]
    assert column("date").problems_of_values([aware]) == {Problem.UNREADABLE: 1}
    known = column("datetime", utc_offset="-02:00", resolution="hour")
    assert known.ticks_of_values([aware, dt.datetime(2000, 1, 1, 3)]).tolist() == [1, 3]
    zoned = column("datetime", utc_offset="-02:00", resolution="hour", format="%Y-%m-%d %H %z")
    assert zoned.ticks_of_values([aware, dt.datetime(2000, 1, 1, 3)]).tolist() == [1, 3]
    assert zoned.ticks_of_values(pa.array([946695600], pa.timestamp("s", tz="Asia/Tokyo"))).tolist() == [1]


def test_shifting_a_moment_beyond_the_calendar_does_not_fail():
    known = column("datetime", utc_offset="-12:00", min="0001-01-01T00:00:00", max="9999-12-31T23:59:59", bins=3)
    first, last = dt.datetime(1, 1, 1, tzinfo=dt.UTC), dt.datetime(9999, 12, 31, 23, 59, 59)
    late = last.replace(tzinfo=dt.timezone(dt.timedelta(hours=-23)))
    assert known.ticks_of_values([first, last, late]).tolist() == [0, known.ticks - 1, known.ticks - 1]


def test_the_missing_values_of_pandas_are_null_or_not_readable():
    missing = [pd.NaT, pd.NA, np.nan, None]
    for kind in ("categorical", "boolean", "integer", "real", "date", "datetime", "identifier"):
        known = column(kind)
        if kind == "identifier":
            assert known.ids_of_values(missing)[1:] == [None] * 3
        else:
            assert known.ticks_of_values(missing).tolist() == [NULL] * 4
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "d": pd.to_datetime(["2000-01-03", None])})
    assert column("integer").ticks_of_values(frame["n"]).tolist() == [1, NULL]
    assert column("date").ticks_of_values(frame["d"]).tolist() == [2, NULL]
    assert column("date").ticks_of_values(frame["d"].to_numpy()).tolist() == [2, NULL]
