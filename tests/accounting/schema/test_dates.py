"""Date and datetime columns: declared formats, the proleptic Gregorian calendar, resolutions and fixed offsets."""

# Local times without a zone are what these columns hold.
# ruff: noqa: DTZ001

import datetime as dt

import pytest

from accounting.errors import SchemaError
from accounting.schema import NULL, Problem
from accounting.schema.formats import DateFormat, Moment, write_offset
from tests.accounting.schema.building import column, ticks


def date(**changes):
    return column("date", **{"min": "0001-01-01", "max": "9999-12-31", **changes})


def test_days_of_the_whole_calendar():
    known = date()
    assert ticks(known, "0001-01-01", "9999-12-31", "1900-02-29", "2000-02-29", "2000-2-9") == [
        0, 3652058, NULL, dt.date(2000, 2, 29).toordinal() - 1, dt.date(2000, 2, 9).toordinal() - 1,
    ]  # fmt: skip
    assert known.text_of_ticks([0, 3652058]) == ["0001-01-01", "9999-12-31"]
    assert known.values_of_ticks([0, NULL]) == [dt.date(1, 1, 1), None]


def test_months_and_years_are_steps():
    months = date(min="2000-01-01", max="2001-06-15", resolution="month")
    assert months.ticks == 18
    assert ticks(months, "2000-01-31", "2000-02-01", "2001-06-30", "2001-07-01") == [0, 1, 17, 17]
    assert months.text_of_ticks([1]) == ["2000-02-01"]
    assert months.problems_of_text(["1999-12-31", "2001-07-01"]) == {Problem.BELOW: 1, Problem.ABOVE: 1}
    years = date(min="1900-01-01", max="2020-12-31", resolution="year", format="%Y", edges=["2000-01-01"])
    assert (years.ticks, years.cells) == (121, 3)
    assert years.labels() == ["1900 to 1999", "2000 to 2020", "(null)"]
    assert years.values_of_ticks([120]) == [dt.date(2020, 1, 1)]


def test_a_time_in_the_format_of_a_date_is_cut_off():
    known = date(format="%d/%m/%Y %H:%M")
    assert known.text_of_ticks(known.ticks_of_text(["31/12/1999 23:59"])) == ["31/12/1999 00:00"]


def test_points_give_sentinel_dates_a_cell():
    known = date(min="1900-01-01", max="1999-12-31", bins=10, points=["1900-01-01"])
    assert known.labels()[0] == "1900-01-01"
    assert known.cells == 12


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("%Y-%m-%d", "2020-03-01", (2020, 3, 1)),
        ("%Y-%m-%d", "2020-3-1", (2020, 3, 1)),
        ("%Y%m%d", "20200301", (2020, 3, 1)),
        ("%d%b%Y", "01mar2020", (2020, 3, 1)),
        ("%d %B %Y", "1 March 2020", (2020, 3, 1)),
        ("%d. %B %Y", "01. MAY 2020", (2020, 5, 1)),
        ("%%%Y+%m(%d)", "%2020+03(01)", (2020, 3, 1)),
        ("%Y", "0033", (33, 1, 1)),
    ],
)
def test_formats_read(form, text, day):
    moment = DateFormat(form).read(text)
    assert moment == Moment(dt.date(*day).toordinal(), 0)
    written = DateFormat(form).write(moment)
    assert DateFormat(form).read(written) == moment


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("%Y-%m-%d", "20-03-01"),
        ("%Y-%m-%d", "2020-13-01"),
        ("%Y-%m-%d", "2021-02-29"),
        ("%Y-%m-%d", "2020-03-01 "),
        ("%Y-%m-%d", "2020-03-01\n"),
        ("%Y-%m-%d", "0000-01-01"),
        ("%Y-%m-%d", "２０２０-03-01"),
        ("%m%d%Y", "5112025"),
        ("%d%b%Y", "01auſ2020"),
        ("%d %B %Y", "1 Auguſt 2020"),
        ("%d %B %Y", "1 Mar 2020"),
        ("%YT%m", "2020t01"),
        ("%H:%M", "24:00"),
        ("%H:%M", "23:60"),
        ("%S", "60"),
        ("%I %p", "0 AM"),
        ("%I %p", "13 PM"),
        ("%z", "+24:00"),
        ("%z", "01:00"),
        ("%z", "+01:60"),
    ],
)
def test_formats_refuse_to_guess(form, text):
    assert DateFormat(form).read(text) is None


@pytest.mark.parametrize(
    ("form", "text", "second", "offset"),
    [
        ("%Y%m%d%H%M%S%f", "20200301235958123456", 86398, None),
        ("%Y-%m-%d %H:%M:%S.%f", "2020-03-01 00:00:01.123456789", 1, None),
        ("%Y-%m-%d %I:%M %p", "2020-03-01 12:00 AM", 0, None),
        ("%Y-%m-%d %I:%M %p", "2020-03-01 12:30 pm", 45000, None),
        ("%Y-%m-%d %I:%M %p", "2020-03-01 1:00 PM", 46800, None),
        ("%Y-%m-%dT%H:%M:%S%z", "2020-03-01T10:00:00Z", 36000, 0),
        ("%Y-%m-%dT%H:%M:%S%z", "2020-03-01T10:00:00-0530", 36000, -19800),
        ("%f%Y-%m-%d", "0000012020-03-01", 0, None),
    ],
)
def test_formats_read_times(form, text, second, offset):
    known = DateFormat(form)
    moment = known.read(text)
    assert moment == Moment(dt.date(2020, 3, 1).toordinal(), second, offset)
    assert known.read(known.write(moment)) == moment


@pytest.mark.parametrize("hour", range(24))
def test_twelve_hour_clocks_round_trip(hour):
    known = DateFormat("%I%p")
    assert known.read(known.write(Moment(1, hour * 3600))) == Moment(1, hour * 3600)


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ("%y-%m-%d", "%y leaves the century open"),
        ("%Q", "the directive %Q is not read here; known: %Y"),
        ("%Y %Y", "names the year twice"),
        ("%b %m %Y", "names the month twice"),
        ("%I:%M", "%I and %p belong together"),
        ("%H %p", "%I and %p belong together"),
        ("%Y-%m-%d%", "ends in a lone %"),
    ],
)
def test_broken_formats_are_refused(form, rule):
    with pytest.raises(ValueError, match=rule):
        DateFormat(form)
    with pytest.raises(SchemaError, match=f"column 'x': format: .*{rule}"):
        date(format=form)


def test_offsets_are_written_in_one_way():
    assert [write_offset(seconds) for seconds in (0, 3600, -19800, 50400)] == ["+00:00", "+01:00", "-05:30", "+14:00"]


@pytest.mark.parametrize(
    ("resolution", "ticks_of_a_day"), [("second", 86400), ("minute", 1440), ("hour", 24), ("day", 1)]
)
def test_datetimes_are_cut_to_their_resolution(resolution, ticks_of_a_day):
    known = column("datetime", resolution=resolution, bins=2)
    assert known.ticks == 2 * ticks_of_a_day
    step = 86400 // ticks_of_a_day
    assert ticks(known, "2000-01-02 23:59:59") == [2 * ticks_of_a_day - 1]
    written = known.text_of_ticks([2 * ticks_of_a_day - 1])
    assert dt.datetime.fromisoformat(written[0]) == dt.datetime(2000, 1, 3) - dt.timedelta(seconds=step)
    assert known.values_of_ticks([0, NULL]) == [dt.datetime(2000, 1, 1), None]


def test_offsets_are_converted_to_the_declared_one():
    known = column("datetime", format="%Y-%m-%dT%H:%M:%S%z", utc_offset="-05:00", resolution="hour")
    assert ticks(known, "2000-01-01T05:00:00Z", "2000-01-01T06:00:00+0100", "2000-01-01T00:00:00-05:00") == [0, 0, 0]
    assert known.text_of_ticks([1]) == ["2000-01-01T01:00:00-05:00"]
    zone = dt.timezone(dt.timedelta(hours=-5))
    assert known.values_of_ticks([1]) == [dt.datetime(2000, 1, 1, 1, tzinfo=zone)]
    assert ticks(known, "2000-01-01T00:00:00") == [NULL]


def test_offsets_at_the_ends_of_the_calendar_do_not_fail():
    known = column(
        "datetime", format="%Y-%m-%dT%H:%M:%S%z", utc_offset="+14:00", resolution="day",
        min="0001-01-01T00:00:00", max="9999-12-31T00:00:00", bins=3,
    )  # fmt: skip
    assert ticks(known, "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:59") == [0, known.ticks - 1]


@pytest.mark.parametrize(
    ("kind", "change", "rule"),
    [
        ("date", {"format": None}, "'format' is missing; add the line format = "),
        ("date", {"format": 3}, "format must be a text in quotes"),
        ("date", {"resolution": None}, "'resolution' is missing; add the line resolution = "),
        ("date", {"resolution": "week"}, "resolution must be 'day', 'month' or 'year'"),
        ("date", {"min": "01/02/2000"}, "min: write a date as 2020-01-31"),
        ("date", {"min": dt.datetime(2000, 1, 1)}, "min: write a date as 2020-01-31"),
        ("date", {"min": "2000-13-01"}, "min: month must be in 1..12"),
        ("date", {"min": 20000101}, "min: write a date as 2020-01-31"),
        ("date", {"min": "2010-01-01"}, "min = 2010-01-01 lies above max = 2009-12-31"),
        ("date", {"min": "2000-01-02", "resolution": "month"}, "2000-01-02 is not the first moment of a step"),
        ("date", {"resolution": "month", "edges": ["2001-01-02"]}, "2001-01-02 is not the first moment of a step"),
        ("date", {"format": "%Y-%m"}, "the format '%Y-%m' does not name the day that resolution = 'day' needs"),
        ("date", {"format": "%d"}, "does not name the year and month"),
        ("date", {"format": "%Y-%m-%d%z"}, '%z is read in columns of kind = "datetime" only'),
        ("date", {"format": " %Y-%m-%d", "strip": True}, "the format has blanks around it"),
        ("date", {"nullable": False}, "add the line replacement = 2000-01-01"),
        ("date", {"null_strings": ["2000-01-01"]}, "also reads as a declared value"),
        ("datetime", {"min": "2000-01-01"}, "min: write a moment as"),
        ("datetime", {"min": dt.datetime(2000, 1, 1, tzinfo=dt.UTC)}, "min: write a moment as"),
        ("datetime", {"min": dt.datetime(2000, 1, 1, microsecond=1)}, "min: write a moment as"),
        ("datetime", {"min": "2000-01-01T00:00:30"}, "2000-01-01T00:00:30 is not the first moment of a step"),
        ("datetime", {"format": "%Y-%m-%d %H"}, "does not name the minute"),
        ("datetime", {"format": "%Y-%m-%d %H:%M%z"}, "add the line utc_offset = "),
        ("datetime", {"utc_offset": "CET"}, r'utc_offset: write an offset from UTC as "\+01:00"'),
        ("datetime", {"utc_offset": 1}, "utc_offset must be a text in quotes"),
        ("datetime", {"nullable": False}, "add the line replacement = 2000-01-01T00:00:00"),
    ],
)
def test_broken_dates_are_refused(kind, change, rule):
    with pytest.raises(SchemaError, match=rule):
        column(kind, **change)


def test_time_zero_zone_is_an_offset_like_any_other():
    known = column("datetime", utc_offset="+00:00")
    assert known.values_of_ticks([0]) == [dt.datetime(2000, 1, 1, tzinfo=dt.UTC)]


def test_bounds_as_toml_dates():
    known = date(min=dt.date(2000, 1, 1), max=dt.date(2000, 1, 31))
    assert known.ticks == 31
    moments = column("datetime", min=dt.datetime(2000, 1, 1), max=dt.datetime(2000, 1, 1, 0, 9))
    assert moments.ticks == 10
