"""Columns whose domains are not public: what they declare, how they read, and what they become once measured."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.errors import SchemaError
from accounting.schema import NULL, Problem, Schema
from accounting.schema.names import LONGEST_NAME, canonical_name

AGE = {"name": "age", "kind": "integer", "domain": "measured", "min": -50, "max": 1000, "bins": 4, "nullable": True}
TOWN = {"name": "town", "kind": "categorical", "domain": "measured", "other": "elsewhere", "nullable": True}
ORDERED = [
    AGE,
    {**AGE, "kind": "real", "decimals": 2, "min": "-0.5", "max": 10},
    {**AGE, "kind": "date", "format": "%d.%m.%Y", "resolution": "month", "min": "1900-01-01", "max": "2100-12-31"},
    {
        **AGE,
        "kind": "datetime",
        "format": "%Y-%m-%dT%H:%M:%S%z",
        "resolution": "hour",
        "utc_offset": "+01:00",
        "min": "2020-01-01T00:00:00",
        "max": "2020-12-31T23:59:59",
    },
]


def schema_of(*columns: dict, **keys) -> Schema:
    return Schema(table={"name": "t"}, columns=list(columns), **keys)


def column(keys: dict):
    return schema_of(keys).columns[0]


def test_a_schema_names_its_measured_columns_and_survives_its_json_form():
    schema = schema_of(AGE, TOWN, {"name": "sex", "kind": "boolean", "nullable": True})
    assert [each.name for each in schema.measured] == ["age", "town"]
    assert Schema.from_json(schema.to_json()).digest == schema.digest
    assert "domain" not in schema.columns[2].to_json()


def test_categories_have_defaults_where_they_are_measured():
    town = column(TOWN)
    assert (town.categories, town.undeclared, town.unicode, town.most) == (("elsewhere",), "other", "NFC", 1000)
    known = column({**TOWN, "categories": ["Rome", "elsewhere"], "most": 7})
    assert (known.categories, known.most) == (("Rome", "elsewhere"), 7)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({**TOWN, "other": 3}, "needs other"),
        ({key: value for key, value in TOWN.items() if key != "other"}, "needs other"),
        ({**TOWN, "undeclared": "null"}, "needs other"),
        ({**TOWN, "domain": "guessed"}, "'measured'"),
        ({**TOWN, "most": 0}, "most"),
        ({**TOWN, "other": "e\u0301"}, "NFC"),
        ({**TOWN, "null_strings": ["e\u0301"]}, "NFC"),
        ({**TOWN, "nullable": False}, "replacement"),
        ({"name": "c", "kind": "categorical", "categories": ["a"], "nullable": True, "most": 3}, "belongs to domain"),
        ({key: value for key, value in AGE.items() if key != "bins"}, "needs bins"),
        ({**AGE, "bins": 1025}, "needs bins"),
        ({**AGE, "points": [0]}, "no points"),
        ({**AGE, "edges": [0]}, "exclude each other"),
        ({**AGE, "max": 2**60}, "over the limit"),
    ],
)
def test_p20_p23_what_a_measured_column_must_declare(keys, message):
    with pytest.raises(SchemaError, match=message):
        schema_of(keys)


def test_boolean_columns_have_nothing_to_measure():
    with pytest.raises(SchemaError, match="unknown key 'domain'"):
        schema_of({"name": "b", "kind": "boolean", "domain": "measured", "nullable": True})


@pytest.mark.parametrize("name", ["age", "town"])
def test_no_constraint_names_a_measured_column(name):
    condition = {"column": name, "null": True}
    rule = {"name": "r", "kind": "impossible", "when": [condition]}
    with pytest.raises(SchemaError, match="domain is measured"):
        schema_of(AGE, TOWN, constraints=[rule])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Zürich", "Zürich"),
        ("Zu\u0308rich", "Zürich"),
        ("京都", "京都"),
        ("\U0001f469\u200d\U0001f52c", "\U0001f469\u200d\U0001f52c"),
        ("a b", "a b"),
        ("", None),
        ("x" * LONGEST_NAME, "x" * LONGEST_NAME),
        ("x" * (LONGEST_NAME + 1), None),
        ("\ufb2c" * LONGEST_NAME, None),  # its canonical form is three times as long
        ("a\nb", None),
        ("a\x00", None),
        ("\u202eabc", None),
        ("\ufeffabc", None),
        ("\ud800", None),
        ("\ue000", None),
        ("\U000e0fff", None),
        ("a\u2028b", None),
    ],
)
def test_which_texts_are_names(text, name):
    assert canonical_name(text) == name


@given(st.text(st.characters(codec=None)))
def test_p28_every_text_is_read_and_a_name_is_its_own_canonical_form(text):
    name = canonical_name(text)
    assert name is None or (canonical_name(name) == name and name.encode())
    town = column(TOWN)
    assert town.ticks_of_text([text]).tolist() == [NULL if text == "" else 0]
    assert town.names_of_text([text]) == [None if text in {"", "elsewhere"} else name]


def test_nulls_declared_categories_and_unnameable_texts_have_no_name():
    town = column({**TOWN, "strip": True, "null_strings": ["?", "é"]})
    texts = [" ?", "elsewhere ", "e\u0301", "a\x07", " Rome", "Rome"]
    assert town.names_of_text(texts) == [None, None, None, None, "Rome", "Rome"]
    assert town.names_of_values([None, 3, 2.5, True, [1], float("nan")]) == [None, "3", "2.5", "true", None, None]
    assert town.problems_of_text(texts) == {Problem.UNDECLARED: 2}


def test_found_names_come_after_the_declared_categories_and_are_read_in_any_form():
    town = column(TOWN).with_found(["Rome", "Zürich", "elsewhere"])
    assert town.categories == ("elsewhere", "Rome", "Zürich")
    assert not town.is_measured
    assert (town.most, town.domain, town.unicode) == (None, None, "NFC")
    assert town.ticks_of_text(["Zu\u0308rich", "Zürich", "Oslo", ""]).tolist() == [2, 2, 0, NULL]
    assert column(TOWN).with_found([]).categories == ("elsewhere",)


@pytest.mark.parametrize("keys", ORDERED, ids=lambda keys: keys["kind"])
def test_a_narrowed_column_is_an_ordinary_one_of_the_same_scale(keys):
    wide = column({**keys, "nullable": False, "replacement": keys["max"]} if keys["kind"] == "integer" else keys)
    narrow = wide.narrowed(100, 140, [110, 111])
    assert not narrow.is_measured
    assert (narrow.ticks, narrow.cells - narrow.nullable, narrow.bins) == (41, 3, None)
    assert type(narrow)(**narrow.to_json()).to_json() == narrow.to_json()
    assert narrow.text_of_ticks([0, 40]) == wide.text_of_ticks([100, 140])
    ticks = np.array([0, 99, 100, 120, 140, 141, wide.ticks - 1])
    assert narrow.ticks_from(wide, ticks).tolist() == [0, 0, 0, 20, 40, 40, 40]
    assert narrow.ticks_from(wide, ticks).tolist() == narrow.ticks_of_text(wide.text_of_ticks(ticks)).tolist()
    if wide.nullable:
        assert narrow.ticks_from(wide, np.array([NULL, 120])).tolist() == [NULL, 20]


@pytest.mark.parametrize(
    ("policy", "expected"), [("clip", [0, 0, 5, 5]), ("null", [NULL, 0, 5, NULL]), ("replacement", [2, 0, 5, 2])]
)
def test_what_lies_outside_the_measured_bounds_goes_by_the_policy(policy, expected):
    wide = column({**AGE, "out_of_range": policy} | ({"replacement": -38} if policy == "replacement" else {}))
    assert wide.narrowed(10, 15, []).ticks_from(wide, np.array([9, 10, 15, 16])).tolist() == expected


def test_a_replacement_outside_the_measured_bounds_moves_to_the_nearer_one():
    wide = column({**AGE, "nullable": False, "replacement": 900})
    assert wide.narrowed(50, 60, []).replacement == 10
    assert wide.narrowed(0, 1050, []).replacement == 900


def test_a_moment_with_a_zone_is_declared_in_local_time():
    narrow = column(ORDERED[3]).narrowed(24, 48, [30])
    assert narrow.min == datetime(2020, 1, 2)  # noqa: DTZ001 - a schema's local time
    assert narrow.values_of_ticks([0])[0].astimezone(UTC) == datetime(2020, 1, 2, tzinfo=UTC) - timedelta(hours=1)
