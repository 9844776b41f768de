"""Constraints: what each kind says of rows, what a schema refuses, and that declarations survive a round trip."""

import json

import numpy as np
import pytest

from accounting.canonical import canonical_bytes
from accounting.errors import SchemaError
from accounting.schema import Schema

COLUMNS = """
[table]
name = "people"
[[columns]]
name = "age"
kind = "integer"
nullable = true
min = 0
max = 99
edges = [15, 65]
[[columns]]
name = "status"
kind = "categorical"
nullable = true
null_strings = ["N"]
categories = ["single", "married", "widowed"]
[[columns]]
name = "town"
kind = "categorical"
nullable = true
categories = ["a", "b", "c"]
[[columns]]
name = "county"
kind = "categorical"
nullable = true
categories = ["1", "2"]
[[columns]]
name = "member"
kind = "boolean"
nullable = false
replacement = false
true_values = ["yes"]
false_values = ["no"]
[[columns]]
name = "birth"
kind = "date"
nullable = true
min = 1600-01-01
max = 1700-12-31
format = "%d.%m.%Y"
resolution = "day"
[[columns]]
name = "admission"
kind = "date"
nullable = true
min = 1650-06-01
max = 1750-12-31
format = "%Y-%m-%d"
resolution = "day"
"""


def schema(*constraints: str) -> Schema:
    return Schema.from_text(COLUMNS + "".join(f"[[constraints]]\n{text}\n" for text in constraints))


def broken(constraint: str, **columns: list[str]) -> list[bool]:
    declared = schema('name = "it"\n' + constraint)
    rows = max(map(len, columns.values()))
    texts = {column.name: [column.null_strings[0]] * rows for column in declared.columns} | columns
    ticks = {column.name: column.ticks_of_text(texts[column.name]) for column in declared.columns}
    again = Schema.from_json(json.loads(canonical_bytes(declared.to_json())))
    assert again.digest == declared.digest != schema().digest
    assert np.array_equal(again.broken(ticks)["it"], declared.broken(ticks)["it"])
    return declared.broken(ticks)["it"].tolist()


def test_an_impossible_combination_is_broken_only_where_all_conditions_hold():
    rule = 'kind = "impossible"\nwhen = [{column = "age", max = 14}, {column = "status", null = false}]'
    ages, states = ["14", "15", "14", "", "0"], ["married", "married", "N", "single", "widowed"]
    assert broken(rule, age=ages, status=states) == [True, False, False, False, True]


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ('any_of = ["single", "widowed"]', ["single", "widowed"]),
        ('any_of = ["single", "N"]', ["single", "N"]),
        ('any_of = ["single"], null = true', ["single", "N"]),
        ('none_of = ["single"]', ["married", "widowed"]),
        ('none_of = ["single"], null = true', ["married", "widowed", "N"]),
        ("null = true", ["N"]),
        ("null = false", ["single", "married", "widowed"]),
    ],
)
def test_a_condition_speaks_of_the_values_it_names(condition, met):
    rule = f'kind = "impossible"\nwhen = [{{column = "status", {condition}}}]'
    states = ["single", "married", "widowed", "N"]
    assert broken(rule, status=states) == [state in met for state in states]


def test_a_condition_reads_ranges_and_booleans():
    rule = 'kind = "impossible"\nwhen = [{column = "age", min = 15, max = 64}, {column = "member", any_of = [true]}]'
    assert broken(rule, age=["15", "64", "65", "20", ""], member=["yes", "yes", "yes", "no", "yes"]) == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_only_listed_combinations_are_possible():
    rule = 'kind = "possible"\ncolumns = ["town", "county"]\nrows = [["a", "1"], ["b", "2"], ["", ""]]'
    towns, counties = ["a", "a", "b", "c", "", "a"], ["1", "2", "2", "1", "", ""]
    assert broken(rule, town=towns, county=counties) == [False, True, False, True, False, True]


def test_a_fine_value_determines_a_coarse_one_and_null_goes_with_null():
    rule = 'kind = "determines"\nfine = "town"\ncoarse = "county"\nmap = {a = "1", b = "1", c = "2"}'
    towns, counties = ["a", "b", "c", "c", "", ""], ["1", "2", "2", "1", "", "1"]
    assert broken(rule, town=towns, county=counties) == [False, True, False, True, False, True]


@pytest.mark.parametrize(("strict", "equal"), [("", False), ("strict = true", True)])
def test_an_order_compares_values_of_different_bounds_and_formats(strict, equal):
    rule = f'kind = "order"\nlow = "birth"\nhigh = "admission"\n{strict}'
    births = ["01.06.1650", "02.06.1650", "31.12.1700", "", "01.01.1700"]
    admissions = ["1650-06-01", "1650-06-01", "1701-01-01", "1650-06-01", ""]
    assert broken(rule, birth=births, admission=admissions) == [equal, True, False, False, False]


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ('kind = "imposible"', "did you mean 'impossible'"),
        ('name = "x"\nkind = "impossible"\nwhen = []', "when"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "agee", max = 14}]', "did you mean 'age'"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "age", max = 15}]', "inside a cell"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "age", min = 20}]', "inside a cell"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "age", max = 120}]', "no declared value"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "age", any_of = [3]}]', "shares a cell"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "status", max = "single"}]', "has no order"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "status"}]', "needs one of"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "status", any_of = ["divorced"]}]', "no declared value"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "member", null = true}]', "not nullable"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "age", max = 14}, {column = "age", null = true}]', "one"),
        ('name = "x"\nkind = "impossible"\nwhen = [{column = "age", maximum = 14}]', "unknown key 'maximum'"),
        ('name = "x"\nkind = "possible"\ncolumns = ["town", "county"]\nrows = [["a"]]', "2 values"),
        ('name = "x"\nkind = "determines"\nfine = "town"\ncoarse = "county"\nmap = {a = "1"}', "leaves out 2 values"),
        ('name = "x"\nkind = "determines"\nfine = "town"\ncoarse = "member"\nmap = {a = "yes"}', "a null of"),
        ('name = "x"\nkind = "order"\nlow = "age"\nhigh = "birth"', "same kind"),
        ('name = "x"\nkind = "order"\nlow = "age"\nhigh = "age"', "two different columns"),
    ],
)  # fmt: skip
def test_a_constraint_that_says_nothing_clear_is_refused(constraint, message):
    with pytest.raises(SchemaError, match=message):
        schema(constraint)


def test_two_constraints_of_one_name_are_refused():
    rule = 'name = "x"\nkind = "order"\nlow = "birth"\nhigh = "admission"'
    with pytest.raises(SchemaError, match="two constraints"):
        schema(rule, rule)


def test_a_schema_without_constraints_keeps_its_old_form():
    assert "constraints" not in schema().to_json()
