"""Texts that other readers guess at: what each kind makes of them, always the same, never a failure."""

import pytest

from accounting.schema import NULL
from tests.accounting.schema.building import column


def read(known, *texts: str) -> list[str]:
    return known.text_of_ticks(known.ticks_of_text(texts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-0", "0"),
        ("+0", "0"),
        ("-0.0", "0"),
        ("0e5", "0"),
        ("1e308", "50"),
        ("-1e308", "-50"),
        ("1e-308", ""),
        ("1e1", "10"),
        ("1E+01", "10"),
        ("0010", "10"),
        ("10.", "10"),
        (".5e1", "5"),
        ("1_0", ""),
        ("1,0", ""),
        ("1 0", ""),
        ("1\u00a00", ""),
        ("1'0", ""),
        ("10%", ""),
        ("$10", ""),
        ("(10)", ""),
        ("\u221210", ""),
        ("\uff11\uff10", ""),
        ("\u0661\u0660", ""),
        ("1\u00b2", ""),
        ("\u2160", ""),
        ("0x10", ""),
        ("0b1", ""),
        ("1e", ""),
        ("e1", ""),
        ("--1", ""),
        ("1-", ""),
        ("1.0.0", ""),
        ("10\n", ""),
        ("10\x00", ""),
        ("True", ""),
        ("#N/A", ""),
        ("=10", ""),
        ("'10", ""),
        ("Infinity", "50"),
        ("-INF", "-50"),
        ("infinit", ""),
        ("nAn", ""),
        ("-nan", ""),
        ("1#INF", ""),
        ("9" * 400, "50"),
    ],
)
def test_whole_numbers(text, expected):
    assert read(column("integer", min=-50, max=50), text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-0", "0.00"),
        ("-0.004", "0.00"),
        ("1e-308", "0.00"),
        ("4.9e-324", "0.00"),
        ("1e308", "9.99"),
        ("1.005", "1.00"),
        ("1.015", "1.02"),
        ("2.675", "2.68"),
        ("1,5", ""),
        ("1.5f", ""),
        ("1.5d0", ""),
        ("\uff11.5", ""),
    ],
)
def test_real_numbers(text, expected):
    assert read(column("real", min=0, max="9.99", bins=3), text) == [expected]


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("%d.%m.%Y", "29.02.1900", ""),
        ("%d.%m.%Y", "29.02.2000", "29.02.2000"),
        ("%d.%m.%Y", "31.04.1999", ""),
        ("%d.%m.%Y", "1.2.1999", "01.02.1999"),
        ("%d.%m.%Y", "00.01.1999", ""),
        ("%d.%m.%Y", "01.13.1999", ""),
        ("%d.%m.%Y", "01.01.99", ""),
        ("%d.%m.%Y", "\uff11.1.1999", ""),
        ("%d.%m.%Y", "01.01.1999 ", ""),
        ("%d.%m.%Y", "01.01.1999\n", ""),
        ("%Y-%m-%d", "43831", ""),
        ("%Y%m%d", "43831", ""),
        ("%Y%m%d", "19990101.0", ""),
        ("%Y-%m-%d", "0000-01-01", ""),
        ("%Y-%m-%d", "10000-01-01", ""),
        ("%Y-%m-%d", "-1999-01-01", ""),
        ("%Y-%m-%d", "1999-001", ""),
        ("%Y-%m-%d", "1999-W01-1", ""),
        ("%Y-%m-%d", "1582-10-10", "1900-01-01"),
        ("%b %d %Y", "FEB 28 1999", "Feb 28 1999"),
        ("%b %d %Y", "F\u00e9v 28 1999", ""),
    ],
)
def test_days(form, text, expected):
    known = column("date", min="1900-01-01", max="2099-12-31", format=form, resolution="day", bins=5)
    assert read(known, text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2016-12-31T23:59:60+00:00", ""),
        ("2016-12-31T24:00:00+00:00", ""),
        ("2016-12-31T23:59:59Z", "2016-12-31T23:59:59+00:00"),
        ("2016-12-31T23:59:59z", "2016-12-31T23:59:59+00:00"),
        ("2017-01-01T05:29:59+0530", "2016-12-31T23:59:59+00:00"),
        ("2016-12-31T12:00:00-12:00", "2017-01-01T00:00:00+00:00"),
        ("2017-01-01T00:00:00+23:59", "2016-12-31T00:01:00+00:00"),
        ("2017-01-01T00:00:00+24:00", ""),
        ("2017-01-01T00:00:00", ""),
        ("2017-01-01 00:00:00+00:00", ""),
        ("2017-01-01T00:00:00 CET", ""),
        ("1483228800", ""),
    ],
)
def test_moments(text, expected):
    known = column(
        "datetime",
        format="%Y-%m-%dT%H:%M:%S%z",
        utc_offset="+00:00",
        resolution="second",
        min="2016-01-01T00:00:00",
        max="2017-12-31T23:59:59",
        bins=5,
    )
    assert read(known, text) == [expected]


def test_categories_are_compared_exactly():
    known = column("categorical", categories=["caf\u00e9", "a", "01"])
    texts = ["caf\u00e9", "cafe\u0301", "A", "a ", "\u200ba", "1", "01", "a\x00", "\ufeffa"]
    assert known.ticks_of_text(texts).tolist() == [0, NULL, NULL, NULL, NULL, NULL, 2, NULL, NULL]


def test_booleans_are_compared_exactly():
    known = column("boolean")
    assert known.ticks_of_text(["true", "True", "1", "yes", "false", "falsch"]).tolist() == [
        1,
        NULL,
        NULL,
        NULL,
        0,
        NULL,
    ]
