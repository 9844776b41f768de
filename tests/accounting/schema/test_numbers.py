"""Integer and real columns: exact reading, declared policies, canonical writing."""

import datetime as dt
from decimal import Decimal

import pytest

from accounting.errors import SchemaError
from accounting.schema import MAX_TICKS, NULL, Problem
from tests.accounting.schema.building import column, ticks


def test_integers_read_exactly_and_write_as_integers():
    known = column("integer", min=-5, max=500)
    texts = ["486", "486.0", "486.", "4.86e2", "4860E-1", "+486", "0486", "000486.000"]
    assert ticks(known, *texts) == [491] * len(texts)
    assert known.text_of_ticks([491, 0, 5]) == ["486", "-5", "0"]
    assert known.values_of_ticks([491, 0, NULL]) == [486, -5, None]
    assert ticks(known, "007", "-0", "-0.0", "1e2", ".0") == [12, 5, 5, 105, 5]


@pytest.mark.parametrize(
    "text",
    [
        "3.5", "200.5", "-0.1", "1e-2", "1e-9x", "1,000", "1_000", "1 000", "\u0663", "\u00b2", "0x10", "1e", "e1", ".",
        "+", "--1", "1-", "5%", "5\n", "\n5", " 5", "five", "NaN.", "in",
    ],
)  # fmt: skip
def test_what_is_no_whole_number_is_not_readable(text):
    known = column("integer", min=0, max=99)
    assert ticks(known, text) == [NULL]
    assert known.problems_of_text([text]) == {Problem.UNREADABLE: 1}


@pytest.mark.parametrize(
    ("text", "clipped"),
    [
        ("100", 99), ("99.0", 99), ("-1", 0), ("1e400", 99), ("-1e400", 0), ("inf", 99), ("-inf", 0), ("Infinity", 99),
        ("+INF", 99), ("9" * 10000, 99), ("-" + "9" * 10000, 0), ("1e99999999999999999999", 99),
        ("-1e99999999999999999999", 0), ("1" + "0" * 25, 99), ("9223372036854775808", 99), ("-9223372036854775809", 0),
    ],
)  # fmt: skip
def test_out_of_range_is_clipped_to_the_nearer_bound(text, clipped):
    assert ticks(column("integer"), text) == [clipped]


@pytest.mark.parametrize(
    "text", ["0e99999999999999999999", "1e-99999999999999999999", "0.0e-99999999999999999999", "-0e5"]
)
def test_exponents_beyond_arithmetic_round_to_nothing(text):
    assert ticks(column("real", min=-1, max=1), text) == [100]


def test_out_of_range_by_policy():
    texts = ["100", "-1", "inf", "-inf", "7"]
    assert ticks(column("integer", out_of_range="null"), *texts) == [NULL, NULL, NULL, NULL, 7]
    assert ticks(column("integer", out_of_range="replacement", replacement=3), *texts, "", "x") == [
        3,
        3,
        3,
        3,
        7,
        NULL,
        NULL,
    ]
    sure = column("integer", nullable=False, out_of_range="replacement", replacement=3)
    assert ticks(sure, *texts, "", "x", "nan") == [3, 3, 3, 3, 7, 3, 3, 3]
    clip = column("integer", nullable=False, replacement=3)
    assert ticks(clip, *texts, "", "x", "nan") == [99, 0, 99, 0, 7, 3, 3, 3]


def test_nan_reads_as_null_in_any_spelling():
    known = column("integer")
    assert ticks(known, "nan", "NaN", "-nan", "+NAN") == [NULL] * 4
    assert known.problems_of_text(["nan"]) == {}
    assert column("integer", nullable=False, replacement=0).problems_of_text(["nan", ""]) == {Problem.NULL: 2}


def test_reals_round_half_to_even_and_write_all_decimals():
    known = column("real", min=-10, max=10, decimals=2, bins=4)
    texts = ["0.125", "0.135", "-0.125", "1", "1.1", "1.10", "1e-1", "9.999", "0.12500000000000000001", "-0.004"]
    assert known.text_of_ticks(ticks(known, *texts)) == [
        "0.12", "0.14", "-0.12", "1.00", "1.10", "1.10", "0.10", "10.00", "0.13", "0.00",
    ]  # fmt: skip
    assert known.problems_of_text(["0.125", "1", "9.999", "10.004"]) == {Problem.ROUNDED: 3}
    assert known.values_of_ticks([0, NULL]) == [Decimal("-10.00"), None]
    assert str(known.values_of_ticks([0])[0]) == "-10.00"


def test_rounding_comes_before_the_bounds():
    known = column("real", out_of_range="null")
    assert ticks(known, "10.004", "10.005", "10.006", "-0.005", "-0.006") == [1000, 1000, NULL, 0, NULL]


def test_numbers_never_pass_through_a_binary_float():
    known = column("real", min=0, max=1, decimals=1, bins=2)
    assert ticks(known, "0.1", "0.2", "0.3", "0.7") == [1, 2, 3, 7]
    wide = column("integer", min=2**53, max=2**53 + 10)
    assert ticks(wide, str(2**53 + 1), str(2**53 + 3)) == [1, 3]
    fine = column("real", min="1000000.000000001", max="1000000.000000009", decimals=9, bins=1)
    assert ticks(fine, "1000000.000000002") == [1]
    assert fine.text_of_ticks([1]) == ["1000000.000000002"]


def test_no_decimals_writes_no_point():
    known = column("real", decimals=0, bins=5)
    assert known.text_of_ticks(ticks(known, "2.5", "3.5", "7")) == ["2", "4", "7"]


def test_one_value_is_a_legal_domain():
    one = column("integer", min=7, max=7)
    assert (one.ticks, one.cells) == (1, 2)
    assert ticks(one, "7", "8", "6", "") == [0, 0, 0, NULL]
    assert column("real", min="0.5", max="0.5", bins=1).labels() == ["0.50", "(null)"]
    sure = column("categorical", categories=["only"], nullable=False, replacement="only")
    assert (sure.ticks, sure.cells, sure.null_cell) == (1, 1, None)
    assert ticks(sure, "", "x", "only") == [0, 0, 0]


@pytest.mark.parametrize(
    ("kind", "change", "rule"),
    [
        ("integer", {"min": None}, "'min' is missing; add the line min = "),
        ("integer", {"max": None}, "'max' is missing; add the line max = "),
        ("integer", {"min": 5, "max": 4}, "min = 5 lies above max = 4"),
        ("integer", {"min": 0.5}, "min: write an exact number"),
        ("integer", {"min": float("nan")}, "min: write an exact number"),
        ("integer", {"min": Decimal("0.5")}, "min: write a whole number"),
        ("integer", {"max": Decimal("Infinity")}, "max: write an exact number"),
        ("integer", {"max": "nan"}, "max: write an exact number"),
        ("integer", {"max": True}, "max: write an exact number"),
        ("integer", {"max": "many"}, "max: write an exact number"),
        ("integer", {"max": Decimal("1e400")}, "max: the number is too large or too fine"),
        ("integer", {"max": "1e99999999999999999999"}, "max: write an exact number"),
        ("integer", {"max": 2**62}, "a bound reaches 2\\^62 units"),
        ("integer", {"min": -(2**61), "max": 2**61, "bins": 2}, "are over the limit of 2\\^53; narrow the bounds"),
        ("integer", {"max": 2**24}, "16777218 cells .* are over the limit of 16777216; add edges or bins"),
        ("integer", {"max": 2**25, "bins": 2**24 + 1}, "16777218 cells"),
        ("integer", {"max": 2**25, "bins": 2**24 - 2, "points": [5]}, "16777217 cells"),
        ("integer", {"edges": [0, 10]}, "min is left out"),
        ("integer", {"edges": [10, 10]}, "edges must increase"),
        ("integer", {"edges": [20, 10]}, "edges must increase"),
        ("integer", {"edges": [100]}, "edges: 100 lies outside the bounds 0 to 99"),
        ("integer", {"edges": [10], "bins": 2}, "edges and bins exclude each other"),
        ("integer", {"bins": 101}, "bins = 101 is more than the 100 declared values"),
        ("integer", {"points": [5]}, "points need edges or bins"),
        ("integer", {"bins": 2, "points": [5, 5]}, "points must be different values"),
        ("integer", {"bins": 2, "points": [-5]}, "points: -5 lies outside the bounds 0 to 99"),
        ("integer", {"nullable": False}, "add the line replacement = 0"),
        ("integer", {"nullable": False, "replacement": 100}, "replacement: 100 lies outside the bounds"),
        ("integer", {"replacement": 5}, "replacement is never used"),
        ("integer", {"nullable": False, "replacement": 5, "out_of_range": "null"}, '"null" needs a nullable column'),
        ("integer", {"out_of_range": "replacement"}, "add the line replacement = 0"),
        ("integer", {"null_strings": ["9"]}, "the null string '9' also reads as a declared value"),
        ("integer", {"null_strings": ["9.0"]}, "the null string '9.0' also reads as a declared value"),
        ("real", {"decimals": None}, "'decimals' is missing; add the line decimals = "),
        ("real", {"decimals": 10}, "decimals: input should be less than or equal to 9"),
        ("real", {"bins": None}, "a real column needs cells; add the line bins = 20"),
        ("real", {"min": "0.001"}, "0.001 has more decimals than decimals = 2"),
        ("real", {"bins": None, "edges": ["1.005"]}, "1.005 has more decimals than decimals = 2"),
        ("real", {"null_strings": ["9.999"]}, "the null string '9.999' also reads as a declared value"),
        ("real", {"max": "9999999999999999999"}, "a bound reaches 2\\^62 units"),
    ],
)  # fmt: skip
def test_broken_numbers_are_refused(kind, change, rule):
    with pytest.raises(SchemaError, match=rule):
        column(kind, **change)


def test_a_date_as_a_bound_of_numbers_gets_a_hint():
    with pytest.raises(SchemaError, match='a date has kind = "date"'):
        column("integer", min=dt.date(2020, 1, 1))


def test_the_largest_grids_are_legal():
    widest = column("integer", min=0, max=MAX_TICKS - 2, bins=4)
    assert widest.ticks == MAX_TICKS - 1
    assert ticks(widest, str(MAX_TICKS - 2)) == [MAX_TICKS - 2]
    assert widest.cell_of_tick([MAX_TICKS - 2]).tolist() == [3]
    most = column("integer", min=1, max=2**24 - 1)
    assert most.cells == 2**24
    assert most.cell_of_tick([2**24 - 2, NULL]).tolist() == [2**24 - 2, 2**24 - 1]


def test_null_codes_outside_the_bounds_are_null_and_not_clipped():
    known = column("integer", min=0, max=90, null_strings=["-9", "999"])
    assert ticks(known, "-9", "999", "-8", "998", "-9.0") == [NULL, NULL, 0, 90, 0]
    assert known.text_of_ticks([NULL]) == ["-9"]
