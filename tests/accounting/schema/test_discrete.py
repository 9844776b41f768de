"""Categorical, boolean and identifier columns."""

import pytest

from accounting.errors import SchemaError
from accounting.schema import NULL, Problem
from tests.accounting.schema.building import column, ticks


def test_categories_keep_their_order_and_their_text():
    known = column("categorical", categories=["02116", "2116", "é", "e\u0301", "a,b", '"', "🙂", "x\ny", " "])
    assert ticks(known, *known.categories) == list(range(9))
    assert known.text_of_ticks(range(9)) == list(known.categories)
    assert known.labels() == [*known.categories, "(null)"]


def test_an_undeclared_text_is_null_where_the_column_is_nullable():
    assert ticks(column("categorical"), "a", "A", "", "zzz") == [0, NULL, NULL, NULL]


def test_an_undeclared_text_is_the_replacement_elsewhere():
    known = column("categorical", nullable=False, replacement="b")
    assert ticks(known, "a", "zzz", "") == [0, 1, 1]
    assert known.null_cell is None


def test_an_undeclared_text_is_the_declared_other():
    known = column("categorical", undeclared="other", other="c")
    assert ticks(known, "zzz", "") == [2, NULL]
    both = column("categorical", nullable=False, undeclared="other", other="c", replacement="b")
    assert ticks(both, "zzz", "") == [2, 1]
    mixed = column("categorical", undeclared="replacement", replacement="b")
    assert ticks(mixed, "zzz", "") == [1, NULL]


def test_blanks_count_unless_stripped():
    assert ticks(column("categorical"), " a", "a ") == [NULL, NULL]
    assert ticks(column("categorical", strip=True), " a", "\ta \t", "  ") == [0, 0, NULL]
    assert column("categorical", strip=True).problems_of_text(["a\u00a0"]) == {Problem.UNDECLARED: 1}


def test_null_strings_are_found_after_stripping():
    known = column("categorical", strip=True, null_strings=["", "NA"], undeclared="other", other="c")
    assert ticks(known, "  ", " NA\t", "N A") == [NULL, NULL, 2]
    assert ticks(column("integer", strip=True, null_strings=["-9"]), " -9", " -8") == [NULL, 0]


def test_the_empty_text_can_be_a_category_where_it_is_no_null_string():
    known = column("categorical", categories=["", "a"], null_strings=["NA"])
    assert ticks(known, "", "a", "NA") == [0, 1, NULL]
    assert known.text_of_ticks([0, NULL]) == ["", "NA"]
    never = column("categorical", categories=["", "a"], null_strings=[], nullable=False, replacement="a")
    assert ticks(never, "", "zzz") == [0, 1]


def test_the_first_null_string_is_written():
    known = column("categorical", null_strings=["N", "", "NA"])
    assert ticks(known, "N", "", "NA") == [NULL] * 3
    assert known.text_of_ticks([NULL, 0]) == ["N", "a"]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"categories": None}, "'categories' is missing; add the line categories = "),
        ({"categories": []}, "at least one category"),
        ({"categories": "abc"}, "categories must be a list in brackets"),
        ({"categories": ["a", 1]}, 'categories, item 2 must be a text in quotes: write "1", not 1'),
        ({"categories": ["1", 1]}, "categories, item 2 must be a text in quotes"),
        ({"categories": ["a", True]}, "categories, item 2 must be a text in quotes"),
        ({"categories": ["a", "b", "a"]}, "the category 'a' is declared twice"),
        ({"categories": ["a", ""]}, "'' is both a category and a null string"),
        ({"categories": ["a", "NA"], "null_strings": ["NA"]}, "'NA' is both a category and a null string"),
        ({"categories": [" a"], "strip": True}, "the category ' a' has blanks around it"),
        ({"nullable": False}, 'add the line replacement = "a"'),
        ({"nullable": False, "replacement": "z"}, "replacement = 'z' is not among the categories"),
        ({"replacement": "a"}, "replacement is never used"),
        ({"nullable": False, "replacement": "a", "undeclared": "null"}, 'undeclared = "null" needs a nullable column'),
        ({"undeclared": "replacement"}, 'a policy says "replacement"; add the line replacement = "a"'),
        ({"undeclared": "other"}, "belong together"),
        ({"other": "a"}, "belong together"),
        ({"undeclared": "other", "other": "aa"}, "other = 'aa' is not among the categories; known here|did you mean"),
        ({"undeclared": "drop"}, "undeclared must be 'null', 'other' or 'replacement'"),
    ],
)
def test_broken_categoricals_are_refused(change, rule):
    with pytest.raises(SchemaError, match=rule):
        column("categorical", **change)


def test_booleans_read_their_declared_texts_and_write_the_first():
    known = column("boolean", true_values=["TRUE", "T", "1"], false_values=["FALSE", "0"])
    assert ticks(known, "TRUE", "T", "1", "FALSE", "0", "true", "", "yes") == [1, 1, 1, 0, 0, NULL, NULL, NULL]
    assert known.text_of_ticks([0, 1, NULL]) == ["FALSE", "TRUE", ""]
    assert known.values_of_ticks([0, 1, NULL]) == [False, True, None]
    assert (known.ticks, known.cells, known.null_cell) == (2, 3, 2)
    assert known.labels() == ["FALSE", "TRUE", "(null)"]


def test_booleans_without_null_become_the_replacement():
    assert ticks(column("boolean", nullable=False, replacement=True), "x", "", "false") == [1, 1, 0]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"true_values": []}, "need at least one text each"),
        ({"false_values": []}, "need at least one text each"),
        ({"true_values": ["1"], "false_values": ["1"]}, "the text '1' is declared twice"),
        ({"true_values": ["1 "], "strip": True}, "the text '1 ' has blanks around it"),
        ({"null_strings": ["true"]}, "the null string 'true' also reads as a declared value"),
        ({"nullable": False}, "add the line replacement = false"),
        ({"nullable": False, "replacement": "false"}, "replacement must be true or false, without quotes"),
        ({"replacement": False}, "replacement is never used"),
    ],
)
def test_broken_booleans_are_refused(change, rule):
    with pytest.raises(SchemaError, match=rule):
        column("boolean", **change)


def test_problems_are_counted_by_rule_for_the_curator():
    known = column("categorical", nullable=False, replacement="a", null_strings=["", "NA"])
    assert known.problems_of_text(["a", "b", "zzz", "zzz", "", "NA"]) == {Problem.NULL: 2, Problem.UNDECLARED: 2}
    assert column("categorical").problems_of_text(["a", "", "zzz"]) == {Problem.UNDECLARED: 1}
    assert column("boolean").problems_of_text(["true", "x"]) == {Problem.UNREADABLE: 1}
    assert column("boolean").problems_of_text([]) == {}
